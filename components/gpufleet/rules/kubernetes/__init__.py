"""Rules on what runs on Kubernetes, of any cloud."""
