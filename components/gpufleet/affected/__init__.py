"""A change of a Pulumi project in git: the environments it affects, and the state before it."""
