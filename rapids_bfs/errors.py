"""The one exception for input that cannot be used."""


class InputError(ValueError):
    """Input that cannot be used. The message names what is wrong, where, and what to do about it."""
