"""The resources of AWS in a plan, judged."""
