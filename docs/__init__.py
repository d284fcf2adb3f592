"""The documentation's machinery: generated pages, the picture of the README, Sphinx's settings."""
