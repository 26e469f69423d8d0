"""Running pairs: one arm, one trial, and the matrix of trials."""
