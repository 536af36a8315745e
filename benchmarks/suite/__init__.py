"""Well-known problems with well-known solutions, typed as a new user would, and how far epinn's defaults get on them."""
