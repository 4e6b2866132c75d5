"""The measures of other benchmarks, as their authors define them."""
