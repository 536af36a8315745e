"""`python -m epinn` is the command `epinn`."""

from .app.commands import main

main()
