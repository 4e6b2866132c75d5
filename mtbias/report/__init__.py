"""What people look at: the table of a run."""
