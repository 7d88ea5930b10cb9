"""The rooms of the workbench: one file for each group of pages, each with `routes(bench)`."""
