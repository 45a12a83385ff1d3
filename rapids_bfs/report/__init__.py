"""How a comparison is shown: tables for a terminal, files for a program."""
