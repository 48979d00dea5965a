"""What an account says of a plan before it is brought up: offers by zone, quotas, reservations, placement groups.

Rules decide; modules here only query. `aws.account` and `azure.account` alone reach a cloud, and import
its SDK when they do. What cannot be asked (no credentials, no permission, no answer) is never taken for a pass: the
rule gives *unverified*, and a warning says why.
"""
