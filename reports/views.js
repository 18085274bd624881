"use strict";
// The views that need data: the list of trials, and one of them step by step.
(() => {
  const block = document.getElementById("data-index");
  if (!block) return;
  let index = null;
  const opened = () => (index = index || evalkit.decode(block.textContent));
  const into = (section) => section.querySelector(".drawn");
  evalkit.views.trials = async (section, now) => {
    const filter = Object.fromEntries(["agent", "task", "status", "variant", "note"].map((key) => [key, now.get(key) || ""]));
    evalkit.renderTrials(into(section), await opened(), filter);
  };
  evalkit.views.trial = async (section, now) => {
    evalkit.showTrial(into(section), await opened(), now);
  };
  // A cell of the heatmap leads to the trials behind it.
  document.addEventListener("click", (event) => {
    const cell = event.target instanceof Element ? event.target.closest(".heatmap rect, .heatmap use") : null;
    const row = cell && cell.closest(".row");
    if (!row) return;
    const heads = cell.closest("svg").querySelectorAll(".heads text");
    const head = heads[Number(cell.getAttribute("x"))];
    const task = row.dataset.task.split("/").slice(1).join("/");
    evalkit.change({ view: "trials", task, agent: (head && head.dataset.agent) || null, variant: "clean", status: null });
  });
})();
