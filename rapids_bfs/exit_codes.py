"""How the command ends."""

FINE, WRONG, BAD_INPUT, OUR_FAULT, INTERRUPTED = 0, 1, 2, 70, 130
