"""_secrets: what must not be shown is not shown by its own type."""

from __future__ import annotations

import copy
import pickle
import time

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge import SignedUrl
from mistral_knowledge._secrets import (
    ApiKey,
    Headers,
    is_loopback,
    is_secret,
    key_problem,
    redact,
    redact_url,
)

KEY = "sk-live-0123456789"
SIGNED = "https://files.example/d/paper.pdf?sig=s3cr3t&exp=9"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Authorization: Bearer {KEY}", "Authorization: Bearer ***"),
        (f"bearer  {KEY}, and more", "bearer ***, and more"),
        ("Basic dXNlcjpwdw==", "Basic ***"),
        (f"see {SIGNED} there", "see https://files.example/d/paper.pdf?*** there"),
        (f'{{"url": "{SIGNED}"}}', '{"url": "https://files.example/d/paper.pdf?***"}'),
        (f"<a href='{SIGNED}'>", "<a href='https://files.example/d/paper.pdf?***'>"),
        ("/d/paper.pdf?sig=s3cr3t", "/d/paper.pdf?***"),
        ("a?b?sig=s3cr3t", "a?b?***"),
        ("x?sig%3Ds3cr3t", "x?***"),
        ("http://user:pw@proxy:3128/", "http://***@proxy:3128/"),
        ("http://token@proxy/", "http://***@proxy/"),
        ("What was measured? Nothing = zero", "What was measured? Nothing = zero"),
        ("Is that so?", "Is that so?"),
        ("", ""),
    ],
)
def test_redact_hides_tokens_queries_and_passwords_and_leaves_prose(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_redact_hides_each_given_secret_everywhere() -> None:
    assert redact(f"{KEY}: no such key {KEY}", [KEY, ""]) == "***: no such key ***"


@pytest.mark.parametrize("piece", ["a?", "?", "://", "bearer ", "a?b=", "://a:b@", "<", "a?%"])
def test_redact_takes_time_in_proportion_to_a_hostile_text(piece: str) -> None:
    text = piece * 60_000
    began = time.perf_counter()
    redact(text)
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (SIGNED, "https://files.example/d/paper.pdf?***"),
        ("https://me:pw@files.example:8443/d#frag", "https://files.example:8443/d"),
        ("https://files.example/d", "https://files.example/d"),
        ("http://[bad", "***"),
        ("", ""),
    ],
)
def test_redact_url_keeps_only_scheme_host_and_path(url: str, shown: str) -> None:
    assert redact_url(url) == shown


@given(st.text())
def test_redact_url_takes_any_text(url: str) -> None:
    assert isinstance(redact_url(url), str)


@pytest.mark.parametrize(
    "name",
    ["authorization", "Authorization", "PROXY-AUTHORIZATION", "x-api-key", "api-key", "Cookie"],
)
def test_headers_hide_the_values_that_carry_credentials(name: str) -> None:
    headers = Headers({name: KEY, "accept": "text/plain"})
    assert is_secret(name)
    assert repr(headers) == f"Headers({{{name!r}: '***', 'accept': 'text/plain'}})"
    assert str(headers) == repr(headers)
    assert f"{headers}" == repr(headers)
    assert headers.without_credentials() == {name.lower(): "***", "accept": "text/plain"}
    assert headers[name] == KEY


def test_headers_of_the_callers_own_naming_do_not_show_their_values() -> None:
    headers = Headers({"X-Gateway-Token": "s3cret", "Content-Type": "text/plain"})
    assert repr(headers) == "Headers({'X-Gateway-Token': '***', 'Content-Type': 'text/plain'})"
    assert headers.without_credentials()["x-gateway-token"] == "s3cret"
    assert repr(headers.without_credentials()) == repr(headers).lower().replace("h", "H", 1)


def test_a_signed_url_shows_itself_without_its_query() -> None:
    url = SignedUrl(SIGNED)
    shown = "SignedUrl('https://files.example/d/paper.pdf?***')"
    assert (repr(url), str(url), f"{url}", f"{[url]}") == (shown, shown, shown, f"[{shown}]")
    assert url.url == SIGNED


def test_signed_urls_are_equal_when_their_urls_are_and_can_be_copied() -> None:
    url = SignedUrl(SIGNED)
    assert url == SignedUrl(SIGNED)
    assert url != SignedUrl("https://files.example/other")
    assert url != SIGNED
    assert len({url, SignedUrl(SIGNED)}) == 1
    assert copy.deepcopy(url) == url
    assert pickle.loads(pickle.dumps(url)) == url


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (KEY, KEY),
        (f"  {KEY} ", KEY),
        (lambda: KEY, KEY),
        (lambda: f" {KEY}", KEY),
        (None, None),
        ("", None),
        ("   ", None),
        (lambda: None, None),
        (lambda: "", None),
    ],
)
def test_a_key_is_read_from_text_or_a_function_without_surrounding_blanks(
    source: object, key: object
) -> None:
    assert ApiKey(source).read() == key  # type: ignore[arg-type]


def test_a_key_is_read_anew_each_time() -> None:
    keys = iter(["first", "second"])
    key = ApiKey(lambda: next(keys))
    assert [key.read(), key.read()] == ["first", "second"]


def test_a_key_neither_shows_itself_nor_lets_itself_be_pickled_or_copied() -> None:
    key = ApiKey(KEY)
    assert (repr(key), str(key)) == ("ApiKey(***)", "ApiKey(***)")
    for act in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled") as caught:
            act(key)  # type: ignore[operator]
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "value", ["sk\n", "s k", "sk\r\nX: y", "clé", "sk\x00", "\tsk", "sk\x7f", b"sk", 5, ["sk"]]
)
def test_an_unusable_key_is_told_without_being_shown(value: object) -> None:
    problem = key_problem(value)
    assert problem is not None
    assert repr(value) not in problem
    assert str(value) not in problem


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
def test_every_key_of_visible_ascii_is_usable(key: str) -> None:
    assert key_problem(key) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (5, "it is a int, not text"),
        (b"key", "it is a bytes, not text"),
        ("a b", "it contains a blank, a line break or a character outside ASCII"),
    ],
)
def test_what_is_wrong_with_a_key_is_said_in_words(value: object, problem: str) -> None:
    assert key_problem(value) == problem


@pytest.mark.parametrize("key", [f"{KEY}\n", f"\t{KEY}", f"X{KEY}X"])
def test_only_blanks_are_taken_off_a_key(key: str) -> None:
    assert ApiKey(key).read() == key


def test_a_key_that_is_pickled_says_what_to_pickle_in_its_place() -> None:
    with pytest.raises(TypeError) as caught:
        pickle.dumps(ApiKey(KEY))
    assert str(caught.value) == (
        "an ApiKey is not pickled: pickle the client itself, which leaves its key behind"
    )


def test_signed_urls_that_differ_have_hashes_that_differ() -> None:
    assert hash(SignedUrl(SIGNED)) != hash(SignedUrl(f"{SIGNED}0"))


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("", False),
        ("notlocalhost", False),
        ("localhost.example", False),
        ("10.0.0.1", False),
        ("::2", False),
        ("api.mistral.ai", False),
    ],
)
def test_a_host_is_this_machine_by_its_name_or_its_address(host: str, here: bool) -> None:
    assert is_loopback(host) is here
