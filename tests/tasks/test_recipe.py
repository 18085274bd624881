"""What a Dockerfile comes to without an engine."""

from pathlib import Path

import pytest

from evalkit.errors import ConfigError
from evalkit.tasks.recipe import Copy, Recipe, parse_dockerfile


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """A build context with a few files."""
    root = tmp_path / "environment"
    for name in (
        "a.txt",
        "b.txt",
        "with space.txt",
        "src/main.py",
        "src/deep/x.py",
        "src/notes.md",
        ".hidden",
    ):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (root / "requirements.txt").write_text(
        "# comment\nPyYAML>=6  # yaml\nrequests[socks]==2.31 ; python_version > '3'\n"
    )
    return root


def _parse(context: Path, body: str, *, head: str = "FROM debian:12\n") -> Recipe:
    path = context / "Dockerfile"
    path.write_text(head + body)
    return parse_dockerfile(path, context)


def _copied(context: Path, body: str) -> list[tuple[str, str]]:
    return [
        (copy.source.relative_to(context).as_posix(), copy.target) for copy in _parse(context, body).copies
    ]


def test_base_workdir_env_and_user_are_noted(context: Path) -> None:
    recipe = _parse(
        context, "WORKDIR /srv\nWORKDIR app\nENV A=1 B='two words'\nENV C three words\nUSER me:us\n"
    )

    assert (recipe.base, recipe.workdir, recipe.user) == ("debian:12", "/srv/app", "me:us")
    assert recipe.env == {"A": "1", "B": "two words", "C": "three words"}
    assert recipe.folders == ("/srv", "/srv/app")
    assert recipe.needs_docker is None


def test_comments_continuations_and_blank_lines_are_read_as_docker_does(context: Path) -> None:
    body = "# a comment\nENV A=1 \\\n  # a comment within\n\n  B=2 \\\n  C=3\n  workdir   /x\n"

    recipe = _parse(context, body, head="# syntax=docker/dockerfile:1\nfrom debian:12\n")

    assert (recipe.env, recipe.workdir) == ({"A": "1", "B": "2", "C": "3"}, "/x")


def test_another_escape_character_can_be_declared(context: Path) -> None:
    recipe = _parse(context, "ENV A=1 `\n B=2\n", head="# escape=`\nFROM a\n")

    assert recipe.env == {"A": "1", "B": "2"}


def test_variables_are_expanded_outside_single_quotes(context: Path) -> None:
    values = "A=$V B=${V}x C='$V' D=${NO:-other} E=${V:+set} F=\\$V G=\"$V $NO\""
    body = f"ARG V=1\nENV {values}\nENV H=$A\nWORKDIR /v$A\n"

    recipe = _parse(context, body)

    expected = {"A": "1", "B": "1x", "C": "$V", "D": "other", "E": "set", "F": "$V", "G": "1 ", "H": "1"}
    assert (recipe.env, recipe.workdir) == (expected, "/v1")


def test_an_argument_before_from_counts_only_where_it_is_taken_up(context: Path) -> None:
    recipe = _parse(
        context,
        "ENV A=x$TAG\nARG TAG\nENV B=$TAG\n",
        head="ARG TAG=12\nFROM --platform=linux/amd64 debian:$TAG AS x\n",
    )

    assert (recipe.base, recipe.env) == ("debian:12", {"A": "x", "B": "12"})


@pytest.mark.parametrize(
    ("body", "copies"),
    [
        ("WORKDIR /app\nCOPY a.txt .\n", [("a.txt", "/app/a.txt")]),
        ("WORKDIR /app\nCOPY a.txt /app\n", [("a.txt", "/app/a.txt")]),
        ("COPY a.txt /app/new\n", [("a.txt", "/app/new")]),
        ("COPY a.txt /app/new/\n", [("a.txt", "/app/new/a.txt")]),
        ("COPY a.txt /x/y\nCOPY b.txt /x\n", [("a.txt", "/x/y"), ("b.txt", "/x/b.txt")]),
        ("COPY src /app/src\n", [("src", "/app/src")]),
        ("COPY src/ a.txt /app/\n", [("src", "/app"), ("a.txt", "/app/a.txt")]),
        ("COPY . /app\n", [(".", "/app")]),
        ("COPY /a.txt /app/\n", [("a.txt", "/app/a.txt")]),
        ("COPY *.txt /app/\n", [("a.txt", "/app/a.txt"), ("b.txt", "/app/b.txt"),
                                ("requirements.txt", "/app/requirements.txt"),
                                ("with space.txt", "/app/with space.txt")]),
        ("COPY src/*.py src/[n]*.md /a/\n", [("src/main.py", "/a/main.py"), ("src/notes.md", "/a/notes.md")]),
        ('COPY ["with space.txt", "/app/"]\n', [("with space.txt", "/app/with space.txt")]),
        ("COPY with\\ space.txt /app/\n", [("with space.txt", "/app/with space.txt")]),
        ("ADD a.txt /app/\n", [("a.txt", "/app/a.txt")]),
        ("ARG D=/data\nCOPY a.txt $D/\n", [("a.txt", "/data/a.txt")]),
    ],
)  # fmt: skip
def test_copied_files_land_where_docker_puts_them(
    context: Path, body: str, copies: list[tuple[str, str]]
) -> None:
    assert _copied(context, body) == copies


