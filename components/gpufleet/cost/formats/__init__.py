"""The forms of output of `gpufleet cost`."""
