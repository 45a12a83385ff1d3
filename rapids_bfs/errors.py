"""What can go wrong: input that cannot be used, and an engine that errs."""


class InputError(ValueError):
    """Input that cannot be used. The message names what is wrong, where, and what to do about it."""


class NoPathError(InputError):
    """No path leads from one vertex to the other."""


class TraversalError(RuntimeError):
    """A search that went wrong: a fault of the engine, not of the input. The message names the level and the vertex."""


class DeviceError(TraversalError):
    """The device or its driver failed, so that there is no answer."""
