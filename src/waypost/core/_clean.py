"""Text that may leave us: cleaned, capped, and free of what looks like a secret."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise

from ._model import LimitError

REDACTED = "redacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    The bounds of what waypost lets out.

    Raises:
        LimitError: If a limit is no integer of at least 1.
    """

    attribute_chars: int = 1_024
    """Characters of a span attribute or a log value."""

    attribute_sets: int = 1_500
    """Attribute sets of an instrument; further ones are recorded as ``_OTHER``."""

    duration_attribute_sets: int = 500
    """The same for ``waypost.call.duration``, whose sets cost a whole histogram each."""

    zeroed_tools: int = 40
    """Tools whose ``waypost.errors`` starts at zero, so that a first error is an increase."""

    span_events: int = 32
    """Events on a span that is not the call's own."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if type(value) is not int or value < 1:
                raise LimitError(
                    f"Limits({limit.name}={value!r}): a limit is an integer of at least 1; "
                    f"leave it out for the default of {limit.default!r}."
                )


CODE_CHARS = 128
ERROR_TYPE_CHARS = 256
MESSAGE_CHARS = 4_096
PARSED_CHARS = 32_768


def clean_text(text: str, max_chars: int) -> str:
    """
    Return *text* as one printable line of at most *max_chars* characters.

    Control, format, surrogate, private and unassigned characters are dropped, white space becomes
    a space: one lone surrogate would lose a whole OTLP batch, one line feed forges a log line.
    """
    text = text[:max_chars]
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() else " " if c.isspace() else "" for c in text]).strip()


@lru_cache(maxsize=1_024)
def clean_code(code: str) -> str:
    """Return the error code as it may leave us: cleaned, at most 128 characters, no secret."""
    code = clean_text(code, CODE_CHARS)
    return REDACTED if _secret_like(code) else code


_PREFIXES = (
    "sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "xox", "akia", "asia", "aiza", "ya29.", "eyj", "npm_", "pypi-", "hf_", "sg.", "shpat_",
    "dop_v1_", "whsec_", "hvs.", "figd_", "ntn_", "lin_api_", "r8_", "gsk_", "xai-", "dapi",
    "bearer",
)  # fmt: skip


def _secret_like(code: str) -> bool:
    """Whether a token looks like a credential: a known prefix, or long and mixed like a key."""
    if code.isdecimal():
        return len(code) >= 12
    if len(code) < 16:
        return False
    digits = sum(map(str.isdigit, code))
    if len(code) >= 32 and code.isalnum() and (code.islower() or code.isupper() or digits):
        return True
    if code.lower().startswith(_PREFIXES) and (digits or len(code) > 24):
        return True
    return digits >= 4 and len(code) >= 20 and "://" not in code and _mixed(code)


def _mixed(code: str) -> bool:
    """Whether letters and digits alternate as in random text, rather than as in ``ORA12154``."""
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(code))
    return turns >= 6


@lru_cache(maxsize=1)
def _secrets() -> re.Pattern[str]:
    """One linear pattern for what is cut out of a captured message; built when first asked for."""
    word = r"[A-Za-z0-9_\-.~+/=%]"
    named = (
        "authorization|cookie|password|passwd|pwd|passphrase|secret|token|session|sessionid|api_key|"
        "apikey|api-key|access_key|accesskey|account_key|accountkey|private_key|credentials?|key|"
        "sig|signature|auth|jwt|sas|code"
    )
    return re.compile(
        r"(?i)-----begin [a-z ]{0,40}-----[^-]{0,8192}(?:-----end [a-z ]{0,40}-----)?"
        r"|\b(?:bearer|basic|digest|negotiate|token|apikey|key)[ :]{1,3}" + word + r"{6,4096}"
        r"|\b[a-z][a-z0-9+.\-]{1,20}://[^\s/@:]{0,256}:[^\s/@]{1,1024}@"
        r"|(?:"
        + named
        + r")[\"']{0,2} ?[:=] ?[\"']{0,2}(?:(?:bearer|basic|token) )?[^\s\"',;&<>]{1,4096}"
        r"|\b(?:" + "|".join(map(re.escape, _PREFIXES[:-1])) + r")" + word + r"{8,4096}"
        # Tried where such a run begins, and nowhere in it: else each start costs a walk.
        r"|(?<![a-z0-9_\-+/=])(?=[a-z_\-+/=]{0,4096}+[0-9])[a-z0-9_\-+/=]{32,4096}"
    )


def redact(text: str) -> str:
    """Cut out of a captured message what looks like a credential. Best effort, by its shape."""
    return _secrets().sub(f"[{REDACTED}]", text)
