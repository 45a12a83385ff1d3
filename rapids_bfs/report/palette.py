"""Colours that the colour-blind can tell apart and that differ in grey.

M. Okabe, K. Ito, Color universal design, 2008. Wherever a colour says something, so does a hatch, a marker or a word.
"""

BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILLION = "#D55E00"
GREY = "#8C8C8C"

LINES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", VERMILLION, "#000000", GREY)
DIRECTIONS = {"top-down": BLUE, "bottom-up": ORANGE, None: GREY}
