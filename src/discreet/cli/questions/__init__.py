"""The questions behind `discreet design`, one file each. What cannot be asked is refused when a question is made."""
