"""Displays of a comparison: tables for a terminal, plots, the HTML page.

`charts` draws for the page what `plots` draws by Matplotlib: a page needs no Matplotlib, takes any width, follows light
and dark and is read aloud, while a figure is an object that users change and save for print.
"""
