"use strict";
// Draws the JSON of an inspector, and asks for it again and again. The JSON is what the guide says; nothing else is known here. Text from
// the program becomes text nodes only, never markup.
(() => {
  const REFRESH_SECONDS = 2;
  // An answer may take one hundredth of the time until the next one.
  const SHARE = 100;
  const ROW_HEIGHT = 24;
  const DEEPEST = 24;
  // So many siblings that are alike become one line.
  const ALIKE = 5;
  const MOST_GROUPS = 500;
  const MOST_LISTED = 12;
  const KEPT_COUNTS = 60;
  const SVG = "http://www.w3.org/2000/svg";
  const find = (id) => document.getElementById(id);

  let data = null;
  let rows = [];
  let before = null;
  let items = [];
  let timer = null;
  let paused = false;
  // The fiber that is about to be cancelled.
  let asked = null;
  const filter = { text: "", age: 0, kind: null, group: null };
  const look = { view: "tree", alike: true, closed: new Set(), open: new Set(), chosen: null };
  // The numbers of fibers of each group at the last refreshes.
  const counts = new Map();

  // ---- elements

  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  function draw(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function press(words, act, className = "") {
    const button = make("button", { type: "button", className, textContent: words });
    button.addEventListener("click", act);
    return button;
  }

  const few = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  function time(seconds) {
    if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
    if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  }

  const lasting = (seconds, atLeast) => seconds === undefined ? "" : `${atLeast ? "≥ " : ""}${time(seconds)}`;

  // ---- what the rows mean

  const site = (number) => data.sites[number];
  // With the folder, since many files are called `mod.rs`.
  const shortly = (place) => place.split(/[\\/]/).slice(-2).join("/");
  const named = (row) => row.name === undefined ? row.id : `${row.id} “${row.name}”`;

  // Where the fiber really is: in the innermost of the parts that it is in.
  function leaf(row) {
    let at = row;
    for (let steps = 0; at.state === "in" && rows[at.in] && steps < 1000; steps++) at = rows[at.in];
    return at;
  }

  function awaited(row) {
    const at = leaf(row);
    if (at.on !== undefined) return `the end of ${rows[at.on] ? named(rows[at.on]) : "another fiber"}`;
    if (at.at !== undefined) return data.primitives[at.at].name;
    return at.socket === undefined ? at.for : `${at.for}, the ${at.socket}`;
  }

  // For groups, so without ids: alike is what does the same.
  function kind(row) {
    const at = leaf(row);
    if (at.state === "new") return "not started";
    if (at.state !== "waits") return "running";
    return at.at === undefined ? at.for : data.primitives[at.at].name;
  }

  // Of what kind the wait is, in few words, for the filter and the colours.
  function broadly(at) {
    if (at.state === "new") return "not started";
    return at.state === "waits" ? at.for : "running";
  }

  function colour(words) {
    if (words === "running") return "runs";
    if (words === "not started") return "new";
    if (/timer|computation/.test(words)) return "timer";
    if (/lock|permits/.test(words)) return "lock";
    if (/socket|connection/.test(words)) return "socket";
    if (/fiber|children|forks/.test(words)) return "fiber";
    if (/blocking|callback|future/.test(words)) return "call";
    return "other";
  }

  function holders(row) {
    const at = leaf(row);
    return at.at === undefined ? [] : data.primitives[at.at].holders;
  }

  const holder = (one) => one.has_ended ? `${one.fiber}, which has ended` : one.fiber;

  function does(row) {
    const at = leaf(row);
    if (at.state === "new") return "has not started";
    if (at.state !== "waits") return "runs, or is about to";
    const held = holders(row);
    const by = held.length ? `, held by ${holder(held[0])}${held.length > 1 ? ` and ${held.length - 1} more` : ""}` : "";
    const inside = at !== row && at.name ? `${at.name}: ` : "";
    return `${inside}waits for ${awaited(row)}${by}`;
  }

  function marks(row) {
    const found = [];
    if (row.stuck !== undefined) found.push(`stuck ${time(row.stuck)}`);
    if (row.circle !== undefined) found.push("circle");
    if (row.behind_circle) found.push("behind a circle");
    if (row.leaked !== undefined) found.push("leaked?");
    if (data.primitives[leaf(row).at]?.was_left) found.push("holder has ended");
    return found;
  }

  const groupOf = (row) => [row.site, row.part ? row.name : "", kind(row)].join("\u0000");

  function understand(answer) {
    before = data;
    data = answer;
    rows = data.rows;
    rows.forEach((row, at) => Object.assign(row, { row: at, below: [], all: 0 }));
    for (const row of rows) if (rows[row.above]) rows[row.above].below.push(row);
    // Those above come first.
    for (const row of rows.toReversed()) {
      if (!row.part) row.all += 1;
      if (rows[row.above]) rows[row.above].all += row.all;
    }
    // Once for each primitive: thousands of fibers may wait for what thousands hold.
    for (const one of data.primitives) one.was_left = one.holders.some((by) => by.has_ended);
    for (const row of rows) {
      const end = leaf(row);
      row.broad = broadly(end);
      row.lasting = end.lasts;
      row.group = groupOf(row);
      row.marks = marks(row);
    }
    const now = new Map();
    for (const row of rows) if (!row.part) now.set(row.group, (now.get(row.group) ?? 0) + 1);
    for (const key of now.keys()) if (!counts.has(key)) counts.set(key, []);
    for (const [key, series] of counts) {
      series.push(now.get(key) ?? 0);
      if (series.length > KEPT_COUNTS) series.shift();
      if (!series.some((count) => count > 0)) counts.delete(key);
    }
  }

  // Never fewer at the last refreshes, and a fifth more in all.
  function grows(key) {
    const series = (counts.get(key) ?? []).slice(-10);
    const [first, last] = [series[0], series.at(-1)];
    return series.length === 10 && last >= 20 && last > first * 1.2 && series.every((count, at) => at === 0 || count >= series[at - 1]);
  }

  // ---- the list

  function matches(row) {
    if (filter.kind !== null && (row.part || row.broad !== filter.kind)) return false;
    if (filter.group !== null && row.group !== filter.group) return false;
    if (filter.age > 0 && !(row.lasting >= filter.age)) return false;
    if (!filter.text) return true;
    const words = `${row.id} ${row.name ?? ""} ${site(row.site)} ${does(row)} ${row.where === undefined ? "" : site(row.where)} ${row.marks.join(" ")} ${row.leaked ?? ""}`;
    return words.toLowerCase().includes(filter.text);
  }

  const isFiltered = () => filter.kind !== null || filter.group !== null || filter.age > 0 || filter.text !== "";

  // Siblings as lines: marked fibers and few of a kind each by itself, many that are alike as one.
  function lines(siblings, key, depth) {
    if (!look.alike || siblings.length < ALIKE) return siblings.map((row) => ({ row, depth }));
    const alike = new Map();
    for (const row of siblings) {
      if (row.marks.length) continue;
      if (!alike.has(row.group)) alike.set(row.group, []);
      alike.get(row.group).push(row);
    }
    const shown = new Set();
    return siblings.flatMap((row) => {
      const group = row.marks.length ? [] : alike.get(row.group);
      if (group.length < ALIKE) return [{ row, depth }];
      if (shown.has(row.group)) return [];
      shown.add(row.group);
      return [{ group, key: `${key}/${row.group}`, depth }];
    });
  }

  function list() {
    if (isFiltered()) {
      const found = rows.filter(matches);
      if (filter.age > 0) found.sort((one, other) => other.lasting - one.lasting);
      return found.map((row) => ({ row, depth: 0 }));
    }
    // No recursion: a tree may be thousands of levels deep.
    const left = lines(rows.filter((row) => !rows[row.above]), "", 0).reverse();
    const all = [];
    while (left.length) {
      const item = left.pop();
      all.push(item);
      const below = item.group
        ? look.open.has(item.key) ? item.group.map((row) => ({ row, depth: item.depth + 1 })) : []
        : look.closed.has(item.row.id) ? [] : lines(item.row.below, item.row.id, item.depth + 1);
      for (const next of below.reverse()) left.push(next);
    }
    return all;
  }

  function foldButton(item) {
    const isOpen = item.group ? look.open.has(item.key) : !look.closed.has(item.row.id);
    const hasMore = item.group || (item.row.below.length > 0 && !isFiltered());
    const button = press(isOpen ? "▾" : "▸", (event) => {
      event.stopPropagation();
      toggle(item);
    }, `fold${hasMore ? "" : " none"}`);
    button.tabIndex = -1;
    button.setAttribute("aria-label", isOpen ? "fold" : "unfold");
    return button;
  }

  function toggle(item) {
    const [set, key] = item.group ? [look.open, item.key] : [look.closed, item.row.id];
    if (!set.delete(key)) set.add(key);
    relist();
  }

  function line(item) {
    const row = item.row ?? item.group[0];
    const name = make("span", { className: "name" }, foldButton(item));
    name.style.paddingLeft = `${Math.min(item.depth, DEEPEST) * 16}px`;
    const what = make("span", { className: `what ${colour(row.broad)}` }, make("i", { className: "dot" }));
    let age = "";
    if (item.group) {
      const all = item.group.reduce((sum, one) => sum + one.all, 0);
      const more = all > item.group.length ? `, with ${few(all - item.group.length, "fiber")} below` : "";
      name.append(`${few(item.group.length, row.part ? "part" : "fiber")}${names(item.group)}${more}`);
      what.append(make("span", { textContent: kind(row) === "running" || kind(row) === "not started" ? kind(row) : `wait for ${kind(row)}` }));
      const oldest = item.group.reduce((most, one) => (one.lasting ?? 0) > (most.lasting ?? 0) ? one : most);
      age = oldest.lasting === undefined ? "" : `≤ ${time(oldest.lasting)}`;
    } else {
      name.append(make("span", { className: "id code", textContent: row.part ? row.name ?? row.id : row.id }));
      if (!row.part && row.name !== undefined) name.append(row.name);
      what.append(...row.marks.map((mark) => make("span", { className: "mark", textContent: mark })), make("span", { textContent: does(row) }));
      age = lasting(row.lasting, leaf(row).at_least);
    }
    const element = make("div", { className: "row" }, name, what,
      make("span", { className: "dim", textContent: shortly(site(row.site)), title: site(row.site) }),
      make("span", { className: "number", textContent: age }));
    element.setAttribute("role", "treeitem");
    element.classList.toggle("group", Boolean(item.group));
    element.classList.toggle("part", Boolean(row.part) && !item.group);
    element.classList.toggle("chosen", !item.group && row.id === look.chosen);
    element.title = item.group ? "" : `${named(row)} ${does(row)}`;
    element.addEventListener("click", () => item.group ? toggle(item) : choose(row.id));
    return element;
  }

  function names(group) {
    const all = new Set(group.map((row) => row.name));
    const first = group.find((row) => row.name !== undefined)?.name;
    if (first === undefined || group[0].part) return group[0].part && first !== undefined ? ` ${first}` : "";
    return all.size === 1 ? ` “${first}”` : ` “${first}”, ..`;
  }

  function paint() {
    const element = find("list");
    find("filler").style.height = `${items.length * ROW_HEIGHT}px`;
    // The list may have become shorter than it is scrolled.
    const top = Math.min(element.scrollTop, Math.max(0, items.length * ROW_HEIGHT - element.clientHeight));
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4);
    const last = Math.min(items.length, Math.ceil((top + element.clientHeight) / ROW_HEIGHT) + 4);
    find("rows").style.top = `${first * ROW_HEIGHT}px`;
    find("rows").replaceChildren(...items.slice(first, last).map(line));
    if (items.length === 0) find("rows").replaceChildren(make("p", { className: "empty", textContent: rows.length ? "No fiber is like this." : "No fiber lives." }));
  }

  function relist() {
    find("list").hidden = look.view !== "tree";
    find("columns").hidden = look.view !== "tree";
    find("groups").hidden = look.view !== "groups";
    find("machine").hidden = look.view !== "threads";
    find("kinds").hidden = look.view === "threads";
    for (const button of find("views").children) button.setAttribute("aria-pressed", button.dataset.view === look.view);
    kinds();
    const left = data.left_out ? `; ${few(data.left_out, "more fiber or part", "more fibers or parts")} in JSON` : "";
    find("shown").textContent = left.replace("; ", "");
    if (look.view === "groups") return groups();
    if (look.view === "threads") return machine();
    items = list();
    if (isFiltered()) find("shown").textContent = `${items.length.toLocaleString("en")} match${items.length === 1 ? "es" : ""}${left}`;
    paint();
  }

  function kinds() {
    const found = new Map();
    for (const row of rows) if (!row.part) found.set(row.broad, (found.get(row.broad) ?? 0) + 1);
    const button = (words, count, value) => {
      const one = press("", () => {
        filter.kind = filter.kind === value ? null : value;
        filter.group = null;
        look.view = "tree";
        relist();
      }, value === null ? "" : colour(words));
      if (value !== null) one.append(make("i", { className: "dot" }));
      one.append(`${words} ${count.toLocaleString("en")}`);
      one.setAttribute("aria-pressed", filter.kind === value && filter.group === null);
      return one;
    };
    const sorted = [...found].sort(([, one], [, other]) => other - one);
    const buttons = [button("all", data.fibers, null), ...sorted.map(([words, count]) => button(words, count, words))];
    if (filter.group !== null) buttons.push(press("one group ✕", () => { filter.group = null; relist(); }));
    find("kinds").replaceChildren(...buttons);
  }

  // ---- groups

  function spark(series) {
    const most = Math.max(...series, 1);
    const x = (at) => at * 120 / (Math.max(series.length, 10) - 1);
    const points = series.map((count, at) => `${x(at).toFixed(1)},${(17 - 16 * count / most).toFixed(1)}`);
    return draw("svg", { viewBox: "0 0 120 18" }, draw("path", { d: `M${points.join("L")}` }));
  }

  function groups() {
    const found = new Map();
    for (const row of rows) {
      if (row.part || (filter.text && !matches(row)) || (filter.age > 0 && !(row.lasting >= filter.age))) continue;
      if (!found.has(row.group)) found.set(row.group, []);
      found.get(row.group).push(row);
    }
    const sorted = [...found].sort(([, one], [, other]) => other.length - one.length);
    const body = sorted.slice(0, MOST_GROUPS).map(([key, members]) => {
      const oldest = members.reduce((most, row) => Math.max(most, row.lasting ?? 0), 0);
      const words = kind(members[0]);
      const name = names(members);
      const tr = make("tr", {},
        make("td", { className: "number", textContent: members.length.toLocaleString("en") }),
        make("td", { className: "words" }, site(members[0].site), make("span", { className: "dim", textContent: name })),
        make("td", { className: `words ${colour(members[0].broad)}` }, make("i", { className: "dot" }),
          words === "running" || words === "not started" ? words : `waits for ${words}`),
        make("td", { className: "number", textContent: oldest ? time(oldest) : "" }),
        make("td", {}, spark(counts.get(key) ?? [members.length]), grows(key) ? make("span", { className: "mark", textContent: "grows" }) : ""));
      tr.addEventListener("click", () => {
        Object.assign(filter, { group: key, kind: null });
        look.view = "tree";
        relist();
      });
      return tr;
    });
    const head = [["fibers", "number"], ["forked at", "words"], ["what they do", "words"], ["longest", "number"], ["since the page is open", "words"]];
    find("groups").replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, ...head.map(([textContent, className]) => make("th", { textContent, className })))),
      make("tbody", {}, ...body)));
  }

  // ---- one fiber

  const fiberLink = (row) => press(named(row), () => choose(row.id, true), "link");

  function choose(id, show = false) {
    look.chosen = id;
    if (show && look.view === "tree") {
      reveal(id);
      const at = items.findIndex((item) => item.row?.id === id);
      const element = find("list");
      if (at >= 0) element.scrollTop = Math.max(0, at * ROW_HEIGHT - element.clientHeight / 2);
    }
    paint();
    details();
  }

  // Unfolds what hides a fiber, and takes filters away that do.
  function reveal(id) {
    let row = rows.find((one) => one.id === id);
    if (!row) return;
    if (isFiltered() && !matches(row)) {
      Object.assign(filter, { text: "", age: 0, kind: null, group: null });
      find("search").value = "";
      find("age").value = "0";
    }
    for (; row; row = rows[row.above]) {
      if (rows[row.above]) look.closed.delete(row.above === undefined ? "" : rows[row.above].id);
      look.open.add(`${rows[row.above]?.id ?? ""}/${row.group}`);
    }
    relist();
  }

  // Why it waits: each step is the fiber on which the one before depends.
  function reasons(row) {
    const steps = [];
    const seen = new Set();
    for (let at = row; at && !seen.has(at.row);) {
      seen.add(at.row);
      const end = leaf(at);
      seen.add(end.row);
      let next = rows[end.on];
      if (!next && end.at !== undefined) next = rows[holders(end)[0]?.row];
      if (!next && end.state === "waits" && /children/.test(end.for)) next = end.below[0];
      steps.push([at, does(at)]);
      at = next;
      if (at && seen.has(at.row)) steps.push([at, "is where this began: a circle"]);
    }
    return steps;
  }

  function details() {
    const row = rows.find((one) => one.id === look.chosen);
    if (!row) {
      const gone = look.chosen === null ? "Choose a fiber to see more of it." : `Fiber ${look.chosen} has ended.`;
      find("details").replaceChildren(make("p", { className: "dim", textContent: gone }));
      return;
    }
    const end = leaf(row);
    const facts = [
      ["state", does(row)],
      ["for", lasting(end.lasts, end.at_least)],
      ["waits at", end.where === undefined ? "" : site(end.where)],
      ["asks for", end.asks > 1 ? few(end.asks, "permit") : ""],
      ["forked at", site(row.site)],
      ["lives for", lasting(row.lives)],
      ["waits so far", row.waits.toLocaleString("en")],
      ["deadline", row.deadline !== undefined ? `in ${time(row.deadline)}` : row.overdue !== undefined ? `passed ${time(row.overdue)} ago` : ""],
      ["cancelled", row.cancelled === undefined ? "" : `${lasting(row.cancelled, row.cancelled_at_least)} ago`],
      ["uncancelable", row.uncancelable ? "yes, as in a finalizer" : ""],
      ["leaked?", row.leaked ?? ""],
      ["below it", row.all > 1 ? few(row.all - (row.part ? 0 : 1), "fiber") : ""],
    ].filter(([, value]) => value !== "");
    const parts = [
      make("h2", { textContent: `${row.part ? "part" : "fiber"} ${named(row)}` }),
      ...row.marks.map((mark) => make("span", { className: "mark", textContent: mark })),
      make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })])),
    ];
    const section = (title, ...content) => parts.push(make("h3", { textContent: title }), ...content);
    const steps = reasons(row);
    if (steps.length > 1) section("why", make("ol", {}, ...steps.map(([at, words]) => make("li", {}, fiberLink(at), words))));
    const held = data.primitives.filter((one) => one.holders.some((by) => by.row === row.row));
    if (held.length) section("it holds, and others wait for", make("ul", {}, ...held.map((one) => make("li", { textContent: one.name }))));
    const waiting = rows.filter((one) => one.on === row.row || held.includes(data.primitives[leaf(one).at]));
    if (waiting.length) {
      const shown = waiting.slice(0, MOST_LISTED).map((one) => make("li", {}, fiberLink(one)));
      if (waiting.length > shown.length) shown.push(make("li", { textContent: `and ${few(waiting.length - shown.length, "more")}` }));
      section("waiting for it", make("ul", {}, ...shown));
    }
    const above = [];
    for (let at = rows[row.above]; at && above.length < MOST_LISTED; at = rows[at.above]) above.push(make("li", {}, fiberLink(at)));
    if (above.length) section("above it", make("ul", {}, ...above));
    if (data.may_cancel && !row.part) parts.push(cancelButton(row));
    find("details").replaceChildren(...parts);
  }

  function cancelButton(row) {
    const words = `Cancel ${row.id}${row.all > 1 ? ` and ${few(row.all - 1, "fiber")} below` : ""}`;
    const button = press(row.id === asked ? `Really? ${words}` : words, async () => {
      if (asked !== row.id) {
        asked = row.id;
        details();
        return;
      }
      asked = null;
      try {
        const answer = await fetch(`?cancel=${encodeURIComponent(row.id)}`, { method: "POST", headers: { "x-fiber-inspector": "cancel" } });
        find("state").textContent = answer.ok ? "" : await answer.text();
      } finally {
        refresh();
      }
    }, "danger");
    return button;
  }

  // ---- what needs attention

  function circle(one, number) {
    const end = one.ends_in === undefined ? "" : one.ends_in > 0 ? ` A deadline ends it in ${time(one.ends_in)}.` : " A deadline has passed.";
    const links = one.links.map((link) => {
      const row = rows[link.row];
      const fiber = row ? fiberLink(row) : make("span", { textContent: link.id });
      return make("li", {}, fiber, make("span", { className: "why", textContent: `waits for ${link.why}` }));
    });
    const first = one.links[0];
    const last = make("li", {}, rows[first.row] ? fiberLink(rows[first.row]) : first.id);
    const chain = make("ol", { className: "circle" }, ...links, last);
    return make("div", { className: "card" },
      make("h2", { textContent: `Circle ${number + 1}: ${few(one.links.length, "fiber")} ${one.links.length === 1 ? "waits for itself" : "wait for each other"}` }), chain,
      ...(end ? [make("p", { className: "dim", textContent: end.trim() })] : []));
  }

  function card(title, entries) {
    const shown = entries.slice(0, MOST_LISTED);
    const more = entries.length > shown.length ? [make("p", { className: "dim", textContent: `and ${few(entries.length - shown.length, "more")}` })] : [];
    return make("div", { className: "card" }, make("h2", { textContent: title }), ...shown, ...more);
  }

  function attention() {
    const cards = data.circles.slice(0, 5).map(circle);
    const behind = rows.filter((row) => row.behind_circle && !row.part).length;
    const more = make("p", { className: "dim", textContent: `${few(behind, "more fiber waits", "more fibers wait")} for them.` });
    if (behind) cards.at(-1)?.append(more);
    const stuck = rows.filter((row) => row.stuck !== undefined);
    const entry = (row, words) => make("p", {}, fiberLink(row), words);
    if (stuck.length) cards.push(card("Stuck workers", stuck.map((row) => entry(row, ` has kept its worker for ${time(row.stuck)}`))));
    const workers = (data.metrics?.workers ?? []).filter((worker) => worker.is_stuck);
    if (workers.length && !stuck.length) {
      cards.push(card("Stuck workers", workers.map((worker) => make("p", { textContent: `the fiber forked at ${worker.runs ?? "?"} keeps its worker` }))));
    }
    const leaked = rows.filter((row) => row.leaked !== undefined);
    if (leaked.length) cards.push(card(`Leaked? ${few(leaked.length, "fiber")} should have ended`, leaked.map((row) => entry(row, ` ${row.leaked}`))));
    const lost = rows.filter((row) => row.marks.includes("holder has ended"));
    if (lost.length) cards.push(card("Held by a fiber that has ended", lost.map((row) => entry(row, does(row)))));
    const growing = [...counts.keys()].filter(grows).map((key) => rows.find((row) => row.group === key && !row.part)).filter(Boolean);
    if (growing.length) {
      cards.push(card("Growing", growing.map((row) => make("p", { textContent: `${few(counts.get(row.group).at(-1), "fiber")} forked at ${site(row.site)}, ${kind(row)}` }))));
    }
    const failures = data.lost_failures ?? [];
    if (failures.length) cards.push(card("Failures that nobody saw", failures.map((one) => make("p", { textContent: `${time(one.ago)} ago: ${one.text}` }))));
    find("attention").hidden = cards.length === 0;
    find("attention").replaceChildren(...cards);
  }

  // ---- threads and queues

  // Of the threads that run fibers, not blocking calls, in hundredths of all of them.
  function busy() {
    const workers = data.threads.filter((one) => /worker/.test(one.name));
    const shares = workers.map((one) => one.busy.reduce((sum, share) => sum + share, 0) / (10 * one.busy.length));
    return shares.reduce((sum, share) => sum + share, 0) / Math.max(workers.length, 1);
  }

  function numbers() {
    const all = [["fibers", data.fibers], ["running", rows.filter((row) => !row.part && row.broad === "running").length]];
    const metrics = data.metrics;
    if (metrics) {
      const queued = metrics.workers.reduce((sum, worker) => sum + worker.queued, 0);
      if (data.threads) all.push(["workers busy", `${Math.round(busy())} %`]);
      all.push(["queued at workers", queued], ["queued from outside", metrics.injected], ["timers", metrics.timers],
        ["blocking threads", metrics.blocking_threads], ["blocking calls that wait", metrics.blocking_queue, metrics.blocking_queue > 0],
        ["workers that may run", metrics.may_run]);
    }
    find("numbers").replaceChildren(...all.map(([name, value, bad]) =>
      make("li", { className: bad ? "bad" : "" }, `${name} `, make("b", { textContent: value.toLocaleString("en") }))));
  }

  function thread(one) {
    const slots = one.busy.length;
    const points = one.busy.map((share, at) => `L${at},${20 - share / 50}L${at + 1},${20 - share / 50}`);
    const picture = draw("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none" },
      draw("path", { class: "area", d: `M0,20${points.join("")}L${slots},20Z` }));
    const box = (ago, lasts, words, className) => {
      const [width, x] = [Math.max(lasts / data.slot, 0.25), slots - ago / data.slot];
      const rect = draw("rect", { class: className, x: Math.max(x, 0), y: 14, width: Math.min(width, slots - Math.max(x, 0)), height: 6 }, draw("title", {}));
      rect.firstChild.textContent = words;
      picture.append(rect);
    };
    for (const turn of one.long_turns) box(turn.began_ago, turn.lasted, `${turn.fiber}, for ${time(turn.lasted)}`, "long");
    let now = make("span", { className: "dim", textContent: "idle" });
    if (one.turn) {
      const isStuck = !one.turn.blocking && one.turn.lasts >= 0.1;
      const words = `${one.turn.blocking ? "blocking call of " : "runs "}${one.turn.fiber} for ${time(one.turn.lasts)}`;
      if (one.turn.lasts > 0.001) box(one.turn.lasts, one.turn.lasts, words, isStuck ? "long now" : "long");
      now = make("span", { className: isStuck ? "bad" : "", textContent: words, title: words });
    }
    const busy = one.busy.reduce((sum, share) => sum + share, 0) / (10 * Math.max(slots, 1));
    return make("div", { className: "thread" },
      make("span", { textContent: one.name, title: one.name }), picture,
      make("span", { className: "number", textContent: `${busy.toFixed(busy < 10 ? 1 : 0)} %`, title: "busy in these seconds" }),
      make("span", { className: "number dim", textContent: `${rate(one.turns / (slots * data.slot))}/s`, title: "turns" }), now);
  }

  const rate = (value) => value >= 100 || value === 0 ? Math.round(value).toLocaleString("en") : value.toFixed(1);

  function threads() {
    const all = data.threads ?? [];
    const scale = make("div", { className: "thread" }, make("span", { className: "dim", textContent: "thread" }),
      make("span", { className: "scale" }, make("span", { textContent: "10 s ago" }), make("span", { textContent: "now" })),
      make("span", { className: "number dim", textContent: "busy" }), make("span", { className: "number dim", textContent: "turns" }));
    find("threads").replaceChildren(...(all.length ? [scale, ...all.map(thread)] : []));
  }

  function machine() {
    threads();
    workers();
    find("hint").hidden = data.has_history;
  }

  // How long tasks wait in the queue: the bound below which this share of the samples is.
  function latency(worker, share) {
    const all = worker.latencies.reduce((sum, one) => sum + one.count, 0);
    let left = all * share;
    return worker.latencies.find((one) => (left -= one.count) <= 0)?.below;
  }

  // Only a `Pool` knows what its workers run, so one of which that is not known may be idle or busy.
  function workers() {
    const all = data.metrics?.workers ?? [];
    const seconds = before ? data.at - before.at : 0;
    const per = (worker, number, name) => {
      const earlier = before?.metrics?.workers[number]?.[name];
      return earlier === undefined || seconds <= 0 ? "" : rate((worker[name] - earlier) / seconds);
    };
    const head = ["worker", "turns/s", "queued", "steals/s", "wake-ups/s", "waits in queue, half", "99 %", "stuck so far", "now"];
    const body = all.map((worker, number) => {
      const cells = [per(worker, number, "turns"), worker.queued.toLocaleString("en"), per(worker, number, "steals"), per(worker, number, "wake_ups"),
        ...[0.5, 0.99].map((share) => latency(worker, share)).map((bound) => bound === undefined ? "" : `< ${time(bound)}`), worker.stuck_turns.toLocaleString("en")];
      return make("tr", {}, make("td", { textContent: number }), ...cells.map((textContent) => make("td", { className: "number", textContent })),
        make("td", { className: worker.is_stuck ? "bad" : "dim", textContent: worker.runs === undefined ? "" : `${worker.is_stuck ? "stuck" : "runs"}: forked at ${worker.runs}` }));
    });
    find("workers").replaceChildren(...(all.length ? [make("thead", {}, make("tr", {}, ...head.map((textContent) => make("th", { textContent })))), make("tbody", {}, ...body)] : []));
  }

  // ---- the page as a whole

  function show() {
    find("summary").textContent = `${few(data.fibers, "fiber")} at ${time(data.at)}; the answer took ${time(data.cost)}`;
    attention();
    numbers();
    relist();
    details();
  }

  // Between the press of a button and its release, nothing is drawn anew: the click would be lost.
  let pressed = false;
  addEventListener("pointerdown", () => { pressed = true; }, true);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pressed = false; }, true);

  async function refresh() {
    clearTimeout(timer);
    let wait = REFRESH_SECONDS;
    try {
      const answer = await fetch("?json", { cache: "no-store" });
      if (!answer.ok) throw new Error(`the program answers ${answer.status}`);
      understand(await answer.json());
      wait = Math.max(REFRESH_SECONDS, SHARE * data.cost);
      find("state").textContent = paused ? "paused" : `every ${time(wait)}`;
      find("state").className = "";
      if (!pressed) show();
    } catch (error) {
      find("state").textContent = error instanceof TypeError ? "the program does not answer" : String(error.message);
      find("state").className = "bad";
    }
    clearTimeout(timer);
    if (!paused && !document.hidden) timer = setTimeout(refresh, wait * 1000);
  }

  function move(by) {
    const at = items.findIndex((item) => item.row && item.row.id === look.chosen);
    for (let next = at + by; next >= 0 && next < items.length; next += by) {
      if (!items[next].row) continue;
      const element = find("list");
      const top = next * ROW_HEIGHT;
      if (top < element.scrollTop) element.scrollTop = top;
      if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
      choose(items[next].row.id);
      return;
    }
  }

  find("pause").addEventListener("click", () => {
    paused = !paused;
    find("pause").textContent = paused ? "Go on" : "Pause";
    find("state").textContent = paused ? "paused" : "";
    if (!paused) refresh();
  });
  find("views").addEventListener("click", (event) => {
    if (!event.target.dataset.view || !data) return;
    look.view = event.target.dataset.view;
    relist();
  });
  find("search").addEventListener("input", (event) => {
    filter.text = event.target.value.trim().toLowerCase();
    if (data) relist();
  });
  find("age").addEventListener("change", (event) => {
    filter.age = Number(event.target.value);
    if (data) relist();
  });
  find("alike").addEventListener("change", (event) => {
    look.alike = event.target.checked;
    if (data) relist();
  });
  find("list").addEventListener("scroll", paint);
  find("list").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  });
  addEventListener("resize", () => data && paint());
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden && !paused) refresh();
  });
  refresh();
})();
