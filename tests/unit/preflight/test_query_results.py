"""What becomes of questions that are not answered."""

from gpufleet.errors import UserError
from gpufleet.preflight.query_results import QueryResult, QueryRunner


def test_an_answer_may_be_that_there_is_none():
    queries = QueryRunner()
    assert queries.ask(lambda name: {"a": 1}.get(name), "b") == QueryResult(True, None)
    assert queries.reasons == []


def test_a_reason_is_kept_once():
    queries = QueryRunner()

    def denied():
        raise UserError("denied")

    assert queries.ask(denied) == queries.ask(denied) == QueryResult(False)
    assert queries.reasons == ["denied"]


def test_a_missing_extra_is_a_reason():
    queries = QueryRunner()

    def look():
        import gpufleet_no_such_module  # noqa: F401

    assert not queries.ask(look).known
    assert queries.reasons == [
        "gpufleet_no_such_module is not installed; run `pip install '.[accounts]'` in your checkout of gpufleet"
    ]
