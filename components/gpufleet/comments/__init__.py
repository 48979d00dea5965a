"""A report as one sticky comment for each stack, on a pull request of GitHub or a merge request of GitLab."""
