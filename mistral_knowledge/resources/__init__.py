"""The rooms: each method is a path, its arguments and a model. No retry, no JSON, no header."""
