"""Who works in a team, and under which uid: the same on every machine that mounts the shared files."""
