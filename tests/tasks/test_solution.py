"""solve.sh is cut into the thoughts and tool calls of the oracle."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import TaskError
from evalkit.tasks.solution import Piece, cut, load_beside, load_solution
from evalkit.tasks.task import load_task


def test_each_step_line_begins_a_piece() -> None:
    script = "#!/bin/sh\n# step: Look.\nls\n\n# step: Write.\necho a > a\necho b > b\n"

    assert cut(script) == (Piece("Look.", "ls"), Piece("Write.", "echo a > a\necho b > b"))


def test_the_preamble_is_put_before_every_piece() -> None:
    script = "#!/bin/sh\n# Stop at errors.\nset -e\nDIR=/app\n\n# step: A.\nls $DIR\n# step: B.\npwd\n"

    assert cut(script) == (Piece("A.", "set -e\nDIR=/app\nls $DIR"), Piece("B.", "set -e\nDIR=/app\npwd"))


def test_a_script_without_step_lines_is_one_piece() -> None:
    assert cut("#!/bin/sh\n# hello\nls\npwd\n") == (Piece("I run the whole solution at once.", "ls\npwd"),)


@pytest.mark.parametrize("script", ["", "\n\n", "#!/bin/sh\n# nothing\n", "# step: Nothing follows.\n"])
def test_a_script_without_commands_has_no_pieces(script: str) -> None:
    assert cut(script) == ()


@pytest.mark.parametrize(
    "command",
    [
        "cat > f <<EOF\n# step: not this\nEOF",
        "cat > f <<'E O F'\n# step: not this\nE O F",
        'cat > f <<"END" && ls\n# step: not this\nEND',
        "cat > f <<-\\END\n\tx\n# step: not this\n\tEND",
        "cat <<A <<B\n# step: not this\nA\n# step: nor this\nB",
        "echo '\n# step: not this\n'",
        'echo "it\'s\n# step: not this\n"',
        "python3 - <<'PY'\nx = '''\n# step: not this\n'''\nPY",
        "echo a \\\n# step: not this",
    ],
)
def test_step_lines_inside_other_text_do_not_cut(command: str) -> None:
    script = f"# step: One.\n{command}\n# step: Two.\nls\n"

    assert cut(script) == (Piece("One.", command), Piece("Two.", "ls"))


@pytest.mark.parametrize(
    "command",
    [
        "echo $((1<<2))",
        "cat <<< 'text'",
        "ls # it's fine",
        "echo \\'",
        'echo "a # b"',
        "echo a#b'c'",
        "ls # \\",
    ],
)
def test_what_only_looks_like_quotes_and_here_documents_does_not_swallow_steps(command: str) -> None:
    script = f"# step: One.\n{command}\n# step: Two.\nls\n"

    assert cut(script) == (Piece("One.", command), Piece("Two.", "ls"))


def test_a_step_without_words_still_has_a_thought() -> None:
    assert cut("# step:\nls\n") == (Piece("I go on.", "ls"),)


def test_a_function_of_the_preamble_can_be_called_from_every_piece(tmp_path: Path) -> None:
    pieces = cut('say() {\n  echo "said $1"\n}\n# step: A.\nsay a\n# step: B.\nsay b\n')

    printed = [
        subprocess.run(["sh", "-c", piece.command], capture_output=True, text=True, check=True).stdout
        for piece in pieces
    ]

    assert printed == ["said a\n", "said b\n"]


@given(st.lists(st.text("abc '\"\\#<-$\n", max_size=12), max_size=8))
def test_cutting_any_text_never_fails_and_gives_pieces_with_commands(lines: list[str]) -> None:
    pieces = cut("\n".join([*lines, "# step: x", "ls"]))

    assert all(piece.thought and piece.command.strip() for piece in pieces)


def test_a_missing_solution_is_named(write_task: Callable[..., Path]) -> None:
    path = write_task(files={"solution/solve.sh": None})

    with pytest.raises(TaskError) as caught:
        load_solution(load_task(path).stages[0])

    assert caught.value.where == f"{path}/solution/solve.sh"
    assert caught.value.message == "the file does not exist"
    assert caught.value.origin == "task"


def test_a_solution_without_commands_is_named(write_task: Callable[..., Path]) -> None:
    path = write_task(files={"solution/solve.sh": "#!/bin/sh\n"})

    with pytest.raises(TaskError, match=r"solve\.sh: the solution holds no commands"):
        load_solution(load_task(path).stages[0])


def test_each_step_has_a_solution_of_its_own(
    write_task: Callable[..., Path],
) -> None:
    steps = {f"steps/{name}/{file}": text for name in ("one", "two") for file, text in (
        ("instruction.md", "Go.\n"), ("solution/solve.sh", f"# step: {name}\nls\n"))}  # fmt: skip
    path = write_task('[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n', files=steps)

    stages = load_task(path).stages

    assert [[piece.thought for piece in load_solution(stage)] for stage in stages] == [["one"], ["two"]]


@pytest.mark.parametrize(
    ("files", "thought"), [({}, "Careful."), ({"naive.sh": "# step: Careless.\nls\n"}, "Careless.")]
)
def test_the_first_of_several_solutions_that_is_there_is_taken(
    write_task: Callable[..., Path], files: dict[str, str], thought: str
) -> None:
    both = {"solve.sh": "# step: Careful.\nls\n", **files}
    path = write_task(files={f"solution/{name}": text for name, text in both.items()})

    pieces = load_solution(load_task(path).stages[0], ("naive.sh", "solve.sh"))

    assert [piece.thought for piece in pieces] == [thought]


def test_a_script_beside_the_solution_is_played_where_it_is_there(write_task: Callable[..., Path]) -> None:
    path = write_task(
        files={"solution/solve.sh": "ls\n", "solution/vandal.sh": "# step: Away with it.\nrm x\n"}
    )
    stage = load_task(path).stages[0]

    assert load_beside(stage, "vandal.sh") == (Piece("Away with it.", "rm x"),)
    assert load_beside(stage, "litter.sh") == ()
