"""`python -m evalkit ...` is `evalkit ...`."""

from evalkit.cli.app import main

if __name__ == "__main__":
    main()
