"""Users of a team and their uids, which are the same on every machine that mounts the shared files."""
