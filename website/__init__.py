"""The documentation as a site: `python -m website` makes it from `docs/`. See docs/architecture.md for why it is made so."""
