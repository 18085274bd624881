"""Does `auto` know every public trajectory, and does no format claim another's?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalkit
from evalkit.convert.formats import AUTO, importer_of, importers
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.notes import Refused
from evalkit.convert.source import Source

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
HOME = {
    "inspect_ai": "inspect",
    "metr_inspect_action": "inspect",
    "mini_swe_agent": "mini-swe-agent",
    "tau_bench": "tau-bench",
    "tau2_bench": "tau2",
    "verifiers": "verifiers",
    "inspect_scout/atif": "atif",
    "inspect_scout/claude_code": "claude-code",
}
BESIDE = {"expected.json", "exit_statuses.yaml", "metadata.json", "SOURCES.tsv"}
REFUSED = {
    "inspect_ai/cancelled_no_samples.json",
    "inspect_ai/git_lfs_pointer.eval",
    "inspect_ai/eval_set/2024-08-29T15-11-17_popularity.json",
    "inspect_ai/eval_set/2024-08-29T15-11-18_popularity_error.json",
    "weird/empty.traj.json",
    "weird/half.eval",
    "weird/lfs_pointer.eval",
    "weird/not_a_zip.eval",
    "weird/top_level_list.traj.json",
}
PARTLY = {
    "weird/mixed_lines.jsonl",
    "weird/no_header.eval",
    "weird/nul_raw.jsonl",
    "weird/truncated_last_line.jsonl",
}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public trajectories are not here")


def claims(path):
    """The formats that recognise a file."""
    found = []
    for importer in importers(AUTO):
        try:
            if importer.recognises(Source(path)):
                found.append(importer.name)
        except Refused:
            pass
    return found


def test_no_file_is_claimed_by_two_formats():
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert len(files) > 200
    assert {str(path.relative_to(DATA)): found for path in files if len(found := claims(path)) > 1} == {}


@pytest.mark.parametrize("folder", HOME)
def test_every_trajectory_is_known_by_its_format(folder):
    files = [path for path in (DATA / folder).rglob("*") if path.is_file()]
    known = {name for path in files for name in claims(path)}
    assert known == {HOME[folder]}


def test_what_is_no_trajectory_is_left_alone():
    for name in ("expected.json", "README.md", "SOURCES.tsv", "verify.py", "aider/polyglot_leaderboard.yml"):
        assert importer_of(Source(DATA / name), importers(AUTO)) is None


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return import_run(AUTO, [DATA], tmp_path_factory.mktemp("all") / "run", Options())


def test_all_of_it_is_one_run_and_only_the_bad_files_are_missing(everything):
    def names(reports):
        return {str(Path(report.name).relative_to(DATA)) for report in reports}

    assert names(report for report in everything.files if report.refused) == REFUSED
    assert names(report for report in everything.files if report.notes.losses) == PARTLY
    rows = evalkit.load(everything.path).rows()
    assert len(rows) == everything.adding.trials == sum(report.trials for report in everything.files)
    assert {row.source for row in rows} == set(HOME.values()) | {"openai-messages"}


def test_every_trial_says_where_it_came_from(everything):
    for row in evalkit.load(everything.path).rows():
        path = row.source_uri.partition("#")[0]
        assert Path(path).is_file()
        assert row.status in {"passed", "failed", "unscored"}


def test_no_invented_secret_is_stored_anywhere(everything):
    weird = json.loads((DATA / "weird" / "secret_fields.traj.json").read_text())
    secrets = [value for value in texts_under_secret_names(weird) if len(value) > 8]
    assert secrets
    stored = b"".join(path.read_bytes() for path in everything.path.rglob("*") if path.is_file())
    for table in ("trials", "steps"):
        stored += json.dumps(
            getattr(evalkit.load(everything.path), table).to_table().to_pylist(), default=str
        ).encode()
    assert [secret for secret in secrets if secret.encode() in stored] == []


def texts_under_secret_names(value, named=False):
    if isinstance(value, dict):
        for key, item in value.items():
            secret = any(word in key.lower() for word in ("api_key", "authorization", "password", "token_"))
            yield from texts_under_secret_names(item, named=secret)
    elif isinstance(value, list):
        for item in value:
            yield from texts_under_secret_names(item, named)
    elif named and isinstance(value, str):
        yield value
