"""A simulated Pulumi provider: the protocol of the engine on one side, the simulated cloud on the other."""
