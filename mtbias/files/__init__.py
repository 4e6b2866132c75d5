"""Files: strict reading of text and tables, writing that is whole or not at all."""
