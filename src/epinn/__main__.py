"""`python -m epinn` is the command `epinn`."""

from .app.commands import main

if __name__ == "__main__":
    main()
