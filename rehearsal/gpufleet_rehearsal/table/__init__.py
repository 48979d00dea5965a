"""The data table of a simulated cloud: its rows, the language they are written in, and their loader."""
