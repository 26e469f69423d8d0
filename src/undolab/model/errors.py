"""The one exception of the package whose text is meant for a person."""


class UndolabError(Exception):
    """Something a person must mend.

    The message is one sentence: what was found, where (file, JSON pointer or trial), and what to do.
    The command line prints it and ends with exit code 2.
    """
