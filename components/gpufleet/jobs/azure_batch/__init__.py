"""Jobs on Azure Batch."""
