"""The resources of Azure in a plan, judged."""
