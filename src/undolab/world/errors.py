"""The answer "no" of a tool, as an exception, so that one place turns it into an outcome and rolls back."""


class ToolError(Exception):
    """A service refuses a call: nothing of the running sub-write stays.

    Args:
        code: one of the codes of `docs/reference/tools.md`, such as `not_found`.
        message: what the service says, word for word.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
