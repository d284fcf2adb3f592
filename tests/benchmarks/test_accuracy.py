"""The accuracy report: its figures, its page, and what it asks of the other libraries."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

import pytest

from benchmarks.accuracy import _chart, _page, _peers, _recognition, _tables
from benchmarks.accuracy.__main__ import main
from benchmarks.accuracy._corpora import CORPORA, Corpus, Row, rows_of
from benchmarks.accuracy._recognition import API, PAYLOADS, SUCCESS, Case
from benchmarks.accuracy._run import ALWAYS_NO, WAYPOST, Sheet, Trial, joined, run
from benchmarks.accuracy._score import Said, Score, score_of
from benchmarks.accuracy.peers._rows import Answer, Way, _best, status_of, words_of

YES, NO = Said(retryable=True, acts=True), Said(retryable=False)
DEV = CORPORA[0]


def row(owner: str, *, retryable: bool, category: str = "other") -> Row:
    return Row(owner, "CODE", "", retryable, category, "documented")


@pytest.fixture(scope="module")
def own() -> tuple[Trial, ...]:
    """A run without the other libraries."""
    return run(peers=())


# Figures


def test_figures_are_those_of_a_small_table() -> None:
    """Computed by hand: 3 hits, 1 false alarm, 2 misses, 4 passes."""
    pairs = [(True, YES)] * 3 + [(False, YES)] + [(True, NO)] * 2 + [(False, NO)] * 4
    score = score_of(pairs)
    assert score == Score(hits=3, false_alarms=1, misses=2, passes=4, acts=4)
    assert (score.rows, score.retryable) == (10, 5)
    assert score.accuracy == pytest.approx(0.7)
    assert score.precision == pytest.approx(0.75)
    assert score.recall == pytest.approx(0.6)
    assert score.balanced == pytest.approx((0.6 + 0.8) / 2)
    assert score.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))


def test_figure_without_anything_to_divide_by_is_none() -> None:
    """Our promise: a dash on the page, not a zero that looks like a verdict."""
    score = score_of([(False, NO)] * 2)
    assert score.accuracy == 1.0
    assert (score.precision, score.recall, score.balanced, score.f1) == (None, None, None, None)
    assert score_of([]).accuracy is None
    assert [_tables.figure(value) for value in (None, 0.0, 2 / 3)] == ["-", "0.000", "0.667"]


def test_only_wanted_rows_count() -> None:
    """Our promise: figures per owner and per category."""
    rows = [row("a", retryable=True), row("b", retryable=False), row("a", retryable=False)]
    sheet = Sheet(rows=rows, said={WAYPOST: [YES, YES, NO]})
    assert _tables.group_names(sheet, "owner") == ["a", "b"]
    assert _tables.group_cells(sheet, "owner", "a") == ("a", "2", "1", "1.000", "1.000")
    assert _tables.group_cells(sheet, "owner", "b") == ("b", "1", "0", "0.000", "0.000")
    assert joined([sheet, sheet]).score(WAYPOST).rows == 6


def test_best_other_has_the_highest_accuracy_and_then_the_highest_f1() -> None:
    """Our promise: the page names the strongest, and all of them if they are alike."""
    scores = {
        "precise": Score(hits=1, false_alarms=0, misses=1, passes=2),
        "eager": Score(hits=2, false_alarms=1, misses=0, passes=1),
        "silent": Score(hits=0, false_alarms=0, misses=2, passes=2),
    }
    assert _tables.best_of(scores) == ["eager"]
    del scores["eager"]
    assert _tables.best_of({**scores, "twin": scores["precise"]}) == ["precise", "twin"]


def test_owners_are_counted_by_who_is_ahead() -> None:
    """Our promise: also where waypost is behind."""
    rows = [row(owner, retryable=True) for owner in ("ahead", "behind", "level")]
    sheet = Sheet(rows=rows, said={WAYPOST: [YES, NO, NO], "x": [NO, YES, NO], "y": [NO] * 3})
    assert _tables.by_owner(sheet) == [1, 1, 1]


def test_recognition_counts_what_was_seen() -> None:
    """Computed by hand: one failure with a wrong code and step, one missed, one success."""
    failed = {"ok": False, "error": "order_not_found"}
    wait = frozenset(("wait",))
    seen = _recognition.count(
        [
            Case(
                file=API,
                result=failed,
                told_by="explicit",
                codes=frozenset(("other",)),
                retryable=False,
                steps=wait,
            ),
            Case(file=API, result="It did not work.", told_by="explicit", steps=wait),
            Case(file=API, result={"rows": []}, told_by=SUCCESS),
            Case(file=PAYLOADS, result=failed, told_by=SUCCESS),
        ]
    )
    assert seen == {
        (API, "explicit", "all"): 2,
        (API, "explicit", "missed"): 1,
        (API, "explicit", "code wrong"): 1,
        (API, "explicit", "retryable right"): 1,
        (API, "explicit", "step wrong"): 1,
        (API, SUCCESS, "all"): 1,
        (PAYLOADS, SUCCESS, "all"): 1,
        (PAYLOADS, SUCCESS, "changed"): 1,
    }


# The page


def test_page_has_the_figures_that_waypost_earns_now(own: tuple[Trial, ...]) -> None:
    """STYLE section 5, docs: what needs no other library is compared in every run of the tests."""
    page = _page.PAGE.read_text(encoding="utf-8")
    sheet = joined(trial.with_message for trial in own if not trial.corpus.kept_aside)
    lines = [
        " | ".join(cells)
        for trial in own
        for name in (WAYPOST, ALWAYS_NO)
        for cells in _tables.outcome_rows(trial, name)
    ]
    lines += [
        " | ".join(_tables.group_cells(sheet, part, name))
        for part in _tables.PARTS
        for name in _tables.group_names(sheet, part)
    ]
    parts = [
        *(f"\n| {line} |" for line in lines),
        _page.wrong_part([trial for trial in own if not trial.corpus.kept_aside]),
        _page.recognition_part(_recognition.count(_recognition.cases())),
    ]
    old = [part for part in parts if part not in page]
    assert old == [], "docs/accuracy.md is old: write it anew with `make accuracy`."


def test_page_is_what_a_whole_run_sees() -> None:
    """STYLE section 5, docs: a generated table is checked for drift."""
    if lack := _peers.missing():
        pytest.skip(lack)
    trials = run()
    page = _page.page_of(trials, _recognition.count(_recognition.cases()))
    assert _page.PAGE.read_text(encoding="utf-8") == page, (
        "docs/accuracy.md is old: write it anew with `make accuracy`."
    )
    assert _chart.IMAGE.read_text(encoding="utf-8") == _chart.chart_of(trials)


def test_rows_that_were_kept_aside_are_scored_and_not_shown(own: tuple[Trial, ...]) -> None:
    """Our promise: a rule that is made for one of them would end that they are kept aside."""
    corpus = Corpus(file="aside", title="Somebody's codes", about="New.", kept_aside=True)
    hidden = Row("nobody", "HIDDEN_CODE", "", True, "hidden", "declared")
    names = (WAYPOST, *(peer.name for peer in _peers.PEERS), ALWAYS_NO)
    sheet = Sheet(rows=[hidden], said=dict.fromkeys(names, (NO,)))
    aside = Trial(corpus=corpus, with_message=sheet, code_alone=sheet)
    known = [with_peers(trial) for trial in own if not trial.corpus.kept_aside]
    seen = _recognition.count(())
    page = _page.page_of([*known, aside], seen)
    section = page.partition("## Codes that were kept aside\n")[2].partition("\n## ")[0]
    assert "### Somebody's codes" in section
    assert "| waypost | code alone | 0.000 |" in section
    assert not re.search("HIDDEN_CODE|nobody \\|", page)
    assert _page.NOTHING_ASIDE in _page.page_of(known, seen)


def with_peers(trial: Trial) -> Trial:
    """The same, with other libraries that say no to everything."""

    def filled(sheet: Sheet) -> Sheet:
        said = dict.fromkeys((peer.name for peer in _peers.PEERS), (NO,) * len(sheet.rows))
        return dataclasses.replace(sheet, said={**sheet.said, **said})

    return dataclasses.replace(
        trial, with_message=filled(trial.with_message), code_alone=filled(trial.code_alone)
    )


def test_corpora_have_labels_of_many_owners() -> None:
    """Our promise: figures on many kinds of codes, of which most are final."""
    rows = rows_of(DEV)
    assert len(rows) > 1_000
    assert len({row.owner for row in rows}) > 50
    assert 0 < sum(row.retryable for row in rows) < len(rows) / 2


# The other libraries


def test_every_peer_has_pins_and_an_adapter() -> None:
    """Our promise: the same versions of all that a library needs, on every machine."""
    files = {path.stem: path for path in _peers.REQUIREMENTS.glob("*.txt")}
    assert set(files) == {peer.name for peer in _peers.PEERS}
    for peer in _peers.PEERS:
        lines = files[peer.name].read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if not line.startswith("#")]
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
        assert f"{peer.package}=={peer.version}" in pins
        words, source = _peers.adapter_of(peer)
        assert "generous reading" in words
        assert source.startswith("from __future__")


def test_missing_peer_fails_the_command_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our promise: no page without the comparison."""
    monkeypatch.setattr(_peers, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["accuracy", "--write"])
    before = _page.PAGE.read_bytes()
    assert main() == 1
    said = capsys.readouterr().err
    assert "retryguard" in said
    assert "run make peers" in said
    assert _page.PAGE.read_bytes() == before


