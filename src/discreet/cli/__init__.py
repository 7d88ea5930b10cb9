"""The command line: a thin shell over the packages' public functions.

`main` runs it; `commands/` holds one file per command; `output` prints either one JSON object or a picture
for a person; `failures` turns errors into plain words and exit codes.
"""
