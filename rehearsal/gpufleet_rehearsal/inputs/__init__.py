"""What the SDK's and the services' own models say of one resource's inputs."""
