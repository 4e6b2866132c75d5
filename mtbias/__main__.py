"""``python -m mtbias``."""

import sys

from mtbias.cli import main

sys.exit(main())
