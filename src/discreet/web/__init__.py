"""The workbench: pages in the browser over the same views as the command line (`discreet serve`, extra `discreet[web]`).

The server keeps files and shows pages; whatever is computed, even reading a problem, happens in worker processes that are bounded
in number, time and memory. `keeping` knows the files, `desk` the workers, `questions/` what can be asked, `guard` who may ask.
"""
