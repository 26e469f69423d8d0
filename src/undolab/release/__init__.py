"""What is released, and how anyone can tell that it is still the same."""
