"""What a live Azure subscription is asked."""
