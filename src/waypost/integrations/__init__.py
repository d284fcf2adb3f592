"""The edge: one file per framework, which translates in, calls the Enricher, and translates out."""
