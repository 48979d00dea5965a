# The end of a container that cannot start its command; a part of what start.py sends.
from __future__ import annotations


# A line for the user.
class StartError(Exception):
    pass
