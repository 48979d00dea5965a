"""Components for Azure."""
