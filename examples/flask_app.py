"""An answer streamed by a Flask view, in R2R's wire format.

    pip install flask mistral-knowledge
    flask --app examples/flask_app.py run
    curl -N http://127.0.0.1:5000/answer -d question="What is a transport?"

The view has no login: put yours in front of it, for each question costs tokens.
"""

from flask import Flask, Response, request
from knowledge import client, library

from mistral_knowledge.relay import sse

app = Flask(__name__)


@app.post("/answer")
def answer():
    stream = client.rag.stream(request.form["question"], libraries=library)
    return Response(sse(stream), mimetype="text/event-stream")
