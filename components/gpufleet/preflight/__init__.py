"""What an account says of a plan before it is brought up: offers by zone, quotas, reservations, placement groups.

Rules judge; modules here only ask. `aws_account` and `azure_account` are the only ones that reach a cloud, and import
its SDK when they do. What cannot be asked (no credentials, no permission, no answer) is never taken for a pass: the
rule gives *unverified*, and a warning says why.
"""
