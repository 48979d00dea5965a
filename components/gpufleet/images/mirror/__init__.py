"""Images of other registries copied into the team's own: pinned, customized, checked, and only what changed.

`sync.py` goes through the list; the other files hold one step each. docs/images.md says what a user writes.
"""
