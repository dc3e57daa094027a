"""One module for each row: `run(effort)` returns its lines."""

NAMES = ("imports", "events", "conversation", "length", "upload", "many", "page", "lag")
