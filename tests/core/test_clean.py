"""What may leave us: cleaned, capped, no secret, no word of the tool's (A14, A40, A41, A43)."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import waypost
from tests.core.results import Recorder
from waypost.core._clean import clean_code, clean_text, redact

HOSTILE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
POINTS = sys.maxunicode + 1
ASK = "Ask the user for the missing value, then make the same call with it added."
CODES = Path(__file__).parents[1] / "corpus" / "codes-dev.jsonl"
SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "sk-proj-4f9a8b7c6d5e4f3a2b1c",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "glpat-9x8y7w6v5u4t3s2r1q0p",
    "xoxb-2401-4412-aBcDeFgHiJkL",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "hf_a1b2c3d4e5f6g7h8i9j0k1l2",
    "npm_a1B2c3D4e5F6g7H8i9J0",
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
]


def test_every_code_point_in_a_code_leaves_us_clean() -> None:
    """A41: the code that observers get, and that _meta holds."""
    recorder = Recorder()
    enricher = waypost.Enricher((recorder,))
    for start in range(0, POINTS, 100):
        batch = "x" + "".join(map(chr, range(start, min(start + 100, POINTS))))
        assert HOSTILE.isdisjoint(map(unicodedata.category, clean_code(batch)))
        enricher.enrich_result({"status": "error", "error_code": batch})
    assert len(recorder.seen) == len(range(0, POINTS, 100))
    for observation in recorder.seen:
        assert HOSTILE.isdisjoint(map(unicodedata.category, observation.error_code))


@pytest.mark.parametrize(
    ("text", "max_chars", "cleaned"),
    [
        ("plain", 128, "plain"),
        ("plain", 3, "pla"),
        ("a\r\n\tb", 9, "a   b"),
        ("a\x00\x1b[0m\x7f\x9fb", 99, "a[0mb"),
        ("\ud800a\udfff", 9, "a"),
        ("\u202e\u2066\U000e0041a\ufeff", 9, "a"),
        ("a\u2028b\u2029c\x85d\xa0e\u3000f", 99, "a b c d e f"),
        ("\ue000\U0010ffff\u0378", 9, ""),
        ("  a\n", 9, "a"),
        ("\u00e9\u4e2d\U0001f600", 9, "\u00e9\u4e2d\U0001f600"),
        ("", 9, ""),
    ],
)
def test_clean_text_is_one_printable_line(text: str, max_chars: int, cleaned: str) -> None:
    """DESIGN section 6: cleaned of control, format and surrogate characters, and capped."""
    assert clean_text(text, max_chars) == cleaned


@pytest.mark.parametrize("secret", SECRETS)
def test_code_that_looks_like_a_secret_is_redacted(secret: str) -> None:
    """DESIGN section 6, A43: waypost.error.code is `redacted`; so is the code in _meta."""
    assert clean_code(secret) == "redacted"
    recorder = Recorder()
    waypost.Enricher((recorder,)).enrich_result({"status": "error", "error_code": secret})
    assert recorder.seen[0].error_code == "redacted"


def test_no_real_code_is_redacted() -> None:
    """DESIGN section 6: codes that 54 owners use come through."""
    codes = [json.loads(line)["code"] for line in CODES.read_text("utf-8").splitlines()]
    assert [code for code in codes if clean_code(code) != clean_text(code, 128)] == []
    for code in (
        "ORA12154",
        "https://errors.example/2024/07/15/000123",
        "short",
        "no_such_thing_" * 12,
    ):
        assert clean_code(code) == code[:128]


@pytest.mark.parametrize(
    "text",
    [
        *SECRETS,
        "Authorization: Bearer abc.def-ghi",
        "password=hunter2",
        'api_key: "zq9"',
        "postgres://ann:hunter2@db.example/x",
        "Cookie: session=zq9",
        "https://s3.example/x?X-Amz-Signature=abcdef0123&b=1",
        "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
        "AccountKey=zq9/+==;EndpointSuffix=core",
        "Basic dXNlcjpwYXNz",
    ],
    ids=range(19),
)
def test_redact_cuts_out_what_looks_like_a_credential(text: str) -> None:
    """A43: with capture_message=True, redacted."""
    redacted = redact(f"It failed with {text}")
    assert redacted.startswith("It failed with ")
    assert "[redacted]" in redacted
    secrets = ("hunter2", "zq9", "abc.def", "abcdef0123", "MIIB", "dXNlcjpwYXNz", *SECRETS)
    assert not any(secret in redacted for secret in secrets)
    recorder = Recorder()
    result = {"status": "error", "message": f"It failed with {text}"}
    waypost.Enricher((recorder,), capture_message=True).enrich_result(result)
    assert recorder.seen[0].message == clean_text(redacted, 4_096)
    waypost.Enricher((recorder,)).enrich_result(result)
    assert recorder.seen[1].message is None


def test_redact_leaves_plain_words() -> None:
    """A43: what looks like no credential stays."""
    text = "The order 4711 of user ann was not found in region eu-west-1."
    assert redact(text) == text


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "10"], ids=repr)
def test_limit_that_is_no_positive_integer_is_refused(value: Any) -> None:
    """STYLE rule 11: the message shows the value and the way out."""
    with pytest.raises(waypost.LimitError) as caught:
        waypost.Limits(span_events=value)
    assert str(caught.value) == (
        f"Limits(span_events={value!r}): a limit is an integer of at least 1; "
        "leave it out for the default of 32."
    )
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, waypost.WaypostError)


def test_limits_are_those_of_the_reliability_page() -> None:
    """A14, A18: the defaults."""
    assert waypost.Limits() == waypost.Limits(
        attribute_chars=1_024,
        attribute_sets=1_500,
        duration_attribute_sets=500,
        zeroed_tools=40,
        span_events=32,
    )
