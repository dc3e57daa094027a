"""What Jupyter shows: answers while they come, and tables of what a client returns.

Models and answers show themselves at the end of a cell. `table(items)` shows a list of them, and
`stream.show()` or `client.rag.show(...)` an answer as it comes. With
`pip install "mistral-knowledge[notebook]"` answers are rendered as Markdown and
`progress=True` shows bars; without it there are no bars, and the text stays as it is.
"""

from __future__ import annotations

from ._showing import show
from ._tables import Table, table

__all__ = ["Table", "show", "table"]
