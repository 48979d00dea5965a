"""Jobs: what runs on a fleet. Manifests here are plain data; nothing in this package imports pulumi."""
