"""The verdict channel: what is believed, and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import GraderError
from evalkit.grading.verdict import read_verdict


def judge(files, expected=(), pass_reward=1.0, nonce="n0nce", signs=False):
    encoded = {
        name: value if isinstance(value, bytes) else json.dumps(value).encode()
        for name, value in files.items()
    }
    return read_verdict(encoded, nonce=nonce, signs=signs, expected=expected, pass_reward=pass_reward)


def ctrf(**checks):
    tests = [{"name": name, "status": status, "duration": 1} for name, status in checks.items()]
    return {"results": {"tool": {"name": "t"}, "summary": {}, "tests": tests}}


def test_a_reward_in_text_is_read():
    verdict = judge({"reward.txt": b" 1\n"})
    assert (verdict.reward, verdict.passed, verdict.checks) == (1.0, True, None)


def test_a_reward_below_the_pass_reward_fails():
    assert judge({"reward.txt": b"0.5"}).passed is False
    assert judge({"reward.txt": b"0.5"}, pass_reward=0.5).passed is True


def test_reward_json_beats_reward_txt():
    verdict = judge({"reward.txt": b"1", "reward.json": {"reward": 0.25, "style": 1}})
    assert verdict.reward == 0.25
    assert verdict.rewards == {"reward": 0.25, "style": 1.0}


def test_a_single_unnamed_reward_is_the_reward():
    assert judge({"reward.json": {"score": 1}}).passed is True
    assert judge({"reward.json": 1}).reward == 1.0


def test_several_rewards_without_one_called_reward_are_no_verdict():
    with pytest.raises(GraderError, match="none is called 'reward'"):
        judge({"reward.json": {"a": 1, "b": 0}})


@pytest.mark.parametrize("text", [b"nan", b"inf", b"-inf", b"", b"one", b"\xff\xfe", b"1e999"])
def test_a_reward_that_is_no_finite_number_is_no_verdict(text):
    with pytest.raises(GraderError, match=r"reward\.txt"):
        judge({"reward.txt": text})


@pytest.mark.parametrize(
    "value", ['{"reward": NaN}', '{"reward": true}', '{"reward": "1"}', '{"reward": null}', "{", "[]"]
)
def test_a_reward_json_without_a_finite_number_is_no_verdict(value):
    with pytest.raises(GraderError, match=r"reward\.json"):
        judge({"reward.json": value.encode()})


def test_a_huge_integer_is_no_verdict():
    with pytest.raises(GraderError, match="too large"):
        judge({"reward.json": b'{"reward": 1' + b"0" * 400 + b"}"})


def test_no_file_at_all_is_no_verdict():
    with pytest.raises(GraderError, match="wrote no reward"):
        judge({})


def test_checks_without_a_reward_are_no_verdict():
    with pytest.raises(GraderError, match="wrote no reward"):
        judge({"ctrf.json": ctrf(unit="passed")})


def test_a_missing_check_is_a_failed_one_even_with_full_reward():
    verdict = judge({"reward.txt": b"1", "ctrf.json": ctrf(unit="passed")}, expected=("unit", "integration"))
    assert verdict.checks == {"unit": True, "integration": False}
    assert verdict.passed is False


def test_an_unexpected_check_is_an_error():
    with pytest.raises(GraderError, match="does not declare: extra"):
        judge({"reward.txt": b"1", "ctrf.json": ctrf(unit="passed", extra="passed")}, expected=("unit",))


def test_declared_checks_that_nobody_reported_are_an_error():
    with pytest.raises(GraderError, match="reported none of them"):
        judge({"reward.txt": b"1"}, expected=("unit",))


def test_a_check_reported_twice_is_an_error():
    twice = ctrf(unit="passed")
    twice["results"]["tests"] *= 2
    with pytest.raises(GraderError, match="twice"):
        judge({"reward.txt": b"1", "ctrf.json": twice}, expected=("unit",))


@pytest.mark.parametrize("status", ["failed", "skipped", "pending", "other"])
def test_only_passed_counts_as_passed(status):
    verdict = judge({"reward.txt": b"1", "ctrf.json": ctrf(unit=status)}, expected=("unit",))
    assert verdict.passed is False


def test_all_declared_checks_passed_and_reward_passes():
    assert judge({"reward.txt": b"1", "ctrf.json": ctrf(unit="passed")}, expected=("unit",)).passed is True


def test_all_checks_passed_does_not_beat_a_low_reward():
    assert judge({"reward.txt": b"0", "ctrf.json": ctrf(unit="passed")}, expected=("unit",)).passed is False


def test_a_verdict_with_the_nonce_beats_everything_else():
    word = {"nonce": "n0nce", "reward": 0, "checks": {"unit": False}}
    verdict = judge({"verdict.json": word, "reward.txt": b"1"}, expected=("unit",))
    assert (verdict.reward, verdict.passed, verdict.checks) == (0.0, False, {"unit": False})


@pytest.mark.parametrize("planted", [b'{"nonce": "guess", "reward": 1}', b"{", b"[]", b"\xff"])
def test_a_verdict_without_the_nonce_is_nobodys_word(planted):
    assert judge({"verdict.json": planted, "reward.txt": b"0"}).passed is False
    assert judge({"verdict.json": planted, "reward.txt": b"1"}).passed is True


@pytest.mark.parametrize(
    "files",
    [
        {"reward.txt": b"1"},
        {"verdict.json": {"nonce": "guess", "reward": 1}, "reward.txt": b"1"},
        {"verdict.json": {"reward": 1}},
        {},
    ],
)
def test_where_the_grader_signs_nothing_unsigned_is_believed(files):
    with pytest.raises(GraderError, match="did not sign"):
        judge(files, signs=True)


def test_where_the_grader_signs_its_word_is_enough():
    assert judge({"verdict.json": {"nonce": "n0nce", "reward": 1}}, signs=True).passed is True


def test_a_verdict_whose_check_is_no_boolean_is_an_error():
    with pytest.raises(GraderError, match="neither true nor false"):
        judge({"verdict.json": {"nonce": "n0nce", "reward": 1, "checks": {"unit": 1}}})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["verdict.json", "reward.json", "reward.txt", "ctrf.json"]),
        st.binary(max_size=40) | json_values.map(lambda value: json.dumps(value).encode()),
    )
)
def test_whatever_a_grader_writes_is_a_verdict_or_a_grader_error(files):
    try:
        verdict = judge(files, expected=("unit",))
    except GraderError:
        return
    assert verdict.passed == (verdict.reward >= 1.0 and verdict.checks == {"unit": True})


def signed(**word):
    return {"verdict.json": {"nonce": "n0nce", "reward": 1, **word}}


def test_what_a_signed_verdict_tells_of_tampering_is_kept():
    told = {"code": "T6", "level": "confirmed", "what": "f returns an Any, which equals anything"}
    (finding,) = judge(signed(evidence=[told])).evidence
    assert (finding.code, finding.level, finding.what) == ("T6", "confirmed", told["what"])
    assert (finding.source, finding.steps, finding.in_force) == ("grader", (), True)
    assert judge(signed()).evidence == ()


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        "T6",
        [None],
        [{"code": "T6", "level": "confirmed"}],
        [{"code": "T6", "level": "confirmed", "what": " "}],
        [{"code": "T99", "level": "confirmed", "what": "x"}],
        [{"code": "twin", "level": "confirmed", "what": "x"}],
        [{"code": "T6", "level": "certain", "what": "x"}],
        [{"code": ["T6"], "level": "confirmed", "what": "x"}],
        [{"code": "T6", "level": "suspected", "what": "x"}] * 101,
    ],
)
def test_evidence_of_another_form_is_an_error_of_the_grader(evidence):
    with pytest.raises(GraderError, match=r"verdict\.json: evidence"):
        judge(signed(evidence=evidence))


def test_evidence_that_nobody_signed_is_passed_over():
    files = {"verdict.json": {"nonce": "other", "reward": 1, "evidence": "x"}, "reward.txt": b"0"}
    assert judge(files).evidence == ()
