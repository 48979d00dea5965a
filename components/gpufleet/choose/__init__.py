"""Which GPUs to rent for a run: options over clouds and own servers, and how much slower several nodes make it.

Pure functions over the catalog. `options.options_for` ranks, `compare.one_or_several` sets one node against several,
`scaling` holds the model of several nodes, `fit` scores it against what was measured (measured.json), and `config`
turns an option into the configuration of a stack.
"""
