"""Pieces of work side by side, in processes of their own."""
