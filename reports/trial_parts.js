"use strict";
// The parts of a trial: facts, lanes, steps, the grader's words, scores. `view` is the trial that is shown (trial.js).
(() => {
  const { make, draw, number, counted, seconds, written, block, badge, statusBadge, scrolled } = window.evalkit.parts;
  const ENDINGS = {
    recovered: "put right", milestone: "closed by a milestone", abandoned: "never tried again", unrecovered: "never put right",
    solved: "what follows was not needed for it,",
  };
  const LEGEND = "Every column is a step; a click goes there. Token bars: thinking below in orange, the rest in blue. "
    + "Steps: thoughts blue, calls green, failed calls red and taller.";
  const LANE_KINDS = new Set([...Object.keys(ENDINGS), "loud", "silent", "believed", "doubted", "forbidden", "collateral", "intended", "confirmed", "suspected", "graded", "achieved"]);
  const LOOKS = { believed: "bad", doubted: "good", forbidden: "bad", collateral: "bad", intended: "good", noise: "muted", confirmed: "bad", graded: "muted", achieved: "good" };
  const VISIBILITIES = {
    full: "", summary: "a summary of the thinking", encrypted: "the thinking is encrypted",
    count_only: "only the number of thinking tokens is known", none: "the model shows no thinking", unknown: "",
  };

  function rowsOf(columns) {
    const names = Object.keys(columns);
    const count = names.length ? columns[names[0]].length : 0;
    return Array.from({ length: count }, (_, place) => Object.fromEntries(names.map((name) => [name, columns[name][place]])));
  }


  function facts(trial) {
    const tokens = trial.tokens, time = trial.seconds, list = make("dl", "facts");
    const thinking = [trial.asked && `asked ${trial.asked}`, trial.sent && `sent ${trial.sent}`,
      trial.kept === null || trial.kept === undefined ? null : trial.kept ? "kept to" : "not kept to"].filter(Boolean).join(", ");
    const faults = trial.faults.planned ? `${number(trial.faults.fired)} of ${number(trial.faults.planned)} fired` : null;
    const parts = [
      ["Agent", trial.entrant], ["Task", `${trial.suite}/${trial.task}`], ["Variant", trial.variant],
      ["Epoch", trial.attempt > 1 ? `${trial.epoch}, attempt ${trial.attempt}` : String(trial.epoch)],
      ["Stopped by", trial.stop], ["Reward", trial.reward === null ? null : number(trial.reward)],
      ["Model", trial.served && trial.served !== trial.model ? `${trial.model}, served by ${trial.served}` : trial.model],
      ["Thinking", [thinking, VISIBILITIES[trial.visibility]].filter(Boolean).join("; ")],
      ["Output tokens", tokens.output === null ? null : `${number(tokens.output)} (${number(tokens.thinking)} thinking)`],
      ["Input tokens", tokens.input === null ? null : `${number(tokens.input)}${tokens.cached ? ` + ${number(tokens.cached)} cached` : ""}`],
      ["Cost", trial.usd === null ? "unknown" : `$${number(trial.usd)}`],
      ["Agent's time", [seconds(time.agent), time.model === null ? null : `model ${seconds(time.model)}`,
        time.tools === null ? null : `tools ${seconds(time.tools)}`].filter(Boolean).join(", ")],
      ["Graded", [trial.grader, seconds(time.grading)].filter(Boolean).join(", ")],
      ["Naive grader", trial.naive === null || trial.naive === undefined ? null : trial.naive ? "would have passed it" : "would have failed it"],
      ["Faults", faults], ["Confidence", trial.confidence === null ? null : number(trial.confidence)], ["Run", trial.run],
      ["Replaced characters", trial.replaced === null ? null : number(trial.replaced)],
    ];
    for (const [name, value] of parts) if (value) list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
    return list;
  }

  const isBroken = (step) => (step.exit !== null && step.exit !== undefined && step.exit !== 0) || Boolean(step.error);

  function strip(view, name, title, height, shapes) {
    const svg = draw("svg", { viewBox: `0 0 ${view.steps.length * 10} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const { from, to, top, tall, kind, step, label } of shapes) {
      const rect = draw("rect", { x: from * 10 + 0.5, y: top, width: Math.max((to - from) * 10 - 1, 1), height: tall, class: kind });
      rect.append(draw("title", {}, label));
      rect.addEventListener("click", () => view.go(step));
      svg.append(rect);
    }
    return make("div", `lane ${name}`, make("span", "", title), svg);
  }

  function lanes(view) {
    const { trial, steps } = view, most = Math.max(1, ...steps.map((step) => step.output ?? 0));
    const tokens = [], kinds = [];
    steps.forEach((step, place) => {
      const at = { from: place, to: place + 1, step: step.step };
      if (step.output) {
        const tall = (40 * step.output) / most, thought = (tall * Math.min(step.thinking ?? 0, step.output)) / step.output;
        const label = `step ${step.step}: ${tokenWords(step)}`;
        tokens.push({ ...at, top: 40 - tall, tall: tall - thought, kind: "said", label });
        tokens.push({ ...at, top: 40 - thought, tall: thought, kind: "thinking", label });
      }
      const look = isBroken(step) ? { top: 0, tall: 12, kind: "broken" } : { top: 3, tall: 6, kind: view.kindOf(step) };
      kinds.push({ ...at, ...look, label: `step ${step.step}: ${step.kind}` });
    });
    const box = make("div", "lanes", make("p", "legend", LEGEND));
    if (tokens.length) box.append(strip(view, "tokens", "Output tokens", 40, tokens));
    box.append(strip(view, "kinds", "Steps", 12, kinds));
    for (const lane of trial.lanes) {
      const spans = lane.spans.map((span) => ({
        from: view.place(span.from), to: (span.to === null ? steps.length - 1 : view.place(span.to)) + 1, kind: laneKind(span.kind),
        step: span.from, label: spanWords(span),
      }));
      const tall = 12 / stacked(spans);
      for (const span of spans) Object.assign(span, { top: span.row * tall + tall * 0.15, tall: tall * 0.7 });
      const marks = lane.marks.map((mark) => ({
        from: view.place(mark.step), to: view.place(mark.step) + 1, top: 1, tall: 10, kind: laneKind(mark.kind), step: mark.step,
        label: `step ${mark.step}: ${mark.label}`,
      }));
      // The first mark of a step is the one that matters most: it is drawn last, over the others
      box.append(strip(view, "own", lane.title, 12, [...spans, ...marks.reverse()]));
    }
    box.append(...progress(view));
    return box;
  }

  // The share of checks that pass, over the share of tokens: it holds until it is graded again
  function progress(view) {
    const { progress } = view.trial;
    if (!progress) return [];
    const last = progress.p.at(-1), tall = (p) => 40 - 38 * p;
    const path = progress.at.map((at, place) => `${place ? `H${at * 1000}V` : "M0 "}${tall(progress.p[place])}`).join("");
    const svg = draw("svg", { viewBox: "0 0 1000 41", preserveAspectRatio: "none", role: "img" });
    const words = `Checks that pass, over generated tokens: from ${number(progress.p[0])} to ${number(last)}, ${counted(progress.p.length - 2, "checkpoint")}`;
    svg.append(draw("title", {}, words), draw("path", { d: `${path}V40H0z`, class: "area" }), draw("path", { d: path, class: "curve" }));
    return [make("div", "lane progress", make("span", "", "Checks over tokens"), svg)];
  }

  // Gives each span the first row where it overlaps no other; returns how many rows there are
  function stacked(spans) {
    const ends = [];
    for (const span of [...spans].sort((one, other) => one.from - other.from)) {
      const free = ends.findIndex((end) => end <= span.from);
      span.row = free < 0 ? ends.length : free;
      ends[span.row] = span.to;
    }
    return Math.max(1, ends.length);
  }

  const laneKind = (kind) => (LANE_KINDS.has(kind) ? kind : "other");
  const spanWords = (span) => `${span.label}: ${ENDINGS[span.kind] ?? span.kind}${span.to === null ? "" : ` at step ${span.to}`}`;

  function tokenWords(step) {
    const thinking = step.thinking === null || step.thinking === undefined ? "thinking unknown" : `${number(step.thinking)} of them thinking`;
    return `${number(step.output)} output tokens, ${thinking}`;
  }

  function tokenBar(step, most) {
    const total = Math.max(1, Math.round((20 * step.output) / most));
    const thought = Math.min(total, Math.round((total * (step.thinking ?? 0)) / Math.max(1, step.output)));
    const track = make("span", "track", make("span", `amount thinking w-${thought}`), make("span", `amount said w-${total - thought}`));
    track.title = tokenWords(step);
    return track;
  }

  function head(view, step) {
    const box = make("div", "step-head", view.link(step.step), make("span", "kind", step.kind));
    const what = step.kind === "prompt" ? step.role : step.kind === "act" ? step.tool ?? "no tool" : step.kind === "event" ? step.event : null;
    if (what) box.append(make("span", "what", what));
    if (step.kind === "think" && step.output !== null && step.output !== undefined) {
      box.append(tokenBar(step, view.most), make("span", "seconds", `${number(step.output)} tokens, ${number(step.thinking)} thinking`));
      if (step.finish && !["stop", "tool_calls"].includes(step.finish)) box.append(badge(`finished: ${step.finish}`, "warm"));
    }
    if (step.exit !== null && step.exit !== undefined) box.append(badge(`exit ${step.exit}`, step.exit === 0 ? "good" : "bad"));
    if (step.error) box.append(badge(step.error, "bad"));
    if (step.unparsed) box.append(badge("arguments did not parse", "bad"));
    if (step.approval) box.append(badge(`approval: ${step.approval}`, "muted"));
    if (step.retries) box.append(badge(counted(step.retries, "retry").replace("retrys", "retries"), "warm"));
    for (const mark of view.marks.get(step.step) ?? []) box.append(badge(mark.label, LOOKS[mark.kind] ?? "warm"));
    const times = [seconds(step.seconds), step.at === null || step.at === undefined ? null : `at ${seconds(step.at)}`];
    box.append(make("span", "seconds", times.filter(Boolean).join(", ")));
    return box;
  }

  function notes(view, step) {
    return (view.notes.get(step.step) ?? []).map((parts) => make("p", "step-note", ...parts));
  }

  function body(step) {
    const parts = [];
    const shows = step.visibility === "summary" || (step.kind === "think" && !step.reasoning);
    const hidden = shows ? VISIBILITIES[step.visibility] : "";
    if (hidden) parts.push(make("p", "step-note", hidden));
    if (step.reasoning) parts.push(block(step.reasoning, "reasoning", "thinking"));
    if (step.text) parts.push(block(step.text, "text", step.kind === "prompt" ? "prompt" : "said"));
    if (step.call) parts.push(block(step.call, "call", "call"));
    if (step.observation) parts.push(block(step.observation, "observation", "result"));
    if (step.bytes) parts.push(make("p", "step-note", `The output was cut when it was recorded: ${number(step.bytes)} bytes in all.`));
    if (step.detail) parts.push(block(step.detail, "detail", "detail"));
    if (step.replaced) parts.push(make("p", "step-note", `${counted(step.replaced, "character")} could not be stored.`));
    return parts;
  }

  function gatherLanes(view) {
    const note = (step, ...parts) => view.notes.set(step, [...(view.notes.get(step) ?? []), parts]);
    for (const lane of view.trial.lanes) {
      for (const mark of lane.marks) view.marks.set(mark.step, [...(view.marks.get(mark.step) ?? []), mark]);
      for (const span of lane.spans) {
        const ending = ENDINGS[span.kind] ?? span.kind;
        note(span.from, `${lane.title}: ${span.label} begins here, ${ending}`, ...(span.to === null ? [] : [" at ", view.link(span.to, "step ")]));
        if (span.to !== null && span.to !== span.from) note(span.to, `${lane.title}: ${span.label} ends here, began at `, view.link(span.from, "step "));
        for (const step of span.steps) {
          if (step !== span.from && step !== span.to) note(step, `${lane.title}: ${span.label} again, began at `, view.link(span.from, "step "));
        }
      }
    }
  }

  function scoreTable(view, rows, caption) {
    const table = make("table", "trial-table told-scores", make("caption", "", caption));
    const heads = ["Scorer", "Metric", "Value", "Reason", "Evidence"].map((name) => {
      const cell = make("th", name === "Value" ? "number" : "", name);
      cell.scope = "col";
      return cell;
    });
    const lines = rows.map((row) => {
      const links = row.evidence.flatMap((step, place) => [place ? ", " : "", view.link(step)]);
      return make("tr", "", make("td", "", row.scorer), make("td", "", row.metric),
        make("td", "number", `${number(row.value)}${row.label ? ` (${row.label})` : ""}`),
        make("td", "reason", ...(row.reason ? written(row.reason) : ["–"])), make("td", "evidence", ...(links.length ? links : ["–"])));
    });
    table.append(make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...lines));
    return scrolled(table, caption);
  }

  function verdict(view) {
    const { trial } = view, parts = [make("h4", "", "What the grader said")];
    const line = make("p", "", statusBadge(trial.status));
    if (trial.reward !== null) line.append(` reward ${number(trial.reward)}`);
    parts.push(line);
    for (const [name, value] of trial.rewards ?? []) parts.push(make("p", "step-note", `${name}: ${number(value)}`));
    if (trial.checks) {
      const list = make("ul", "steps checks");
      for (const [name, ok] of trial.checks) list.append(make("li", "", badge(ok ? "ok" : "not ok", ok ? "good" : "bad"), ` ${name}`));
      parts.push(list);
    }
    if (trial.error) {
      parts.push(make("p", "", `${trial.error.origin ?? "unknown origin"}: ${trial.error.type ?? "error"}`));
      if (trial.error.message) parts.push(make("div", "answer", block(trial.error.message, "", "message")));
    }
    if (trial.answer) parts.push(make("h4", "", "Answer"), make("div", "answer", block(trial.answer, "", "answer")));
    return [...evidence(view), ...parts, ...changes(view)];
  }

  function evidence(view) {
    const findings = view.trial.findings;
    if (!findings) return [];
    const caption = "Evidence that the trial was tampered with, confirmed first, and the steps that show it";
    const table = make("table", "trial-table evidence", make("caption", "", caption));
    const heads = ["Kind", "Level", "What", "Resource", "Steps"].map((name) => {
      const cell = make("th", "", name);
      cell.scope = "col";
      return cell;
    });
    const lines = rowsOf(findings.rows).map((row) => {
      const level = [badge(row.level, LOOKS[row.level] ?? "warm")];
      if (!row.held) level.push(" ", badge("not in force", "muted"));
      const links = row.steps.flatMap((step, place) => [place ? ", " : "", view.link(step)]);
      return make("tr", "", make("td", "", `${row.code} ${row.kind}`), make("td", "", ...level), make("td", "reason", row.what),
        make("td", "reason", row.resource ?? "–"), make("td", "", ...(links.length ? links : ["not known"])));
    });
    table.append(make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...lines));
    const parts = [make("h4", "", "Tampering"), scrolled(table, caption)], more = findings.count - lines.length;
    return more > 0 ? [...parts, make("p", "step-note", `${counted(more, "further finding")} not shown here.`)] : parts;
  }

  function changes(view) {
    const effects = view.trial.effects;
    if (!effects) return [];
    const title = make("h4", "", "Lasting changes");
    if (!effects.count) return [title, make("p", "", "The trial changed nothing for good.")];
    const rows = rowsOf(effects.rows), harmless = (row) => (row.class === "intended" || row.class === "noise") && !row.irreversible;
    const bad = rows.filter((row) => !harmless(row)), rest = rows.filter(harmless), more = effects.count - rows.length;
    const caption = "What the trial changed for good, the worst first, and the step that did it";
    const parts = [title];
    if (bad.length) parts.push(changeTable(view, bad, caption));
    if (rest.length) {
      parts.push(make("details", "", make("summary", "", `${counted(rest.length, "change")} that the task asks for or expects`), changeTable(view, rest, caption)));
    }
    return more > 0 ? [...parts, make("p", "step-note", `${counted(more, "further change")} not shown here.`)] : parts;
  }

  function changeTable(view, rows, caption) {
    const table = make("table", "trial-table", make("caption", "", caption));
    const heads = ["Change", "Resource", "Judged", "Severity", "Step"].map((name) => {
      const cell = make("th", name === "Severity" ? "number" : "", name);
      cell.scope = "col";
      return cell;
    });
    const lines = rows.map((row) => {
      const judged = [badge(row.class ?? "not judged", LOOKS[row.class] ?? "warm")];
      if (row.irreversible) judged.push(" ", badge("irreversible", "bad"));
      if (row.transient) judged.push(" ", badge("gone by the end", "muted"));
      const steps = row.step === null ? row.evidence : [row.step, ...row.evidence.filter((step) => step !== row.step)];
      const links = steps.flatMap((step, place) => [place ? ", " : "", view.link(step)]);
      return make("tr", "", make("td", "", row.change), make("td", "reason", row.resource), make("td", "", ...judged),
        make("td", "number", row.severity === null ? "–" : number(row.severity)), make("td", "", ...(links.length ? links : ["not known"])));
    });
    table.append(make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...lines));
    return scrolled(table, caption);
  }

  function scores(view) {
    const rows = rowsOf(view.trial.scores);
    if (!rows.length) return [];
    const known = rows.filter((row) => row.value !== null), unknown = rows.filter((row) => row.value === null);
    const parts = [make("h4", "", "Scores")];
    if (known.length) {
      parts.push(make("details", "scores", make("summary", "", `${counted(known.length, "score")}, each with its reason and the steps it rests on`),
        scoreTable(view, known, "Scores of this trial, with the steps that they rest on")));
    }
    if (unknown.length) {
      parts.push(make("details", "", make("summary", "", `${counted(unknown.length, "metric")} without a value for this trial`),
        scoreTable(view, unknown, "Metrics without a value, and why")));
    }
    return parts;
  }

  Object.assign(window.evalkit.parts, { rowsOf, facts, lanes, head, notes, body, gatherLanes, verdict, scores });
})();
