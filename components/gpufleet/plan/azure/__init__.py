"""Raw resources of Azure in a plan."""
