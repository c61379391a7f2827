"""What goes wrong in a way that a person can mend: one message, no traceback."""


class Fault(Exception):
    """`status` is that of the program: 1 something failed, 2 wrong command line, 3 something is not installed."""

    def __init__(self, text: str, status: int = 1):
        super().__init__(text)
        self.status = status
