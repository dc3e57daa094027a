"""What `python -m mistral_knowledge` can do, one module a command.

Each has `add_parser(subparsers)` and `run(arguments) -> exit code`. Only here is anything printed.
"""
