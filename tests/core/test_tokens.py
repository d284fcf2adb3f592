"""How names and prose become words."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from waypost.core._tokens import MAX_MESSAGE, MAX_NAME, PROSE_ENDS, name_text, tokens_of, words_of

ASCII = st.text(st.characters(min_codepoint=0, max_codepoint=127), max_size=200)
NAMES = st.lists(st.text("abcdefghkz", min_size=2, max_size=8), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("RATE_LIMITED", "rate limited"),
        ("rate-limited", "rate limited"),
        ("rateLimited", "rate limited"),
        ("HTTP429", "http 429"),
        ("Http2", "http 2"),
        ("DBInstanceNotFound", "db instance not found"),
        ("IAMPermissionError", "iam permission"),
        ("TooManyCNAMEs", "too many cnames"),
        ("VMsPerProject", "vms per project"),
        ("Bad user name or password", "bad user name or password"),
        ("InternalFailure", "internal"),
        ("ResourceNotFoundFault", "resource not found"),
        ("error", "error"),
        ("Exception", "exception"),
        ("com.amazon.coral.service#ExpiredTokenException", "expired token"),
        ("System.TimeoutException", "timeout"),
        ("google.api_core.exceptions.NotFound", "not found"),
        ("InvalidGroup.NotFound", "invalid group not found"),
        ("auth/user-token-expired", "user token expired"),
        ("urn:ietf:params:acme:error:badNonce", "bad nonce"),
        ("https://errors.example.com/rate-limited/", "rate limited"),
        ("-32000", "32000"),
        ("<object object at 0x7fbc46bad240>", "object object at 0x7fbc46bad240"),
        ("Upload_0x7FF429BAD", "upload 0x7ff429bad"),
        ("request 9f429bad504c failed", "request 9f429bad504c failed"),
        ("0A000", "0 a 000"),
        ("", ""),
        ("///", ""),
        ("未登录", ""),
    ],
)
def test_code_is_cut_where_its_owner_joined_it(name: str, tokens: str) -> None:
    """DESIGN section 3: names are tokenized first, whatever their spelling and namespace."""
    assert tokens_of(name) == tuple(tokens.split())


def test_error_suffixes_are_one_word_for_the_rules() -> None:
    """Our promise: one pattern finds ConnectionException, connection_failure and prose."""
    assert name_text("ConnectionException") == name_text("connection_failure")
    assert name_text("ConnectionError") == " connection error "


def test_only_the_first_characters_of_a_code_are_read() -> None:
    """DESIGN section 1: a code is at most 128 characters."""
    assert tokens_of("x" * MAX_NAME + "_timeout") == ("x" * MAX_NAME,)


@given(NAMES)
def test_spelling_of_a_code_does_not_change_its_words(words: list[str]) -> None:
    """STYLE section 5: the same answer for upper, lower, kebab, snake and camel spelling."""
    spellings = ("_".join(words), "-".join(words), "_".join(words).upper(), " ".join(words))
    camel = "".join(word.capitalize() for word in words)
    assert {tokens_of(name) for name in (*spellings, camel)} == {tuple(words)}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("I can't, it doesn't.", "i cannot it does not"),
        ("It can\u2019t \u2014 “never”", "it cannot never"),
        ("ref_not_found: 42 rows (429)", "ref not found 42 rows 429"),
        ("Falha na autenticação", "falha na autenticacao"),
        ("SCHLÜSSEL 未登录\uff0c请", "schlussel 未登录 请"),
        ("", ""),
    ],
)
def test_prose_becomes_plain_words(message: str, words: str) -> None:
    """Our promise: contractions, signs and accents do not hide a phrase from the rules."""
    assert words_of(message) == words.split()


def test_only_the_first_4_kib_of_a_message_are_read() -> None:
    """RELIABILITY A10: 10 MB cost what 4 KiB cost."""
    assert "timeout" not in words_of(" " * MAX_MESSAGE + "timeout")


def test_beginning_and_end_of_a_long_message_are_read() -> None:
    """Issue 4: a message of 4 KiB costs at most 40 x message.lower()."""
    prose = " and so on" * MAX_MESSAGE
    assert words_of(f"Timed out{prose}")[:2] == ["timed", "out"]
    assert words_of(prose[: MAX_MESSAGE - 10] + " timed out")[-2:] == ["timed", "out"]
    assert len(words_of(prose)) < 2 * PROSE_ENDS / 3
    assert "timeout" not in words_of(f"{prose[:2_000]} timeout{prose}")


def test_name_without_a_letter_has_no_words() -> None:
    """Our promise: nothing raises, and what says nothing matches nothing."""
    assert name_text("未登录") == ""
    assert tokens_of("---") == ()


@given(ASCII)
def test_words_are_lower_case_letters_and_digits(text: str) -> None:
    """Our promise: rows are compared with nothing but words, and nothing raises."""
    for word in (*words_of(text), *tokens_of(text)):
        assert word.isalnum()
        assert word == word.lower()
