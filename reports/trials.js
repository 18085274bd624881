"use strict";
// The list of trials, and how a trial is found in the page or beside it. What trials say is hostile: it reaches the page
// as textContent only, and nothing of it becomes markup, a class, an id or an address, but for the quoted part of a #hash.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const FOLD_LINES = 12, FOLD_CHARS = 1500, ROWS = 200, KEPT_SHARDS = 4;
  const STATUSES = new Set(["passed", "failed", "unscored"]);

  // Building

  function make(tag, classes, ...children) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function draw(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function number(value) {
    if (value === null || value === undefined) return "–";
    return value.toLocaleString("en", Number.isInteger(value) ? {} : { maximumSignificantDigits: 6 });
  }

  // All of a column have the decimals that its largest needs.
  const decimalsFor = (values) => (values.some((value) => value >= 100) ? 1 : 2);
  const fixed = (value, decimals) =>
    value === null || value === undefined ? "–" : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

  const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
  const seconds = (value) => (value === null || value === undefined ? null : `${number(Math.round(value * 1000) / 1000)} s`);

  function hashOf(parameters) {
    const kept = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
    return `#${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}`;
  }

  function link(text, parameters) {
    const element = make("a", "", text);
    element.setAttribute("href", hashOf(parameters));
    return element;
  }

  // Texts: a string, or [beginning, characters left out, end]

  function whole(text) {
    return Array.isArray(text) ? `${text[0]}${text[2]}` : text;
  }

  function written(text) {
    if (!Array.isArray(text)) return [text];
    return [text[0], make("span", "left-out", `\n… ${number(text[1])} characters left out …\n`), text[2]];
  }

  function block(text, classes, name) {
    const shown = whole(text);
    const pre = make("pre", classes, ...written(text));
    const lines = shown.split("\n").length;
    if (!Array.isArray(text) && lines <= FOLD_LINES && shown.length <= FOLD_CHARS) {
      return make("div", "", make("span", "unseen", `${name}: `), pre);
    }
    const first = shown.slice(0, 400).trimStart().split("\n", 1)[0].slice(0, 100);
    const size = lines > 1 ? counted(lines, "line") : counted(shown.length, "character");
    return make("details", "fold", make("summary", "", `${name}, ${size}: `, make("code", "", first)), pre);
  }

  function badge(text, kind) {
    const element = make("span", `badge ${kind}`, text);
    element.title = text;
    return element;
  }

  const statusBadge = (status) => badge(status, STATUSES.has(status) ? status : "muted");

  function scrolled(table, label) {
    const box = make("div", "table-scroll", table);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", label);
    return box;
  }

  function button(text, pressed) {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", pressed);
    return element;
  }

  // Data

  async function decode(base64) {
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack them");
    try {
      const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
      const opened = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return JSON.parse(await new Response(opened).text());
    } catch {
      throw new Error("the data are damaged");
    }
  }

  const loaded = new Map();
  const awaited = new Map();

  function shard(place, base64) {
    awaited.get(place)?.(base64);
    awaited.delete(place);
  }

  function shardText(place) {
    const inline = document.getElementById(`data-trials-${place}`);
    if (inline) return Promise.resolve(inline.textContent);
    return new Promise((resolve, reject) => {
      awaited.set(place, resolve);
      const script = document.createElement("script");
      script.src = `trials/${String(place).padStart(4, "0")}.js`;
      const end = (problem) => {
        script.remove();
        if (awaited.delete(place)) reject(new Error(`the file ${script.getAttribute("src")} ${problem}`));
      };
      // A file that is no script, or another one, has been run by now and has handed nothing over.
      script.addEventListener("load", () => end("is damaged, or no part of this report"));
      script.addEventListener("error", () => end("is not next to this page, or cannot be read"));
      document.head.append(script);
    });
  }

  function loadShard(place) {
    if (!loaded.has(place)) {
      const trials = shardText(place).then(decode);
      trials.catch(() => loaded.delete(place));
      loaded.set(place, trials);
      if (loaded.size > KEPT_SHARDS) loaded.delete(loaded.keys().next().value);
    }
    return loaded.get(place);
  }

  async function loadTrial(index, id) {
    const place = index.id.indexOf(id);
    if (place < 0 || index.shard[place] === null) return null;
    const trials = await loadShard(Number(index.shard[place]));
    const found = Array.isArray(trials) && trials.find((trial) => trial?.id === id);
    if (!found) throw new Error("it is not in the data where it should be, which are of another report");
    return found;
  }

  // The list of trials

  const FAULTED = "!clean"; // of the variants all but the clean ones
  const FILTERS = [
    ["agent", "Agent", "entrant"], ["task", "Task", "task"], ["status", "Status", "status"], ["variant", "Variant", "variant"],
    ["note", "Notable", "note"],
  ];

  function renderTrials(element, index, filter = {}) {
    const names = new Set(index.suite).size > 1 ? index.task.map((task, place) => `${index.suite[place]}/${task}`) : index.task;
    const columns = { ...index, task: names, decimals: decimalsFor(index.seconds) }, chosen = {}, selects = [];
    for (const [key, title, column] of FILTERS) {
      chosen[key] = filter[key] ?? "";
      const select = make("select");
      const values = [...new Set(columns[column])].filter((known) => known !== null).map(String).sort();
      if (key === "variant" && values.some((known) => known !== "clean")) values.unshift(FAULTED);
      for (const value of ["", ...values]) {
        const option = make("option", "", value === "" ? "all" : value === FAULTED ? "any fault" : String(value));
        option.value = String(value);
        select.append(option);
      }
      if (chosen[key] && !values.includes(chosen[key])) select.append(Object.assign(make("option", "", chosen[key]), { value: chosen[key] }));
      select.value = chosen[key];
      select.addEventListener("change", () => {
        chosen[key] = select.value;
        history.replaceState(null, "", hashOf({ view: "trials", ...chosen }));
        refill();
      });
      selects.push(make("label", "", title, select));
    }
    const told = make("p", "legend"), table = make("table", "trial-table trial-list"), rows = make("tbody"), more = button("", () => fill());
    more.classList.add("more");
    told.setAttribute("aria-live", "polite");
    const heads = ["Trial", "Status", "Agent", "Task", "Variant", "Epoch", "Notable", "Output tokens", "Seconds", "Steps"].map((name) => {
      const cell = make("th", ["Epoch", "Output tokens", "Seconds"].includes(name) ? "number" : "", name);
      cell.scope = "col";
      return cell;
    });
    table.append(make("caption", "", "Trials"), make("thead", "", make("tr", "", ...heads)), rows);
    const box = scrolled(table, "Trials");
    let matching = [], filled = 0;
    function fill() {
      for (const place of matching.slice(filled, filled + ROWS)) rows.append(trialRow(columns, place));
      filled = Math.min(filled + ROWS, matching.length);
      more.hidden = filled >= matching.length;
      more.textContent = `Show ${number(Math.min(ROWS, matching.length - filled))} more`;
      const first = filled < matching.length ? `, the first ${number(filled)} shown` : "";
      box.hidden = !matching.length;
      if (!columns.id.length) told.textContent = "There are no trials.";
      else if (!matching.length) told.textContent = `None of ${counted(columns.id.length, "trial")} is like that. Choose "all" where too much is asked.`;
      else told.textContent = `${counted(matching.length, "trial")} of ${number(columns.id.length)}${first}`;
    }
    function refill() {
      const kept = FILTERS.filter(([key]) => chosen[key] !== "");
      matching = [...columns.id.keys()].filter((place) => kept.every(([key, , column]) =>
        chosen[key] === FAULTED ? !["clean", "twin"].includes(columns[column][place]) : String(columns[column][place]) === chosen[key]));
      rows.replaceChildren();
      filled = 0;
      fill();
    }
    refill();
    element.replaceChildren(...(columns.id.length ? [make("form", "filters", ...selects)] : []), told, box, more);
  }

  function trialRow(columns, place) {
    const id = columns.id[place], cell = (column) => make("td", "", String(columns[column][place] ?? "–"));
    const amount = (column) => make("td", "number", number(columns[column][place]));
    const time = make("td", "number", fixed(columns.seconds[place], columns.decimals));
    return make("tr", "", make("td", "", link(id, { view: "trial", trial: id })), make("td", "", statusBadge(columns.status[place])),
      cell("entrant"), cell("task"), cell("variant"), amount("epoch"), cell("note"), amount("tokens"), time,
      make("td", "", columns.shard[place] === null ? "not in this file" : "yes"));
  }

  const parts = { make, draw, number, counted, seconds, hashOf, link, written, block, badge, statusBadge, scrolled, button };
  window.evalkit = Object.assign(window.evalkit ?? {}, { parts, decode, shard, loadTrial, renderTrials });
})();
