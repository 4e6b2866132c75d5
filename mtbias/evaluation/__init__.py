"""The order of the stages, known here alone: from a request to a run."""
