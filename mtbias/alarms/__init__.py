"""Whether a run's numbers can be believed: what its translations look like, and how many of its calls are wrong."""
