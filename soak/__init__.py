"""Minutes of work under faults, and large things: `make soak` (see CONTRIBUTING.md)."""
