"""From a problem to arrays and back: states, costs and truncation, then exact kernels and witnesses."""
