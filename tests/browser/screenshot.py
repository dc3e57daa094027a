"""Makes the picture of the page: `python -m tests.browser.screenshot images/relay-page.png`.

Run it in the virtual environment of `make browser`; it uses Chromium as the tests do.
"""

from __future__ import annotations

import sys

from playwright.sync_api import sync_playwright

from .conftest import chromium, finished, send
from .serving import relay_of, scripted, served
from .upstream import citation, reply, text, thinking, tool_run

METRE = citation("The metre and the second.pdf", tool="document_library")
HISTORY = citation("A history of c.md", tool="document_library")
CODATA = citation("CODATA: speed of light in vacuum", "https://physics.example/constants/c")
ANSWER = reply(
    thinking("Two things are asked: the number, and how it is known."),
    *tool_run("document_library", '{"query": "speed of light"}', "four passages"),
    text("Light in a vacuum travels at exactly **299\u00a0792\u00a0458 metres a second**."),
    METRE,
    CODATA,
    text(
        " The number has no error any more: since 1983 the metre is defined by it, as the way "
        "that light goes in 1/299\u00a0792\u00a0458 of a second."
    ),
    METRE,
    text("\n\nBefore that it was measured, better each time:\n\n- **1676, Rømer**: the moons of "),
    text("Jupiter seem late when they are far away; about 220\u00a0000\u00a0km/s"),
    HISTORY,
    text("\n- **1849, Fizeau**: a toothed wheel and a mirror 8 km away; 313\u00a0300\u00a0km/s"),
    HISTORY,
    text("\n- **1926, Michelson**: a rotating mirror on a mountain; 299\u00a0796\u00a0km/s"),
    HISTORY,
)


def main(path: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 720})
        fake = scripted(ANSWER)
        with served(fake, relay_of(fake)) as relay:
            page.goto(relay.url)
            send(page, "How fast is light, and how do we know?")
            finished(page)
            page.get_by_role("button", name="Source 2").first.click()
            page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
