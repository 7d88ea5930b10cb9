"""What no private mechanism can exceed: one file per kind of witness."""
