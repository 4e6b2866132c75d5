"""The eight languages that mtbias ships, each a plugin like anybody else's."""
