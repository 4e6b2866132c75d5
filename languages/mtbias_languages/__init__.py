"""The nine languages that mtbias ships, each a plugin like anybody else's."""
