"""Programs that the tests run in a process of their own; each prints "fine" at its end."""

import textwrap

START = """
import os, sys, threading
from mistral_knowledge.transports import Request
from mistral_knowledge.transports.requests import RequestsTransport
url = sys.argv[1]
transport = RequestsTransport()
def get(path):
    return transport.send(Request("GET", url + path))
def text(path):
    return b"".join(get(path)).decode()
"""


def program(text):
    return START + textwrap.dedent(text)


LIGHT = program("""
    heavy = {"requests", "urllib3", "ssl", "http.client", "asyncio"}
    assert not heavy & set(sys.modules), heavy & set(sys.modules)
    import mistral_knowledge.testing
    assert not {"requests", "urllib3", "ssl", "pytest"} & set(sys.modules)
    print("fine")
""")

FORK = program("""
    assert text("/warm") == "/warm"
    children = []
    for child in range(4):
        pid = os.fork()
        if not pid:
            for turn in range(10):
                path = f"/child-{child}-{turn}"
                assert text(path) == path
            transport.close()
            os._exit(0)
        children.append(pid)
    for turn in range(10):
        path = f"/parent-{turn}"
        assert text(path) == path
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    assert text("/after") == "/after"
    transport.close()
    print("fine")
""")

FORK_IN_STREAM = program("""
    from mistral_knowledge.abort import AbortSignal
    from mistral_knowledge.errors import InvalidArgumentError
    signal = AbortSignal()
    reply = transport.send(Request("GET", url + "/gate", signal=signal))
    pieces = iter(reply)
    assert next(pieces) == b"one"
    pid = os.fork()
    if not pid:
        try:
            next(pieces)
        except InvalidArgumentError:
            signal.abort("in the child")
            reply.close()
            del reply, pieces
            transport.close()
            assert text("/child") == "/child"
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert text("/open") == "/open"
    assert b"".join(pieces) == b"two"
    transport.close()
    print("fine")
""")

FORK_WITH_SESSION = program("""
    import requests
    from mistral_knowledge.errors import ConfigurationError
    session = requests.Session()
    transport = RequestsTransport(session)
    assert text("/warm") == "/warm"
    pid = os.fork()
    if not pid:
        try:
            text("/child")
        except ConfigurationError as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    session.close()
    print("fine")
""")

INTERRUPTS = program("""
    import random, signal
    sys.unraisablehook = lambda unraisable: None  # some strike in the middle of a finalizer
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    text("/warm")
    struck = 0
    for number in range(1000):
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 3e-3))
                assert text(f"/{number}") == f"/{number}"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            struck += 1
    assert struck > 100
    assert text("/after") == "/after"
    transport.close()
    print("fine")
""")

EXIT_IN_STREAM = program("""
    reply = get("/gate")
    pieces = iter(reply)
    assert next(pieces) == b"one"
    reader = threading.Thread(target=lambda: list(get("/gate")), daemon=True)
    reader.start()
    print("fine")
""")

GEVENT = program("""
    import gevent.monkey
    gevent.monkey.patch_all()
    import gevent
    from mistral_knowledge.abort import AbortSignal
    from mistral_knowledge.errors import AbortedError, RequestTimeoutError
    from mistral_knowledge.transports import Timeout
    jobs = [gevent.spawn(text, f"/g-{number}") for number in range(20)]
    gevent.joinall(jobs, raise_error=True, timeout=20)
    assert [job.value for job in jobs] == [f"/g-{number}" for number in range(20)]

    def ended(path, end):
        signal = AbortSignal()
        def read():
            for piece in transport.send(Request("GET", url + path, signal=signal)):
                assert piece == b"one"
        reading = gevent.spawn(read)
        gevent.sleep(0.1)
        assert not reading.ready()
        signal.abort("stop")
        reading.join(2)
        assert isinstance(reading.exception, AbortedError), reading.exception

    gevent.get_hub().NOT_ERROR += (Exception,)  # else it prints what greenlets raise
    ended("/gate", "abort")
    ended("/silent", "abort")

    reply = get("/gate")
    reading = gevent.spawn(lambda: list(reply))
    gevent.sleep(0.1)
    reply.close()
    reading.join(2)
    assert isinstance(reading.exception, AbortedError)

    timeout = Timeout(first_byte=0.2, idle=0.2)
    for path, which in (("/gate", "idle"), ("/silent", "first_byte"), ("/drip", "first_byte")):
        try:
            list(transport.send(Request("GET", url + path, timeout=timeout)))
        except RequestTimeoutError as error:
            assert error.which == which, error
        else:
            raise AssertionError(path)
    transport.close()
    print("fine")
""")
