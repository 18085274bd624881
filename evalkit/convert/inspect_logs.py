"""Logs of Inspect: `.eval`, a zip archive, and `.json`, the same in one object.

    header.json              {"status", "eval": {"task", "model"}, "plan": {"steps", "config"}, "results", "stats"}
    samples/ID_epoch_N.json  {"id", "epoch", "messages", "events", "scores", "model_usage", "error", "attachments"}
    samples/ID_epoch_N/      the same in pieces: sample.json, messages/*.json, events/*.json, attachments/*.json
    _journal/start.json      what was known when the run began: all there is of one that died or goes on

Logs that have one `task_id`, as `eval-retry` and `eval_set` write them, are attempts at the same samples, in the order
in which they were created: of a sample the last attempt counts, and the record keeps the others. A sample that a log
takes over from the one before is a copy. `logs.json` beside the logs is left alone.

One sample is in memory at a time. Steps come from a sample's events, and where these tell of no generation (old logs,
solvers that write messages of their own) from its messages.

| what                    | known?                                                                                  |
|-------------------------|-----------------------------------------------------------------------------------------|
| task, epoch, model      | yes; the agent is the last solver, with the model and the thinking budget               |
| success                 | the first scorer decides; C, yes and true are 1, P is 0.5, I, N, no and false are 0;     |
|                         | several values in one score: the only one, or one named score, reward, correct, ...     |
| unscored                | no score, NaN, an error, cancelled, invalidated                                          |
| thinking, text, calls   | yes; redacted thinking only by its summary                                              |
| results, errors of calls| yes, as the model saw them                                                              |
| exit codes              | where a call ran exactly one command in the sandbox                                      |
| stdout and stderr       | no: Inspect keeps them mixed, and cut to some lines                                     |
| tokens                  | of every generation; of old logs without events, of the sample as a whole               |
| cost                    | where Inspect knew prices                                                               |
| time                    | yes; the agent's is that of the solvers, else that of the whole sample;                 |
|                         | `retry_s` is all waiting: for retries, rate limits and connections                      |
| other models (graders)  | as `intervention` events, and in no total                                               |
| why it stopped          | yes; a limit of a custom kind is only an event                                          |
| effects                 | no                                                                                      |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.inspect_archive import Archive, is_archive, open_archive
from evalkit.convert.inspect_members import object_in, samples_in
from evalkit.convert.inspect_sample import convert_sample
from evalkit.convert.inspect_setup import setup_of
from evalkit.convert.inspect_totals import HeaderCheck, UsageCheck
from evalkit.convert.json_items import JsonItems
from evalkit.convert.json_text import kind_of
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import is_object

Raw = Mapping[str, object]
_HEADER, _START = "header.json", "_journal/start.json"
_MEMBERS = (b"header.json", b"samples/", b"_journal/", b"summaries.json", b"reductions.json")
_NAME_AT = 30
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[][{}]', re.DOTALL)
_OBJECT = re.compile(rb"\s*:\s*\{")
_TASK = re.compile(rb'"(?:task|task_id|run_id)"\s*:')
_STATE = re.compile(rb'"(?:status|version)"\s*:')


class _Inspect:
    name = "inspect"

    def expects(self, name: str) -> bool:
        return name.endswith(".eval")

    def recognises(self, source: Source) -> bool:
        head = source.head
        if is_archive(head):
            return source.name.endswith(".eval") or head[_NAME_AT:].startswith(_MEMBERS)
        text = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
        place = _place_of_eval(text)
        return place is not None and bool(_TASK.search(text, place)) and bool(_STATE.search(text))

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        if is_archive(source.head):
            with open_archive(source, notes) as archive:
                yield from _trials(_header(archive, notes), samples_in(archive, notes), notes, options)
        elif source.name.endswith(".eval") and not source.head.lstrip().startswith(b"{"):
            raise Refused(
                "neither a zip archive nor JSON, as a log of Inspect is" if source.head else "empty"
            )
        else:
            yield from _trials(
                _json_header(source), JsonItems(source, notes).items("samples"), notes, options
            )


def _place_of_eval(text: bytes) -> int | None:
    """Where a JSON object says what was evaluated. The headers of many logs in one object, as Inspect's `logs.json`
    beside its logs has them, are none.
    """
    depth = 0
    for token in _TOKEN.finditer(text) if text.startswith(b"{") else ():
        if token[0] in b"{[":
            depth += 1
        elif token[0] in b"}]":
            depth -= 1
        elif depth == 1 and token[0] == b'"eval"' and _OBJECT.match(text, token.end()):
            return token.end()
    return None


def _trials(header: Raw, samples: Iterator[object], notes: Notes, options: Options) -> Iterator[Converted]:
    """Every sample as a trial; one that cannot be read is a loss."""
    if not is_object(header.get("eval")):
        raise Refused("no log of Inspect: it does not say what was evaluated")
    setup = setup_of(header, notes, options)
    check, usage = HeaderCheck(header), UsageCheck()
    for place, sample in enumerate(samples):
        if not is_object(sample):
            notes.lose(f"sample {place + 1} holds {kind_of(sample)}, not an object")
            continue
        try:
            told = convert_sample(sample, setup, notes, options, usage)
        except RecursionError:
            notes.lose(f"sample {str(sample.get('id'))[:100]}: nested too deeply")
            continue
        except Refused as problem:
            notes.lose(f"sample {place + 1}: {problem}")
            continue
        check.add(sample)
        yield told
    if not check.samples and not notes.losses:
        status = f", its status is {setup.status}" if setup.status else ""
        raise Refused(f"holds no samples{status}{check.claim()}")
    if setup.status is None:
        planned = check.planned()
        of = "" if planned is None else f" of {planned}"
        notes.lose(f"the run died or goes on: without its results, only {check.samples}{of} samples are here")
    check.finish(notes)
    usage.finish(notes)


def _header(archive: Archive, notes: Notes) -> Raw:
    """The log's header; of a run that died, what it had written when it began, without a status."""
    if _HEADER in archive:
        return object_in(archive.read(_HEADER), notes)
    if _START in archive:
        return {
            key: value for key, value in object_in(archive.read(_START), notes).items() if key != "status"
        }
    raise Refused("no log of Inspect: the archive has neither a header nor a journal")


def _json_header(source: Source) -> Raw:
    """What a JSON log says before its samples, and where it does not say what was evaluated there, all but them."""
    items = JsonItems(source, Notes())
    header = items.header(until="samples")
    return header if "eval" in header else items.header("samples", "reductions")


IMPORTER: Importer = _Inspect()
