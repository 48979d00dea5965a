"""Lines of a log across streams that break: each once, in order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.jobs.kubernetes.log_stream import OVERLAP_SECONDS, KubernetesLogStream
from tests.tools.fake_cluster import EPOCH, stamped

SECOND = 10**9


def streamed(tail: KubernetesLogStream, lines: list[tuple[int, bytes]], cut: int | None, sizes: list[int]) -> list[str]:
    """What a tail makes of one stream, as the log endpoint would give it; pieces of any size, cut off at any byte."""
    from datetime import datetime

    tail.begin()
    since = 0 if tail.since is None else int(datetime.fromisoformat(tail.since).timestamp()) - EPOCH
    body = b"".join(line for when, line in lines if when // SECOND >= since)
    body = body if cut is None else body[:cut]
    shown: list[str] = []
    for size in [*sizes, len(body)]:
        piece, body = body[:size], body[size:]
        shown += tail.feed(piece)
    return shown


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_every_line_arrives_once_and_in_order_however_streams_break(data: st.DataObject) -> None:
    # Few texts and steps of 0: equal lines at equal times are lines, too. Steps back: two writers of one container.
    steps = st.one_of(st.sampled_from([0, 1, 999, SECOND // 3]), st.integers(-SECOND // 2, 3 * SECOND))
    texts = st.one_of(st.sampled_from(["", "loss 0.1"]), st.text(st.characters(exclude_characters="\n"), max_size=9))
    when, lines, written = SECOND, [], []
    for step, text in data.draw(st.lists(st.tuples(steps, texts), max_size=60)):
        newest = max([SECOND, *(each for each, _ in lines)])
        when = max(SECOND, newest - SECOND // 2, when + step)
        text = text.encode("utf-8", "replace").decode()
        lines.append((when, stamped(when, text)))
        written.append(text)
    tail = KubernetesLogStream()
    shown: list[str] = []
    for _ in range(data.draw(st.integers(0, 4))):
        # The log grows between two streams.
        there = lines[: data.draw(st.integers(0, len(lines)))]
        shown += streamed(
            tail, there, data.draw(st.integers(0, 2000)), data.draw(st.lists(st.integers(1, 50), max_size=9))
        )
    shown += streamed(tail, lines, None, [])
    assert shown == written


def test_last_line_without_an_end_is_shown_once() -> None:
    tail = KubernetesLogStream()
    whole, half = stamped(SECOND, "one"), stamped(2 * SECOND, "two").rstrip(b"\n")
    tail.begin()
    assert tail.feed(whole + half) == ["one"]
    tail.begin()
    assert tail.feed(whole + half) == []
    assert tail.finish() == ["two"]
    assert tail.finish() == []


def test_a_new_stream_starts_some_seconds_before_the_newest_line() -> None:
    tail = KubernetesLogStream()
    assert tail.since is None
    tail.begin()
    tail.feed(stamped(10 * SECOND + 5, "x"))
    assert tail.since == stamped((10 - OVERLAP_SECONDS) * SECOND, "").decode()[:19] + "Z"


def test_time_stamps_with_an_offset_are_understood() -> None:
    tail = KubernetesLogStream()
    tail.begin()
    assert tail.feed(b"2026-09-21T14:00:00.000000001+02:00 hello\n") == ["hello"]
    assert tail.since == "2026-09-21T11:59:58Z"


def test_what_the_kubelet_says_itself_has_no_time_stamp_and_is_shown() -> None:
    tail = KubernetesLogStream()
    tail.begin()
    assert tail.feed(b"unable to retrieve container logs for containerd://1\n") == [
        "unable to retrieve container logs for containerd://1"
    ]
    assert tail.since is None


def test_only_the_overlap_is_kept() -> None:
    tail = KubernetesLogStream()
    tail.begin()
    for second in range(20_000):
        tail.feed(stamped(second * SECOND, "x"))
    tail.begin()
    assert len(tail._seen) == OVERLAP_SECONDS + 1