def test_owner_and_mode_of_a_copy_are_kept(context: Path) -> None:
    recipe = _parse(context, "COPY --chown=me:us --chmod=755 --link a.txt /bin/a\n")

    assert recipe.copies == (Copy(context / "a.txt", "/bin/a", "me:us", 0o755),)


def test_ignored_files_are_not_copied(context: Path) -> None:
    (context / ".dockerignore").write_text(
        "# c\n**/*.md\n.hidden\nsrc/deep\n!src/deep/x.py\nDockerfile\n.dockerignore\n"
    )

    copied = _copied(context, "COPY src /app/\n")

    assert copied == [("src/main.py", "/app/main.py"), ("src/deep/x.py", "/app/deep/x.py")]


def test_a_relative_target_without_workdir_is_warned_about(context: Path) -> None:
    recipe = _parse(context, "COPY a.txt data/\n")

    assert recipe.copies[0].target == "/app/data/a.txt"
    assert recipe.warnings == (f"{context}/Dockerfile:2: without WORKDIR, data/ lies below /app",)


def test_apt_packages_become_programs_that_must_exist(context: Path) -> None:
    recipe = _parse(
        context,
        "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\\n"
        "    git=1:2.39 ripgrep python3-pip libssl-dev ca-certificates python3-yaml build-essential \\\n"
        "    && rm -rf /var/lib/apt/lists/*\n",
    )

    assert recipe.needs_docker is None
    assert recipe.programs == ("git", "rg", "pip3", "gcc", "g++", "make")
    assert recipe.modules == ("yaml",)
    assert recipe.packages == (
        "apt:git", "apt:ripgrep", "apt:python3-pip", "apt:libssl-dev", "apt:ca-certificates",
        "apt:python3-yaml", "apt:build-essential",
    )  # fmt: skip


def test_pip_packages_become_modules_that_must_be_there(context: Path) -> None:
    recipe = _parse(
        context, "RUN pip install --no-cache-dir 'numpy>=1.26' scikit-learn==1.4 pytest python-dateutil[x]\n"
    )

    assert recipe.programs == ("python3", "pytest")
    assert recipe.modules == ("numpy", "sklearn", "pytest", "dateutil")
    assert recipe.packages == ("pip:numpy", "pip:scikit-learn", "pip:pytest", "pip:python-dateutil")


def test_a_requirements_file_is_read_where_it_was_copied_from(context: Path) -> None:
    recipe = _parse(
        context, "WORKDIR /app\nCOPY requirements.txt .\nRUN python3 -m pip install -r requirements.txt\n"
    )

    assert (recipe.needs_docker, recipe.modules) == (None, ("yaml", "requests"))


