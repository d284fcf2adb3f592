"""``waypost enrich``: JSON lines in, JSON lines out."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.enriching import (
    FAILURE,
    LONG,
    SUCCESS,
    UNKNOWN,
    enriched,
    lines_of,
    run,
)
from waypost.cli._lines import Done
from waypost.cli._tally import Tally
from waypost.guidance import enrich_result


def test_failures_get_guidance_and_successes_stay_as_they_are() -> None:
    """Issue 3, item 2; STYLE rule 5: a success comes back byte for byte."""
    code, out, _ = run(stdin=lines_of(SUCCESS, FAILURE, "[1,  2]", '"text"'))
    assert code == 0
    assert out.splitlines() == [SUCCESS, enriched(FAILURE), "[1,  2]", '"text"']


def test_failures_keep_their_bytes() -> None:
    """DESIGN section 2: members are inserted before the closing brace, nothing is written anew."""
    line = '{"error_code":"TIMEOUT" ,"price":1.50,"n":1e400,"name":"\\u00fc", "name":"ü" }'
    _, out, _ = run(stdin=lines_of(line))
    assert out.startswith(line[:-2] + ', "retryable": true')
    assert out.endswith(" }\n")


def test_mcp_results_and_texts_are_enriched_where_a_model_reads_them() -> None:
    """Our promise: whatever the pure functions recognize, the command recognizes."""
    result = {"content": [{"type": "text", "text": "no such order"}], "isError": True}
    text = json.dumps('{"error_code": "TIMEOUT"}')
    _, out, _ = run(stdin=lines_of(json.dumps(result), text, f"[{FAILURE}]"))
    assert [json.loads(line) for line in out.splitlines()] == [
        enrich_result(result),
        enrich_result('{"error_code": "TIMEOUT"}'),
        enrich_result([json.loads(FAILURE)]),
    ]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_rules_of_a_file_count(tmp_path: Path, workers: str) -> None:
    """Our promise: what an Enricher says with rules of your own, the command says, too."""
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rules]]\nid = "flux"\nany_of = ["flux capacitor"]\nerror_class = "not_ready"\n'
        'outcome = "not_done"\nwhy = "It charges."\naction = "Drive at 88 mph."\n'
    )
    _, out, told = run("--rules", rules, "--workers", workers, "--json", stdin=lines_of(UNKNOWN))
    assert json.loads(out)["next_action"] == "Drive at 88 mph."
    assert json.loads(told)["error_classes"] == {"not_ready": 1}


def test_summary_counts_classes_and_unknown_codes() -> None:
    """Issue 3, item 2: a summary by class and unknown codes by frequency at the end."""
    lines = lines_of(SUCCESS, FAILURE, UNKNOWN, FAILURE, UNKNOWN.replace("FLUX", "TIME"), UNKNOWN)
    _, _, told = run(stdin=lines)
    assert [line.split() for line in told.splitlines()] == [
        ["lines", "6,", "successes", "1,", "failures", "5,", "unreadable", "0"],
        ["error", "class", "failures", "share"],
        ["unknown", "3", "60.0%"],
        ["not_found", "2", "40.0%"],
        ["code", "that", "no", "rule", "knows", "failures"],
        ["FLUX_CAPACITOR", "2"],
        ["TIME_CAPACITOR", "1"],
    ]
    _, _, told = run("--json", stdin=lines)
    assert json.loads(told) == {
        "lines": 6,
        "successes": 1,
        "failures": 5,
        "unreadable": 0,
        "error_classes": {"unknown": 3, "not_found": 2},
        "unknown_codes": {"FLUX_CAPACITOR": 2, "TIME_CAPACITOR": 1},
    }


def test_summary_shows_twenty_codes_and_how_many_more_there_are() -> None:
    """Our promise: a summary fits on a screen."""
    lines = [UNKNOWN.replace("FLUX", f"FLUX{chr(65 + n)}") for n in range(23)]
    _, _, told = run(stdin=lines_of(*lines))
    assert told.splitlines()[-1].strip() == "and 3 more, which --json lists"


def test_code_that_looks_like_a_secret_is_not_told() -> None:
    """RELIABILITY A43: no secret leaves by default."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    _, _, told = run("--json", stdin=lines_of(UNKNOWN.replace("FLUX_CAPACITOR", secret)))
    assert json.loads(told)["unknown_codes"] == {"redacted": 1}


BAD = [
    ("{", "no JSON: Expecting property name enclosed in double quotes at column 2"),
    ("{} {}", "no JSON: Extra data at column 4"),
    ('{"n": NaN}', "NaN is no JSON"),
    ("[" * 100_000, "nested too deeply"),
    (LONG, "longer than 16 MiB"),
]


@pytest.mark.parametrize(("line", "reason"), BAD, ids=[reason for _, reason in BAD])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_bad_line_goes_to_its_file_and_stops_nothing(
    tmp_path: Path, line: str, reason: str, workers: str
) -> None:
    """Issue 3, item 2: to ``--errors FILE`` with its number; nothing is lost."""
    source, errors = tmp_path / "in.jsonl", tmp_path / "bad.tsv"
    source.write_bytes(lines_of(FAILURE, line, SUCCESS, line))
    code, out, told = run(source, "--errors", errors, "--workers", workers)
    assert code == 1
    assert out.splitlines() == [enriched(FAILURE), SUCCESS]
    assert errors.read_bytes() == f"2\t{reason}\t{line}\n4\t{reason}\t{line}\n".encode()
    assert "lines 4, successes 1, failures 1, unreadable 2" in told
    assert f"First unreadable line: 2 ({reason}). They are in {errors}." in told


