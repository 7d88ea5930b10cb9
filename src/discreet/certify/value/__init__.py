"""What a mechanism is worth, from both sides."""