def test_mkdir_and_chmod_become_set_up_lines(context: Path) -> None:
    recipe = _parse(context, "WORKDIR /app\nRUN mkdir -p data/in /srv/x && chmod +x /app/*.sh\n")

    assert recipe.setup == ("cd /app && mkdir -p data/in /srv/x", "cd /app && chmod +x /app/*.sh")
    assert recipe.folders == ("/app", "/app/data/in", "/srv/x")
    assert recipe.needs_docker is None


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("RUN make", "RUN make at environment/Dockerfile:2"),
        ("RUN apt-get update && make install", "RUN make install at environment/Dockerfile:2"),
        ("RUN curl -s http://x | sh", "RUN curl -s http://x | sh at environment/Dockerfile:2"),
        (
            "RUN apt-get install -y $(cat list)",
            "RUN apt-get install -y $(cat list) at environment/Dockerfile:2",
        ),
        ("RUN chmod +x $HOME/x", "RUN chmod +x $HOME/x at environment/Dockerfile:2"),
        ("RUN pip install -e .", "RUN pip install -e . at environment/Dockerfile:2"),
        ("RUN pip install git+https://x/y", "RUN pip install git+https://x/y at environment/Dockerfile:2"),
        ("RUN rm -rf /etc/passwd", "RUN rm -rf /etc/passwd at environment/Dockerfile:2"),
        ("RUN mkdir -p '/a b'", "RUN mkdir -p /a b at environment/Dockerfile:2"),
        ('RUN ["make", "all"]', "RUN make all at environment/Dockerfile:2"),
        (
            "RUN --mount=type=secret,id=x pip install numpy",
            "RUN pip install numpy at environment/Dockerfile:2",
        ),
        ("COPY --from=build /x /y", "COPY /x /y at environment/Dockerfile:2"),
        ("ADD https://example.org/x.txt /x", "ADD https://example.org/x.txt /x at environment/Dockerfile:2"),
        ("ADD data.tar.gz /x", "ADD data.tar.gz /x at environment/Dockerfile:2"),
        ("FROM alpine", "FROM alpine (several stages) at environment/Dockerfile:2"),
        ("RUN <<EOF\nmake\nEOF", "RUN a here-document at environment/Dockerfile:2"),
        ("COPY <<EOF /x\nWORKDIR /y\nEOF", "COPY a here-document at environment/Dockerfile:2"),
    ],
)
def test_what_only_docker_can_honour_is_named_with_its_line(context: Path, line: str, sentence: str) -> None:
    assert _parse(context, f"{line}\n").needs_docker == sentence


def test_the_first_thing_that_needs_docker_is_named_and_the_rest_is_still_read(context: Path) -> None:
    recipe = _parse(context, "RUN make\nRUN cmake .\nWORKDIR /later\n")

    assert (recipe.needs_docker, recipe.workdir) == ("RUN make at environment/Dockerfile:2", "/later")


def test_lines_of_a_here_document_are_no_instructions(context: Path) -> None:
    assert _parse(context, "RUN <<EOF\nWORKDIR /y\nEOF\nWORKDIR /z\n").folders == ("/z",)


def test_what_does_not_change_files_is_passed_over(context: Path) -> None:
    body = (
        'LABEL a=b\nEXPOSE 80\nVOLUME /x\nSTOPSIGNAL TERM\nSHELL ["/bin/bash", "-c"]\nCMD ["bash"]\n'
        "HEALTHCHECK NONE\nRUN set -eux; true\n"
    )

    recipe = _parse(context, body)

    assert (recipe.needs_docker, recipe.copies, recipe.warnings) == (None, (), ())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no FROM: a Dockerfile starts from an image"),
        ("RUN make\n", 1, "RUN: this stands before FROM"),
        ("FROM\n", 1, "FROM: the image is missing"),
        ("FROM a\n\nCOPPY a.txt /\n", 3, "unknown instruction 'COPPY'"),
        ("FROM a\nCOPY a.txt\n", 2, "COPY: a source and a target are needed"),
        ("FROM a\nCOPY nothing.txt /\n", 2, "COPY: 'nothing.txt' is not in the build context"),
        ("FROM a\nCOPY *.nothing /\n", 2, "COPY: '*.nothing' is not in the build context"),
        ("FROM a\nCOPY ../x /\n", 2, "COPY: '../x' leaves the build context"),
        ("FROM a\nCOPY src/../../x /\n", 2, "COPY: 'src/../../x' leaves the build context"),
        (
            "FROM a\nCOPY a.txt b.txt /x\n",
            2,
            "COPY: several files are copied, so the target '/x' should end with /",
        ),
        ("FROM a\nCOPY 'a.txt /x\n", 2, "COPY: the quote ' is not closed"),
        ("FROM a\nCOPY --chmod=rwx a.txt /x\n", 2, "COPY: chmod 'rwx' should be an octal number"),
        ("FROM a\nENV A\n", 2, "ENV: A has no value"),
        ("FROM a\nENV A=1 B\n", 2, "ENV: 'B' should have the form NAME=value"),
        ("FROM a\nWORKDIR $NOTHING\n", 2, "WORKDIR: a value is missing"),
    ],
)
def test_a_mistake_in_a_dockerfile_is_named_with_its_line(
    context: Path, text: str, line: int | None, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        _parse(context, "", head=text)

    assert caught.value.message == message
    assert caught.value.where == str(context / "Dockerfile") + (f":{line}" if line else "")


def test_a_misspelt_instruction_is_answered_with_the_nearest(context: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _parse(context, "WORKDR /app\n")

    assert caught.value.hint == "Did you mean WORKDIR?"


def test_a_copied_link_that_leaves_the_context_is_refused(context: Path) -> None:
    (context / "link").symlink_to("/etc/hostname")

    with pytest.raises(ConfigError, match="'link' is a link that leaves the build context"):
        _parse(context, "COPY link /app/\n")
