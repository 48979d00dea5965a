"""The forms of a preview report, one module per format."""
