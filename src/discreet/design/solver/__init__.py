"""The numerical heart of the design problem: linear programs on graphs, solved to a proven gap."""
