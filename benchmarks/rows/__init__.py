"""One module for each row: `run(effort)` returns its lines."""

NAMES = ("imports", "events", "length", "upload", "page", "lag")
