"""Ways to undo an effect, for comparison only: the production path imports nothing from here."""
