"""One file per command, named as it is typed (`_` for `-`); see `discreet.cli.main`."""
