"""The nodes of an environment's cluster, and the script by which an on-prem server joins it."""
