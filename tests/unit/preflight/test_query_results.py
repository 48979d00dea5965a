"""What becomes of questions that are not answered."""

from gpufleet.errors import UserError
from gpufleet.preflight.query_results import Answer, Doubts


def test_an_answer_may_be_that_there_is_none():
    doubts = Doubts()
    assert doubts.ask(lambda name: {"a": 1}.get(name), "b") == Answer(True, None)
    assert doubts.reasons == []


def test_a_reason_is_kept_once():
    doubts = Doubts()

    def denied():
        raise UserError("denied")

    assert doubts.ask(denied) == doubts.ask(denied) == Answer(False)
    assert doubts.reasons == ["denied"]


def test_a_missing_extra_is_a_reason():
    doubts = Doubts()

    def look():
        import gpufleet_no_such_module  # noqa: F401

    assert not doubts.ask(look).known
    assert doubts.reasons == ["gpufleet_no_such_module is not installed: pip install 'gpufleet[accounts]'"]
