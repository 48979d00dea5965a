"""What a live AWS account is asked."""
