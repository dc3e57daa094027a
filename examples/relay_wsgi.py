"""The relay under a WSGI server that serves many; here gunicorn, with threads or with gevent.

    pip install gunicorn "mistral-knowledge[relay]"
    gunicorn --chdir examples --threads 16 relay_wsgi:app
    gunicorn --chdir examples --worker-class gevent relay_wsgi:app

Behind a proxy, or on an address that others can reach, it needs the token.
"""

import os

from knowledge import client, library

from mistral_knowledge.relay import relay_app

app = relay_app(client, libraries=library, token=os.environ.get("MISTRAL_RELAY_TOKEN"))
