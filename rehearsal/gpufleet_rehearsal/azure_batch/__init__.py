"""The data plane of Azure Batch as a rehearsal and the tests play it: jobs, tasks, nodes and autoscale formulas."""