def test_peer_that_breaks_is_named_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our promise: a row that a library did not answer is not counted as a no."""
    (peer, *_) = _peers.PEERS
    python = tmp_path / peer.name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(_peers, "ENVIRONMENTS", tmp_path)
    with pytest.raises(_peers.PeerError, match=r"retryguard answered 0 of 1 rows[^$]+No module"):
        _peers.ask(peer, [("CODE", "")])


def test_most_favorable_answer_counts() -> None:
    """Our promise: the first that is retryable, else the first that knows the row."""
    unknown, final = Answer(retryable=False), Answer(retryable=False, category="final")
    repeat = Answer(retryable=True, category="busy", action="wait")

    def way(answer: Answer | None) -> Way:
        return lambda _code, _message: answer

    def best(*answers: Answer | None) -> Answer:
        return _best([way(answer) for answer in answers], "CODE", "")

    assert best(unknown, final, repeat) == repeat
    assert best(None, unknown, final) == final
    assert best(None) == unknown


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("RequestTimeout", "request timeout"),
        ("REQUEST_TIMEOUT", "request timeout"),
        ("auth/token-expired", "auth token expired"),
    ],
)
def test_words_of_a_code_are_found_in_every_spelling(code: str, words: str) -> None:
    """Our promise: the adapters split codes for libraries that do not."""
    assert words_of(code) == words


@pytest.mark.parametrize(
    ("code", "message", "status"),
    [
        ("503", "", 503),
        ("SERVICE_UNAVAILABLE", "", 503),
        ("ServiceUnavailableException", "", 503),
        ("InternalServerError", "", 500),
        ("oops", "The answer was 429.", 429),
        ("oops", "It took 4290 ms.", None),
    ],
)
def test_status_is_found_where_the_code_names_it(
    code: str, message: str, status: int | None
) -> None:
    """Our promise: libraries that go by HTTP get a status wherever there is one."""
    assert status_of(code, message) == status
