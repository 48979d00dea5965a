"""Who held how many GPUs for how long, and what that is worth: from the pods of a cluster, and a ledger of them."""
