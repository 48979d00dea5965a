"""Jobs on AWS Batch."""
