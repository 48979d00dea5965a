"""The error whose text is meant for users: one line for each fault, shown without a traceback."""


class UserError(Exception):
    """A fault that the user can fix; the text says what is wrong, where, and how to fix it."""
