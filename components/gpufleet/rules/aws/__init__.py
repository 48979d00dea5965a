"""Rules that hold on AWS only."""
