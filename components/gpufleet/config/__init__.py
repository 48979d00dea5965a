"""The configuration of an environment: what declares it, what reads it, and what its parts take from it."""
