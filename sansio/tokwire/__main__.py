"""`python -m tokwire` is the `tokwire` command."""

import sys

from tokwire_cli import main

if __name__ == "__main__":
    sys.exit(main())
