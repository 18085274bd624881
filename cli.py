"""Start evalkit from a checkout: `python cli.py ...` is `evalkit ...`."""

from evalkit.cli.app import main

if __name__ == "__main__":
    main()
