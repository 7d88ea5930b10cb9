"""Designs made together in one process, carried to others, and kept on disk."""
