"""An answer streamed by a Django view, in R2R's wire format; a whole project in one file.

    pip install django mistral-knowledge
    python examples/django_app.py runserver --noreload
    curl -N http://127.0.0.1:8000/answer -d question="What is a transport?"

The view has no login: put yours in front of it, for each question costs tokens. And leave Django's
CSRF check on in a project of your own.
"""

import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from django.http import StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from knowledge import client, library

from mistral_knowledge.relay import sse

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], USE_TZ=True)


@csrf_exempt
@require_POST
def answer(request):
    stream = client.rag.stream(request.POST["question"], libraries=library)
    return StreamingHttpResponse(sse(stream), content_type="text/event-stream")


urlpatterns = [path("answer", answer)]
application = get_wsgi_application()

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
