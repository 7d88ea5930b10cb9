"""Learn a prior from the data itself, privately: what is asked of the cells, and the rule from the answers to a prior.

`questions` says which numbers a learning release holds and how cells are asked, `mechanisms` with what noise they are drawn,
`laws` how likely an answer is, `fit` what follows from all of them, `split` how much of the budget this is worth.
"""
