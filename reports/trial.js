"use strict";
// One trial, step by step: its timeline, searching in it, keys.
(() => {
  const { make, number, counted, hashOf, link, statusBadge, button, ...parts } = window.evalkit.parts;
  const MOST_MARKS = 2000;

  let current = null;

  class View {
    constructor(trial) {
      this.trial = trial;
      this.steps = parts.rowsOf(trial.steps);
      this.items = new Map();
      this.marks = new Map();
      this.notes = new Map();
      this.found = [];
      this.at = -1;
      this.places = new Map(this.steps.map((step, place) => [step.step, place]));
      this.most = Math.max(1, ...this.steps.map((step) => step.output ?? 0));
    }

    kindOf(step) {
      return ["prompt", "think", "act", "event"].includes(step.kind) ? step.kind : "event";
    }

    place(step) {
      return this.places.get(step) ?? 0;
    }

    link(step, before = "") {
      if (!this.places.has(step)) return `${before}${step}`;
      const element = link(`${before}${step}`, { view: "trial", trial: this.trial.id, step });
      element.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.go(step, true);
      });
      return element;
    }

    go(step, asNew = false) {
      const item = this.items.get(step);
      if (!item) return;
      this.list.querySelector(".current")?.classList.remove("current");
      item.classList.add("current");
      item.hidden = false;
      item.focus({ preventScroll: true });
      item.scrollIntoView({ block: "nearest" });
      this.current = step;
      const hash = hashOf({ view: "trial", trial: this.trial.id, step });
      if (location.hash !== hash) history[asNew ? "pushState" : "replaceState"](null, "", hash);
    }

    move(by) {
      const shown = this.steps.filter((step) => !this.items.get(step.step).hidden);
      const here = shown.findIndex((step) => step.step === this.current);
      const next = shown[here < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(here + by, 0), shown.length - 1)];
      if (next) this.go(next.step);
    }

    // Searching: hits become <mark>, in text that stays text

    search(words) {
      for (const mark of this.list.querySelectorAll("mark")) {
        const parent = mark.parentNode;
        mark.replaceWith(mark.textContent);
        parent.normalize();
      }
      this.found = [];
      this.at = -1;
      const pattern = words && new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
      for (const item of this.items.values()) {
        const hits = pattern && this.found.length < MOST_MARKS ? this.highlight(item, pattern) : [];
        this.found.push(...hits);
        item.hidden = Boolean(pattern) && this.only.checked && !hits.length;
        for (const fold of item.querySelectorAll("details")) if (fold.querySelector("pre mark")) fold.open = true;
      }
      const many = this.found.length >= MOST_MARKS ? "at least " : "";
      this.told.textContent = words ? `${many}${counted(this.found.length, "hit")}` : "";
    }

    highlight(item, pattern) {
      const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
      const texts = [], marks = [];
      while (walker.nextNode()) if (walker.currentNode.parentElement.closest("pre, .what, .badge, .step-note")) texts.push(walker.currentNode);
      for (const text of texts) {
        const parts = [];
        let end = 0;
        for (const hit of text.data.matchAll(pattern)) {
          if (marks.length >= MOST_MARKS) break;
          const mark = make("mark", "", hit[0]);
          marks.push(mark);
          parts.push(text.data.slice(end, hit.index), mark);
          end = hit.index + hit[0].length;
        }
        if (parts.length) text.replaceWith(...parts, text.data.slice(end));
      }
      return marks;
    }

    nextHit(by) {
      if (!this.found.length) return;
      this.found[this.at]?.classList.remove("now");
      this.at = (this.at + by + this.found.length) % this.found.length;
      const mark = this.found[this.at];
      mark.classList.add("now");
      mark.scrollIntoView({ block: "center" });
      this.told.textContent = `${number(this.at + 1)} of ${counted(this.found.length, "hit")}`;
    }

    searchForm() {
      this.box = make("input");
      this.box.type = "search";
      this.only = make("input");
      this.only.type = "checkbox";
      this.only.checked = true;
      this.told = make("output");
      this.told.setAttribute("aria-live", "polite");
      const again = () => this.search(this.box.value);
      this.box.addEventListener("input", again);
      this.only.addEventListener("change", again);
      const form = make("form", "trial-search", make("label", "", "Search in this trial", this.box), button("Previous hit", () => this.nextHit(-1)),
        button("Next hit", () => this.nextHit(1)), make("label", "only", this.only, "only steps with hits"), this.told,
        make("span", "keys", "Keys: j next step, k previous step, / search"));
      form.setAttribute("role", "search");
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.nextHit(1);
      });
      return form;
    }

    whatHappened() {
      if (this.steps.length) return [make("h4", "", counted(this.steps.length, "step")), this.searchForm(), this.list];
      return [make("h4", "", "Steps"), make("p", "", "The run holds no step of this trial: either none was made, or the files with steps are gone.")];
    }

    render(element) {
      parts.gatherLanes(this);
      this.list = make("ol", "steps");
      for (const step of this.steps) {
        const item = make("li", `step ${this.kindOf(step)}`, parts.head(this, step), ...parts.notes(this, step), ...parts.body(step));
        item.tabIndex = -1;
        item.dataset.step = String(step.step);
        this.items.set(step.step, item);
        this.list.append(item);
      }
      const title = make("h3", "", `${this.trial.id} `, statusBadge(this.trial.status));
      this.article = make("article", "trial", title, parts.facts(this.trial), ...(this.steps.length ? [parts.lanes(this)] : []),
        ...parts.verdict(this), ...parts.scores(this), ...this.whatHappened());
      element.replaceChildren(this.article);
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !current?.box || !current.list.checkVisibility()) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape" && event.target === current.box) current.move(0);
      return;
    }
    if (event.key === "j") current.move(1);
    else if (event.key === "k") current.move(-1);
    else if (event.key === "/") current.box.focus();
    else return;
    event.preventDefault();
  });

  function renderTrial(element, trial, step = null) {
    current = new View(trial);
    current.render(element);
    if (step !== null) current.go(step);
  }

  // What a hash with view=trial asks for: parameters as URLSearchParams with trial and step
  async function showTrial(element, index, parameters) {
    const id = parameters.get("trial") ?? "", asked = parameters.get("step");
    const step = asked === null || !/^\d{1,9}$/.test(asked) ? null : Number(asked);
    if (current && current.trial.id === id && current.article.isConnected) {
      if (step !== null) current.go(step);
      return;
    }
    current = null;
    element.setAttribute("aria-busy", "true");
    element.dataset.trial = id;
    element.replaceChildren(make("p", "step-note", "Opening the trial …"));
    try {
      const trial = await window.evalkit.loadTrial(index, id);
      if (element.dataset.trial !== id) return;
      if (trial) renderTrial(element, trial, step);
      else renderMissing(element, index, id);
    } catch (error) {
      if (element.dataset.trial === id) renderProblem(element, id, error);
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  function renderProblem(element, id, error) {
    const words = make("p", "problem", `The steps of ${id} cannot be opened: ${error.message}.`);
    words.setAttribute("role", "alert");
    element.replaceChildren(words, make("p", "", "Make the report again from the run, and keep the page and its folder together."));
  }

  // As a shell takes it: one word, whatever is in it
  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  function renderMissing(element, index, id) {
    const place = index.id.indexOf(id);
    const words = place < 0 ? `There is no trial ${id || "of that name"} in this report.`
      : "The steps of this trial are not in this file, which holds what is most notable. "
        + "A report in a folder (--out FOLDER/) holds all of them, and so does the run:";
    element.replaceChildren(make("p", "", words));
    if (place >= 0) element.append(make("pre", "", `evalkit show ${quoted(index.run[place])} ${quoted(id)}`));
  }

  Object.assign(window.evalkit, { renderTrial, showTrial });
})();
