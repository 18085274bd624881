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
    count.textContent = `${shown} of ${first.length} agents`;
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
      const now = state().get("sort");
      change({ sort: now === `-${key}` ? key : now === key ? null : place === 1 || place === 0 ? key : `-${key}` });
    });
  });
  filter.addEventListener("input", () => change({ q: filter.value }));
  const menu = document.getElementById("columns");
  heads.slice(2).forEach((cell, place) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = keys[place + 2];
    box.addEventListener("change", () => {
      const on = [...menu.querySelectorAll("input")].filter((own) => own.checked).map((own) => own.value);
      change({ columns: on.join(",") || "none" });
    });
    label.append(box, ` ${cell.textContent.trim()}`);
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

  const visible = () => {
    const places = keys.map((_, place) => place).filter((place) => !heads[place].classList.contains("off"));
    const text = (row, place) =>
      place === 1 && row.dataset.agent ? row.dataset.agent : row.cells[place].textContent.trim();
    const rows = [...body.rows].filter((row) => !row.hidden);
    return [
      places.map((place) => heads[place].textContent.trim()),
      ...rows.map((row) => places.map((place) => text(row, place))),
    ];
  };
  document.getElementById("copy").addEventListener("click", async () => {
    const safe = (text) => text.replace(/[\\|`*_<>[\]]/g, "\\$&").replace(/\s+/g, " ");
    const [head, ...rows] = visible().map((row) => `| ${row.map(safe).join(" | ")} |`);
    const rule = `|${" --- |".repeat(head.split(" | ").length)}`;
    const text = [head, rule, ...rows].join("\n");
    try {
      await navigator.clipboard.writeText(text);
      count.textContent = "Copied.";
    } catch {
      evalkit.save("leaderboard.md", text, "text/markdown");
    }
  });
  evalkit.save = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  document.getElementById("csv").addEventListener("click", () => {
    // A field that a spreadsheet would take for a formula begins with an apostrophe.
    const field = (text) => `"${(/^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
    evalkit.save("leaderboard.csv", visible().map((row) => row.map(field).join(",")).join("\r\n"), "text/csv");
  });

  window.addEventListener("hashchange", show);
  window.addEventListener("popstate", show);
  document.addEventListener("DOMContentLoaded", show);
  if (document.readyState !== "loading") show();
})();
