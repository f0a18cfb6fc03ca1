"""The line of a group's lag, and the words that say the same."""

from __future__ import annotations

from page.shown.curve import HEIGHT, WIDTH, Point, curve_of


def test_without_two_figures_there_is_no_line_and_a_sentence() -> None:
    some: list[list[Point]] = [[], [(1.0, 5)], [(1.0, None), (2.0, 5)]]
    for points in some:
        found = curve_of(points)
        assert (list(found.lines), list(found.facts)) == ([], [])
        assert "second poll" in found.note


def test_figures_are_told_with_their_times() -> None:
    found = curve_of([(0.0, 1500), (30.0, 7), (60.0, 90)])
    assert dict(found.facts) == {
        "Now": "90 records", "Highest": "1,500 records at 1970-01-01 00:00:00 UTC",
        "Lowest": "7 records at 1970-01-01 00:00:30 UTC", "Since": "1970-01-01 00:00:00 UTC",
    }  # fmt: skip
    assert found.said.startswith("3 polls: now 90 records; highest 1,500 records at")
    assert found.lines == ["0.0,4.0 300.0,91.6 600.0,86.7"]


def test_the_line_is_broken_where_the_lag_was_unknown_and_where_polls_failed() -> None:
    found = curve_of([(0.0, 1), (30.0, 2), (60.0, None), (90.0, 3), (900.0, 4), (930.0, 4)])
    assert [len(line.split()) for line in found.lines] == [2, 2, 2]
    first, second = found.lines[1].split()
    assert first == second, "a point alone is a dot"
    assert dict(curve_of([(0.0, 3), (30.0, 4), (60.0, None)]).facts)["Now"] == "not known"


def test_no_lag_at_all_is_a_line_at_the_foot_and_everything_is_inside() -> None:
    assert curve_of([(0.0, 0), (30.0, 0)]).lines == [f"0.0,{HEIGHT - 4:.1f} {WIDTH:.1f},{HEIGHT - 4:.1f}"]
    many: list[Point] = [(30.0 * number, number * 10**15) for number in range(240)]
    for pair in curve_of(many).lines[0].split():
        across, down = map(float, pair.split(","))
        assert 0 <= across <= WIDTH
        assert 0 <= down <= HEIGHT