def test_bytes_that_are_no_utf_8_are_kept(tmp_path: Path) -> None:
    """Issue 3, item 2: nothing is lost."""
    errors = tmp_path / "bad.tsv"
    code, out, _ = run("--errors", errors, stdin=b'{"a": "\xff"}\n' + lines_of(SUCCESS))
    assert (code, out) == (1, f"{SUCCESS}\n")
    assert errors.read_bytes() == b'1\tno UTF-8 at byte 8\t{"a": "\xff"}\n'


def test_bad_line_without_a_file_is_told() -> None:
    """Our promise: what could not be read is said, and how to keep it."""
    code, out, told = run(stdin=lines_of("oops", SUCCESS))
    assert (code, out) == (1, f"{SUCCESS}\n")
    assert "First unreadable line: 1 (no JSON: Expecting value at column 1)." in told
    assert "Keep them with --errors FILE." in told


def test_number_that_json_cannot_write_again_is_a_bad_line() -> None:
    """Our promise: JSON lines come out, never ``Infinity``."""
    line = '{"content": [{"type": "text", "text": "no"}], "isError": true, "n": 1e400}'
    code, out, told = run(stdin=lines_of(line))
    assert (code, out) == (1, "")
    assert "Out of range float values are not JSON compliant" in told


def test_blank_lines_a_byte_order_mark_and_a_missing_line_feed_are_no_trouble() -> None:
    """Our promise: files are read as editors and exporters write them."""
    stdin = b"\xef\xbb\xbf" + f"{SUCCESS}\r\n\n  \n{FAILURE}".encode()
    code, out, told = run(stdin=stdin)
    assert code == 0
    assert out == f"{SUCCESS}\r\n{enriched(FAILURE)}\n"
    assert "lines 4, successes 1, failures 1, unreadable 0" in told


@pytest.mark.parametrize("workers", ["1", "2"])
def test_order_is_kept_over_many_blocks(tmp_path: Path, workers: str) -> None:
    """Issue 3, item 2: order kept, whoever is first."""
    lines = [f'{{"ok": false, "error": "not_found", "n": {n}}}' for n in range(20_000)]
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(*lines))
    code, out, _ = run(source, "--workers", workers)
    assert code == 0
    assert [json.loads(line)["n"] for line in out.splitlines()] == list(range(20_000))


@pytest.mark.parametrize("from_stdin", [True, False])
def test_gzip_is_read_as_it_is(tmp_path: Path, from_stdin: bool) -> None:
    """Issue 3, item 2: plain or gzip, stdin or file; in several members, as appended logs are."""
    data = gzip.compress(lines_of(SUCCESS)) + gzip.compress(lines_of(FAILURE))
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(data)
    code, out, _ = run(stdin=data) if from_stdin else run(source)
    assert (code, out.splitlines()) == (0, [SUCCESS, enriched(FAILURE)])


def test_codes_that_are_kept_are_bounded() -> None:
    """RELIABILITY: memory stays bounded, whatever the tools call their failures."""
    tally = Tally()
    codes = Counter({f"CODE_{number}": 1 for number in range(10_010)})
    tally.add(Done(b"", 1, 0, Counter(unknown=1), codes, []))
    assert len(tally.unknown_codes) == 10_000


def test_line_ends_stay_as_they_are_and_long_integers_are_named() -> None:
    """Our promise: CRLF stays CRLF, also where a line is written anew."""
    flagged = {"content": [{"type": "text", "text": "no"}], "isError": True}
    code, out, told = run(stdin=f"{json.dumps(flagged)}\r\n{'9' * 5_000}\n".encode())
    assert code == 1
    assert out == f"{enriched(json.dumps(flagged))}\r\n"
    assert "First unreadable line: 2 (an integer of too many digits)." in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-such-file"], "does not exist"),
        (["in.jsonl", "--workers", "0"], "should be greater than or equal to 1"),
        (["in.jsonl", "--errors", "old.tsv"], "is there already"),
        (["in.jsonl", "--workers", "99999999999999"], "should be less than or equal to 64"),
        (["in.jsonl", "--errors", "in.jsonl", "--force"], "is the input or the output itself"),
        (["in.jsonl", "--errors", "a" * 300], "File name too long"),
        (["in.jsonl", "--errors", "no/such/folder.tsv"], "No such file or directory"),
        (["."], "is a directory"),
    ],
)
def test_wrong_usage_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], told: str
) -> None:
    """Issue 3, item 2: exit code 2; RELIABILITY A62: nothing is replaced without ``--force``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_bytes(lines_of(FAILURE))
    (tmp_path / "old.tsv").write_bytes(b"old")
    code, out, said = run(*arguments)
    assert (code, out) == (2, "")
    assert told in " ".join(said.replace("│", " ").split())
    assert (tmp_path / "in.jsonl").read_bytes() == lines_of(FAILURE)
    assert (tmp_path / "old.tsv").read_bytes() == b"old"


def test_force_replaces_the_file_of_bad_lines(tmp_path: Path) -> None:
    """RELIABILITY A62: only then."""
    errors = tmp_path / "old.tsv"
    errors.write_bytes(b"old")
    assert run("--errors", errors, "--force", stdin=lines_of(SUCCESS))[0] == 0
    assert errors.read_bytes() == b""
