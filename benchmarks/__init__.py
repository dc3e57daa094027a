"""How fast `mistral_knowledge` is, beside the official SDK and a floor: `python -m benchmarks`."""
