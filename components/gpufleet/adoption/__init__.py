"""Cloud resources missing in the state, for example after a crash: list, import or delete them.

Every taggable resource carries its logical name (tag `Name`) and its environment (tag `environment`), so an inventory
by tags finds it. A preview says which resources the program would make; one that is there already under that type and
name is imported instead. Things that take no tags (routes, mount targets) are known by what they connect.

Azure makes names of logical names and a random end, and its ids say what a thing lies in: there a thing is known by its
place (`match.py`). Whose a resource is say its ownership tags (`gpufleet.ownership`): only the stack's own is touched.
"""
