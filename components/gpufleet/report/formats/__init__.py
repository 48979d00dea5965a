"""The formats of a preview report, one module each."""
