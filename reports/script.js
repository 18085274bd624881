"use strict";
const evalkit = (window.evalkit = window.evalkit || {});
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const board = document.getElementById("board");
  const body = board.tBodies[0];
  const heads = [...board.tHead.rows[0].cells];
  const keys = heads.map((cell) => cell.dataset.key);
  const first = [...body.rows];
  const count = document.getElementById("count");
  const filter = document.getElementById("filter");
  const none = Object.assign(document.createElement("p"), { className: "about nothing", hidden: true });
  board.closest(".scroll").after(none);
  const usual = new Set(keys.filter((key, place) => !heads[place].classList.contains("off")));

  // The address holds all that can be chosen, so that a link shows the same view.
  const state = () => new URLSearchParams(location.hash.slice(1));
  const change = (values) => {
    const now = state();
    for (const [key, value] of Object.entries(values)) {
      if (value === null || value === "") now.delete(key);
      else now.set(key, value);
    }
    history.replaceState(null, "", `#${now}`);
    show();
  };
  evalkit.state = state;
  evalkit.change = change;
  evalkit.views = evalkit.views || {};

  const value = (row, place) => {
    const cell = row.cells[place];
    if (place === 1) return row.dataset.agent;
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  const compare = (place, down) => (a, b) => {
    const x = value(a, place);
    const y = value(b, place);
    if (x === null || y === null) return (x === null) - (y === null);
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return down ? -order : order;
  };

  function sort(now) {
    const key = now.get("sort") || "";
    const place = keys.indexOf(key.replace(/^-/, ""));
    const down = key.startsWith("-");
    heads.forEach((cell, own) => {
      cell.setAttribute("aria-sort", own !== place ? "none" : down ? "descending" : "ascending");
    });
    const rows = place < 0 ? first : [...first].sort(compare(place, down));
    body.append(...rows);
  }

  function narrow(now) {
    const words = (now.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of first) {
      const text = row.cells[1].textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${first.length} agent${first.length === 1 ? "" : "s"}`;
    none.hidden = shown > 0;
    none.textContent = !first.length ? "There are no trials, and so no agents." : `No agent has all of "${words.join(" ")}" in its name, model or settings.`;
    if (filter !== document.activeElement) filter.value = now.get("q") || "";
  }

  function chosen(now) {
    const asked = now.get("columns");
    return asked === null ? usual : new Set(["rank", "agent", ...asked.split(",")]);
  }

  function columns(now) {
    const on = chosen(now);
    heads.forEach((cell, place) => cell.classList.toggle("off", !on.has(keys[place])));
    for (const row of first) {
      [...row.cells].forEach((cell, place) => cell.classList.toggle("off", !on.has(keys[place])));
    }
    for (const box of document.querySelectorAll("#columns input")) box.checked = on.has(box.value);
  }

  function view(now) {
    const sections = [...document.querySelectorAll(".view")];
    const asked = `view-${now.get("view") || "table"}`;
    const on = sections.find((section) => section.id === asked) || sections[0];
    for (const section of sections) section.classList.toggle("on", section === on);
    root.dataset.view = on.id.slice(5);
    for (const link of document.querySelectorAll("nav a")) {
      if (`view-${link.dataset.view}` === on.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const draw = evalkit.views[on.id.slice(5)];
    if (draw) draw(on, now);
  }

  function show() {
    const now = state();
    sort(now);
    narrow(now);
    columns(now);
    view(now);
  }

  heads.forEach((cell, place) => {
    cell.querySelector("button").addEventListener("click", () => {
      const key = keys[place];
      const now = state().get("sort"), one = place < 2 ? key : `-${key}`, other = place < 2 ? `-${key}` : key;
      change({ sort: now === one ? other : now === other ? null : one });
    });
  });
  filter.addEventListener("input", () => change({ q: filter.value }));
  const nameOf = (cell) => cell.querySelector("button").textContent.replace(/\s*[↑↓]$/, "").trim();
  const menu = document.getElementById("columns");
  const popup = menu.closest("details");
  document.addEventListener("click", (event) => {
    if (!popup.contains(event.target)) popup.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !popup.open) return;
    popup.open = false;
    popup.querySelector("summary").focus();
  });
  heads.slice(2).forEach((cell, place) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = keys[place + 2];
    box.addEventListener("change", () => {
      const on = [...menu.querySelectorAll("input")].filter((own) => own.checked).map((own) => own.value);
      change({ columns: on.join(",") || "none" });
    });
    label.append(box, ` ${nameOf(cell)}`);
    label.title = cell.querySelector("button").title;
    menu.append(label);
  });
  for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const now = state();
      now.set("view", link.dataset.view);
      history.pushState(null, "", `#${now}`);
      show();
    });
  }

  evalkit.save = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  // What is copied are the numbers that `evalkit report --out board.md` and board.csv have, of the rows that are shown.
  const places = () => [...body.rows].filter((row) => !row.hidden).map((row) => first.indexOf(row));
  const copied = async () => evalkit.decode(document.getElementById("data-copied").textContent);
  const markdown = ({ before, head, rows, after, cells }) => {
    const asked = chosen(state());
    if (state().get("columns") === null) return [...before, ...head, ...places().map((place) => rows[place]), ...after].join("\n");
    const own = keys.filter((key) => asked.has(key) && cells[key]);
    const line = (found) => `| ${found.join(" | ")} |`;
    return [...before, line(own.map((key) => cells[key][0])), `|${" --- |".repeat(own.length)}`,
      ...places().map((place) => line(own.map((key) => cells[key][place + 1]))), ...after].join("\n");
  };
  const csv = ({ csv: [head, ...rows] }) => {
    const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return [head, ...places().map((place) => rows[place])].map((row) => `${row.map(field).join(",")}\r\n`).join("");
  };
  const told = (make) => async () => {
    try {
      await make(await copied());
    } catch (error) {
      count.textContent = `Nothing was copied: ${error.message}.`;
    }
  };
  document.getElementById("copy").addEventListener("click", told(async (data) => {
    const text = markdown(data);
    try {
      await navigator.clipboard.writeText(text);
      count.textContent = "Copied.";
    } catch {
      evalkit.save("leaderboard.md", text, "text/markdown");
    }
  }));
  document.getElementById("csv").addEventListener("click", told((data) => evalkit.save("leaderboard.csv", csv(data), "text/csv")));

  window.addEventListener("hashchange", show);
  window.addEventListener("popstate", show);
  document.addEventListener("DOMContentLoaded", show);
  if (document.readyState !== "loading") show();
})();
