"""Images for jobs: built from a Dockerfile without a Docker daemon, pushed, and recorded by digest for the team's jobs.

docs/decisions/0010-images-are-built-by-buildah.md says why this way.
"""
