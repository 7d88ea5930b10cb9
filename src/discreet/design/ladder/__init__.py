"""The ladder to any number of types and respondents: mechanisms and lower bounds on plain arrays."""
