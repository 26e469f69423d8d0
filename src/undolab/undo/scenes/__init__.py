"""Short stories of one agent and its peers, played on the real store and on the compared policies."""
