"""The error whose text is meant for users: one line for each fault, shown without a traceback."""


class UserError(Exception):
    """A fault that the user can fix; the text says what is wrong, where, and how to fix it.

    As text it holds nothing that a terminal obeys, whatever a name or a value in it holds.
    """

    def __str__(self) -> str:
        text = super().__str__()
        return "".join(each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text)
