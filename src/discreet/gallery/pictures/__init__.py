"""One script for each picture; see `discreet.gallery.picture` for what a script is."""
