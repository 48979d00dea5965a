"""Price lists over HTTP: streamed, tried again, and one line when it is no use."""

import gzip

import pytest

from gpufleet.catalog.refresh import DownloadError, Downloads


def downloads(**arguments) -> Downloads:
    return Downloads(**{"attempts": 3, "backoff_seconds": 0} | arguments)


def failure(site, **arguments) -> str:
    with pytest.raises(DownloadError) as error:
        downloads(**arguments).lines(f"{site.url}/list.csv", list)
    assert "\n" not in str(error.value)
    return str(error.value).replace(site.url, "SITE")


def test_lines_come_whole_whatever_the_size_of_the_pieces(site):
    long = [f"{number},{'x' * 1000}ä" for number in range(1000)]
    site.answers("\n".join(long))
    assert downloads().lines(f"{site.url}/list.csv", list) == long


def test_compressed_answer(site):
    site.answers(gzip.compress(b"a,b\nc,d\n"), Content_Encoding="gzip")
    assert downloads().lines(f"{site.url}/list.csv", list) == ["a,b", "c,d"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_server_is_asked_again(site, status):
    site.answers("busy", status)
    site.answers("a\nb")
    assert downloads().lines(f"{site.url}/list.csv", list) == ["a", "b"]
    assert len(site.asked) == 2


def test_dropped_connection_is_tried_again(site):
    site.hangs_up()
    site.answers("a")
    assert downloads().lines(f"{site.url}/list.csv", list) == ["a"]
    assert len(site.asked) == 2


def test_body_cut_short_is_read_again_from_the_start(site):
    site.answers("a\nb", size=100)
    site.answers("a\nb\nc")
    assert downloads().lines(f"{site.url}/list.csv", list) == ["a", "b", "c"]
    assert len(site.asked) == 2


def test_body_that_is_always_cut_short(site):
    site.answers("a\nb", size=100)
    assert failure(site).startswith("SITE/list.csv: cannot be read in 3 attempts: ")
    assert len(site.asked) == 3


def test_server_that_is_always_busy(site):
    site.answers("busy", 503)
    assert failure(site) == "SITE/list.csv: cannot be read in 3 attempts: too many 503 error responses"
    assert len(site.asked) == 3


def test_nobody_there(site):
    site.close()
    reason = "Failed to establish a new connection: [Errno 111] Connection refused"
    assert failure(site) == f"SITE/list.csv: cannot be read in 3 attempts: {reason}"


def test_missing_page_is_not_asked_for_again(site):
    site.answers("no", 404)
    assert failure(site) == "SITE/list.csv: the server answers 404 Not Found"
    assert len(site.asked) == 1


def test_what_the_reader_says_is_not_tried_again(site):
    site.answers("a")

    def read(lines):
        raise DownloadError(f"unlike a price list: {next(lines)}")

    with pytest.raises(DownloadError, match="unlike a price list: a"):
        downloads().lines(f"{site.url}/list.csv", read)
    assert len(site.asked) == 1


def test_json(site):
    site.answers('{"Items": [1,\n2]}')
    assert downloads().json(f"{site.url}/prices") == {"Items": [1, 2]}


def test_not_json(site):
    site.answers("<html>")
    with pytest.raises(DownloadError, match=r"/prices: the answer: line 1: is not JSON: "):
        downloads().json(f"{site.url}/prices")


def test_progress_says_how_far_it_is(site):
    site.answers("a" * 600_000)
    steps = []
    downloads(progress=lambda *step: steps.append(step)).lines(f"{site.url}/list.csv", list)
    assert {(url.removeprefix(site.url), total) for url, _, total in steps} == {("/list.csv", 600_000)}
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    assert steps[-1][1] == 600_000
    assert len(steps) > 1


def test_proxy_of_the_environment(site, monkeypatch):
    monkeypatch.setenv("http_proxy", site.url)
    monkeypatch.delenv("no_proxy", raising=False)
    site.answers("a")
    assert downloads().lines("http://prices.example/list.csv", list) == ["a"]
    assert site.asked == ["http://prices.example/list.csv"]
