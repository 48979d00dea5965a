"""Blobs of the simulated cloud's storage accounts, as a rehearsal plays them."""
