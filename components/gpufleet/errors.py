"""The error whose text is meant for a person: one line (or one for each fault), shown without a traceback."""


class UserError(Exception):
    """Something the user can mend; the text says what, where and how."""
