"""A change of a Pulumi project as git has it: which environments it touches, and what was there before it."""
