"""Raw resources of AWS in a plan."""
