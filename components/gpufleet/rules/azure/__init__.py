"""Rules that hold on Azure only."""
