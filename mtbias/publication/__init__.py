"""The results page: from finished runs to files of numbers, from those to one static page with ranks and ties."""
