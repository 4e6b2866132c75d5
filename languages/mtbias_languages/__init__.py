"""The ten languages that mtbias ships, each a plugin like anybody else's."""
