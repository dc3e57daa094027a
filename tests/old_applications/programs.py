"""Programs that the tests run in processes of their own; each prints "fine" at its end."""

import textwrap

START = """
import os, signal, sys, threading, time
from mistral_knowledge import AbortedError, AbortSignal, KnowledgeClient
url = sys.argv[1]
client = KnowledgeClient("key", base_url=url)
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"

def right(name, client=client):
    assert client.files.download(name) == name.encode(), name
    answer = client.rag.query(name, libraries=ID)
    assert answer.text == f"you asked: {name}", answer.text
    return True

def waiting(**options):
    stream = client.rag.stream("wait", libraries=ID, **options)
    assert next(stream).delta == "you asked: "
    return stream
"""


def program(text):
    return START + textwrap.dedent(text)


FORK = program("""
    import multiprocessing
    right("before")
    with multiprocessing.get_context("fork").Pool(4) as pool:
        asked = pool.map_async(right, [f"child-{number}" for number in range(40)])
        assert all(right(f"parent-{number}") for number in range(20))
        assert asked.get(20) == [True] * 40
        pool.close()
        pool.join()
    right("after")
    client.close()
    print("fine")
""")

# Children of "spawn" import the program again: it has to be a file.
SPAWN = program("""
    import multiprocessing

    def main():
        shipped = KnowledgeClient(base_url=url)
        os.environ["MISTRAL_API_KEY"] = "key"
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            names = [f"child-{number}" for number in range(10)]
            assert pool.starmap(right, [(name, shipped) for name in names]) == [True] * 10
            pool.close()
            pool.join()
        right("after")
        client.close()
        print("fine")

    if __name__ == "__main__":
        main()
""")

GEVENT = program("""
    import gevent.monkey
    gevent.monkey.patch_all()
    import gevent
    jobs = [gevent.spawn(right, f"green-{number}") for number in range(30)]
    gevent.joinall(jobs, raise_error=True, timeout=20)
    assert all(job.value for job in jobs)
    stream = waiting()
    reading = gevent.spawn(lambda: stream.get_answer())
    gevent.get_hub().NOT_ERROR += (Exception,)  # else it prints what greenlets raise
    gevent.sleep(0.05)
    assert not reading.ready()
    stream.close()
    reading.join(5)
    assert isinstance(reading.exception, AbortedError), reading.exception
    right("after")
    client.close()
    print("fine")
""")

THREADS = program("""
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        names = [f"thread-{number}" for number in range(500)]
        assert list(pool.map(right, names)) == [True] * 500
    client.close()
    print("fine")
""")

SIGNAL = program("""
    stop = AbortSignal()
    signal.signal(signal.SIGALRM, lambda number, frame: stop.abort("the alarm rang"))
    stream = waiting(signal=stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        stream.get_answer()
    except AbortedError as error:
        assert error.reason == "the alarm rang"
    else:
        raise AssertionError
    right("after")
    client.close()
    print("fine")
""")

# The stream and a thread that reads another one are left as they are.
EXIT = program("""
    stream = waiting()
    other = waiting()
    threading.Thread(target=other.get_answer, daemon=True).start()
    print("fine")
""")

EXIT_BY_ERROR = program("""
    with waiting() as stream:
        for event in stream:
            print("never")
        raise SystemExit
""").replace("for event", "print('fine'); sys.exit()\n    for event")

DROPPED = program("""
    def sockets():
        folder, count = "/proc/self/fd", 0
        for name in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{name}").startswith("socket:")
            except OSError:
                pass
        return count

    def made_and_dropped(number):
        client = KnowledgeClient("key", base_url=url)
        assert client.files.download("a") == b"a"
        if number % 10 == 0:
            stream = client.rag.stream("wait", libraries=ID)
            next(stream)

    import gc
    right("warm")  # what is loaded once may need the collector once
    gc.collect()
    gc.disable()
    most = 0
    for number in range(1000):
        made_and_dropped(number)
        most = max(most, sockets())
    assert most <= 1, most
    assert threading.active_count() == 1
    client.close()
    print("fine")
""")
