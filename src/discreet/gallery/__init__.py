"""The papers' figures and examples, and the bundled data that the demonstration publishes."""
