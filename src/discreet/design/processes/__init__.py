"""Work side by side on the cores, and designs kept on disk."""
