"""All environments of a team: whose they are, until when, what they may cost, and whether they still compute.

Read from the states of a Pulumi backend, and from clusters where they can be reached; nothing here changes any. Secrets
stay encrypted in what is read, and unknown in what is said.
"""
