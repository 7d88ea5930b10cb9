"""Does a kernel keep its promise along every edge? One file for each kind of promise; ε and (ε, δ) in integers only."""
