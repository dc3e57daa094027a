"""Uploads and questions as Celery tasks, with time limits that hold in the middle of a call.

    celery -A celery_app worker --loglevel INFO

    from celery_app import ask, upload
    upload.delay(library_id, "/shared/paper.pdf")
    ask.delay("What was measured?", library_id).get()

BROKER_URL and RESULT_BACKEND say where the queue is; MISTRAL_API_KEY is read by the workers.
"""

from __future__ import annotations

import functools
import os
from typing import Any, Dict

from celery import Celery
from celery.exceptions import SoftTimeLimitExceeded

from mistral_knowledge import KnowledgeClient, RateLimitError, TransportError

app = Celery(
    "celery_app",
    broker=os.environ.get("BROKER_URL", "amqp://"),
    backend=os.environ.get("RESULT_BACKEND", "rpc://"),
)
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1)
if "QUEUE_FOLDER" in os.environ:  # BROKER_URL=filesystem://, a queue without a broker
    folder = os.environ["QUEUE_FOLDER"]
    app.conf.broker_transport_options = {
        "data_folder_in": folder,
        "data_folder_out": folder,
        "control_folder": os.path.join(folder, "control"),
    }

# Seconds that a task may take; a call may set others: ask.apply_async(..., soft_time_limit=30).
UPLOAD_LIMIT, ASK_LIMIT = 600, 120


@functools.lru_cache(maxsize=1)
def client() -> KnowledgeClient:
    """One client for each worker process, made when it is first needed, and so after the fork."""
    return KnowledgeClient()


# Uploading the same content again gives the document that is there, so that a task may run twice.
@app.task(
    bind=True,
    soft_time_limit=UPLOAD_LIMIT,
    autoretry_for=(RateLimitError, TransportError),
    retry_backoff=True,
    max_retries=5,
)
def upload(self: Any, library_id: str, path: str) -> Dict[str, Any]:
    """Upload a file; gives the id of its document, and whether it is new."""
    document = client().documents.upload(library_id, path)
    return {"document_id": document.id, "created": document.created}


# Never asked twice by itself: each answer is paid for.
@app.task(soft_time_limit=ASK_LIMIT)
def ask(question: str, library_id: str) -> Dict[str, Any]:
    """Ask a question of a library; gives the text and its sources, or what came in time."""
    with client().rag.stream(question, libraries=library_id) as stream:
        try:
            answer = stream.get_answer()
        except SoftTimeLimitExceeded:
            # It comes out of the middle of a read; leaving the block closes the connection.
            return {"text": stream.partial.text, "complete": False, "sources": []}
    sources = [source.label for source in answer.sources]
    return {"text": answer.text, "complete": True, "sources": sources}
