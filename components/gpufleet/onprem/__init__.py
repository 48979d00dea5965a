"""The nodes of an environment's cluster: which there are, and how own servers become some."""
