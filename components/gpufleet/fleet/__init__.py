"""All environments of a team: owner, expiry, possible cost, and GPU use.

Read from the states of a Pulumi backend, and from clusters where they can be reached; nothing here changes any. Secrets
stay encrypted in what is read, and unknown in the output.
"""
