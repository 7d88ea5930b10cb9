"""Views: typed results as mappings and words that every shell shows: the command line, the page in the browser, a notebook.

Heavy imports wait until a result is viewed.
"""
