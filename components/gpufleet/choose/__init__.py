"""Which GPUs to rent for a run: options over clouds and own servers, and how much slower several nodes make it.

Pure functions over the catalog. `options.options_for` ranks, `node_shapes.compare_node_counts` compares one node with
several, `scaling` models several nodes, `model_fit` scores it against measurements (measured.json), and `config`
turns an option into the configuration of a stack.
"""
