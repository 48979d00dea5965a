"""An answer of a played service of AWS that is an error."""


class AwsRejection(Exception):
    """status: of HTTP. code, words: as the service says them."""

    def __init__(self, code: str, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.status, self.code, self.words = status, code, words
