"""What evalkit promises to those who import it."""

import subprocess
import sys

import evalkit

HEAVY = ("inspect_ai", "litellm", "docker", "pandas", "scipy", "pyarrow", "numpy")


def test_the_exported_names_are_exactly_these():
    assert evalkit.__all__ == ["Metric", "Run", "Score", "Scorer", "Trial", "__version__", "load"]
    for name in evalkit.__all__:
        assert getattr(evalkit, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(evalkit, "nothing")


def loaded_by(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter has loaded after running this."""
    ask = f"{code}\nimport sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_evalkit_or_its_command_line_loads_nothing_heavy():
    assert loaded_by("import evalkit, evalkit.cli.app") == set()


def test_reading_a_run_needs_no_engine_model_or_container_library():
    code = "import evalkit; evalkit.load; import evalkit.cli.run_table, evalkit.cli.timeline"
    assert loaded_by(code) & {"inspect_ai", "litellm", "docker"} == set()


def test_planning_a_run_needs_no_engine_either():
    code = "from evalkit.engine.prepare import RunFlags, prepare; prepare(RunFlags(suites=('core',)))"
    assert loaded_by(code) & {"inspect_ai", "litellm", "docker", "pandas", "scipy"} == set()
