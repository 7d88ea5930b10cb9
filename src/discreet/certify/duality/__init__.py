"""What checking multipliers is made of, shared by the bounds."""
