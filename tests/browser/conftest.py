"""A real Chromium in front of the relay. Run by `make browser`, never by a plain `pytest`."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import subprocess
from typing import Any, Callable, Iterator, List

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from .serving import Served, answering, relay_of, scripted, served
from .upstream import PATIENCE

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
HERE = pathlib.Path(__file__).parent

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield made
        made.close()


def chromium() -> str:
    path = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    assert path, f"the browser tests need one of {', '.join(CHROMIUMS)} on the PATH"
    return path


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile; fails the test if a script fails, or the page asks anything from outside."""
    troubles: List[str] = []
    with contextlib.closing(browser.new_context(viewport={"width": 1200, "height": 800})) as made:
        made.set_default_timeout(PATIENCE * 1000)
        made.on("request", lambda request: troubles.extend(_outside(request.url)))
        made.on("weberror", lambda error: troubles.append(str(error.error)))
        yield made
    assert troubles == []


def _outside(url: str) -> List[str]:
    return [] if url.startswith(("http://127.0.0.1:", "data:,")) else [url]


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """`serve(*replies, **options of relay_app)`: the relay over a Mistral that replies so."""
    with contextlib.ExitStack() as stack:

        def start(*replies: Any, **options: Any) -> Served:
            fake = scripted(*replies)
            return stack.enter_context(served(fake, relay_of(fake, **options)))

        yield start


@pytest.fixture
def serve_raw() -> Iterator[Callable[..., Served]]:
    """`serve_raw(respond)`: the relay's page, and answers written byte by byte."""
    with contextlib.ExitStack() as stack:

        def start(respond: Any) -> Served:
            fake = scripted()
            app = answering(relay_of(fake), respond)
            return stack.enter_context(served(fake, app))

        yield start


@pytest.fixture
def asked(page: Page) -> Callable[..., Page]:
    """`asked(relay, question)`: the page, opened, with the question sent."""

    def ask(relay: Served, question: str = "How fast is light?") -> Page:
        page.goto(relay.url)
        send(page, question)
        return page

    return ask


def send(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def finished(page: Page) -> None:
    """Wait until no answer is under way."""
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """What `react/package.json` asks for, installed from npm away from the repository."""
    assert shutil.which("npm"), "the browser tests need npm: install Node.js"
    folder = tmp_path_factory.mktemp("react")
    shutil.copy(HERE / "react" / "package.json", folder)
    options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    run(["npm", "install", *options], folder)
    return folder


def run(command: List[str], folder: pathlib.Path) -> None:
    done = subprocess.run(command, cwd=str(folder), capture_output=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
