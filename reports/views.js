"use strict";
// The views that need data, and the heatmap's cells, each of which leads to its trials.
(() => {
  const { make, draw, hashOf } = evalkit.parts;
  const block = document.getElementById("data-index");
  let index = null;

  const drawn = (render) => async (section, now) => {
    const element = section.querySelector(".drawn");
    try {
      index = index || evalkit.decode(block.textContent);
      await render(element, await index, now);
    } catch (error) {
      const words = make("p", "problem", `The trials cannot be listed: ${error.message}. Make the report again from the run.`);
      words.setAttribute("role", "alert");
      element.replaceChildren(words);
    }
  };
  if (block) {
    evalkit.views.trials = drawn((element, trials, now) => {
      const filter = Object.fromEntries(["agent", "task", "status", "variant", "note"].map((key) => [key, now.get(key) || ""]));
      evalkit.renderTrials(element, trials, filter);
    });
    evalkit.views.trial = drawn((element, trials, now) => evalkit.showTrial(element, trials, now));
    evalkit.views.tasks = (section) => section.querySelectorAll(".heatmap:not(.linked)").forEach(linked);
  }

  // There can be ten thousand cells: they become links when the view is opened, and one of them at a time is on the way of
  // the tab key; arrows go to the others.
  function linked(map) {
    map.classList.add("linked");
    map.setAttribute("role", "group");
    const names = [...map.querySelectorAll(".heads text")].map((head) => head.dataset.agent);
    const cells = [...map.querySelectorAll(".row")].map((row) => {
      const own = [];
      for (const cell of row.querySelectorAll("rect")) {
        const place = Number(cell.getAttribute("x")), agent = names[place], task = row.dataset.task;
        const said = cell.textContent.split(": ").at(-1);
        const link = draw("a", { href: hashOf({ view: "trials", agent, task, variant: "clean" }), tabindex: -1 });
        link.setAttribute("aria-label", `${agent ?? "any agent"}, ${task}: ${said}`);
        cell.replaceWith(link);
        link.append(cell);
        own[place] = link;
      }
      return own;
    });
    let at = [0, 0];
    const go = (down, across) => {
      cells[at[0]][at[1]].setAttribute("tabindex", "-1");
      at = [Math.min(Math.max(down, 0), cells.length - 1), Math.min(Math.max(across, 0), names.length - 1)];
      cells[at[0]][at[1]].setAttribute("tabindex", "0");
      return cells[at[0]][at[1]];
    };
    go(0, 0);
    map.addEventListener("focusin", (event) => {
      const down = cells.findIndex((row) => row.includes(event.target));
      if (down >= 0) go(down, cells[down].indexOf(event.target));
    });
    map.addEventListener("keydown", (event) => {
      const [down, across] = at;
      const to = {
        ArrowUp: [down - 1, across], ArrowDown: [down + 1, across], ArrowLeft: [down, across - 1], ArrowRight: [down, across + 1],
        Home: [down, 0], End: [down, names.length - 1],
      }[event.key];
      if (!to || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      go(...to).focus();
    });
  }
})();
