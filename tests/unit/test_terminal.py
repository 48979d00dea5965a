"""Tables of the terminal: one line a row, whole cells, as many columns as fit."""

import io

import pytest
from rich.console import Console

from gpufleet.terminal import Column, print_notes, print_table

COLUMNS = [Column("name"), Column("USD", right=True), Column("zones", 1), Column("quota", 2, name="vCPU quota")]
ROWS = [("alpha", "1.50", "a,b", "96 of L-1"), ("be", "20.00", "c", "8 of L-2")]


@pytest.fixture
def out():
    return Console(file=io.StringIO(), width=1000, markup=False, highlight=False, soft_wrap=True)


def printed(out):
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


def width(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))


@pytest.mark.parametrize("columns", [30, 80])
def test_everything_fits(out, monkeypatch, columns):
    width(monkeypatch, columns)
    print_table(COLUMNS, ROWS, out)
    assert printed(out) == [
        "name     USD  zones  quota",
        "alpha   1.50  a,b    96 of L-1",
        "be     20.00  c      8 of L-2",
    ]


def test_the_highest_rank_goes_first(out, monkeypatch):
    width(monkeypatch, 29)
    print_table(COLUMNS, ROWS, out)
    assert printed(out) == [
        "name     USD  zones",
        "alpha   1.50  a,b",
        "be     20.00  c",
        "--wide also shows: vCPU quota",
    ]


def test_columns_of_rank_0_are_never_cut(out, monkeypatch):
    width(monkeypatch, 5)
    print_table(COLUMNS, ROWS, out)
    assert printed(out)[:3] == ["name     USD", "alpha   1.50", "be     20.00"]
    assert printed(out)[3] == "--wide also shows: zones, vCPU quota"


def test_wide_shows_all(out, monkeypatch):
    width(monkeypatch, 5)
    print_table(COLUMNS, ROWS, out, wide=True)
    assert printed(out)[1] == "alpha   1.50  a,b    96 of L-1"


def test_cells_are_no_markup(out, monkeypatch):
    width(monkeypatch, 80)
    print_table([Column("name")], [("[red]:smile:",)], out)
    assert printed(out)[1] == "[red]:smile:"


def test_notes_break_between_words_on_a_terminal_only(out, monkeypatch):
    width(monkeypatch, 12)
    print_notes(["one two three"], out)
    assert printed(out) == ["one two three"]
    terminal = Console(file=io.StringIO(), width=1000, force_terminal=True, no_color=True)
    print_notes(["one two three"], terminal)
    assert printed(terminal) == ["one two", "  three"]
