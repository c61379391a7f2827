"""Errors that a person can correct: one message, no traceback."""


class Fault(Exception):
    """An error that a person can correct. `status` is the program's exit status: 1 something failed,
    2 wrong command line, 3 something is not installed."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status
