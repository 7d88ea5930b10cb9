"""`python -m discreet`: the command line without its shell script."""

from discreet.cli.main import main

main()
