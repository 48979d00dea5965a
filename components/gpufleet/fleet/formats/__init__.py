"""The forms of output of `gpufleet ps`."""
