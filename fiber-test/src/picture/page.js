"use strict";
(() => {
  const list = JSON.parse(document.getElementById("turns").textContent);
  const turns = new Map(list.map((turn) => [turn.id, turn]));
  const details = document.getElementById("details");
  const find = (id) => document.getElementById(id);
  const keys = [["turns", "↑", "↓"], ["of the same fiber", "Shift", "↑", "↓"], ["made it possible", "←"], ["made possible", "→"], ["ends", "Home", "End"]];
  let chosen = null;

  function make(name, properties = {}, children = []) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // The details panel replaces the tooltips; what they said stays for those who listen to the page.
  for (const turn of list) {
    const group = find(turn.id);
    const title = group.querySelector("title");
    group.setAttribute("aria-label", title.textContent);
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "-1");
    title.remove();
  }

  function link(id, words) {
    const turn = turns.get(id);
    const button = make("button", { type: "button", textContent: `${words} ${turn.number}` });
    button.addEventListener("click", () => choose(id, true));
    return button;
  }

  function show(turn) {
    const facts = turn.facts.flatMap(([name, value]) => [
      make("dt", { textContent: name }),
      make("dd", { textContent: value, className: name === "place" || name === "operator" ? "code" : "" }),
    ]);
    const did = turn.did.map((words) => make("li", { textContent: words }));
    const links = [
      ...(turn.before ? [link(turn.before, "made possible by turn")] : []),
      ...turn.after.map((id) => link(id, "made possible: turn")),
      ...(turn.twin ? [link(turn.twin, "in the other schedule: turn")] : []),
    ];
    const schedule = turn.schedule === "f" ? "failing schedule" : "passing schedule";
    const letter = turn.pair ? `${turn.pair}: ` : "";
    details.replaceChildren(
      make("div", { className: "top" }, [
        make("h3", { textContent: `${letter}turn ${turn.number} of the ${schedule}` }),
        make("p", { className: "keys" }, keys.flatMap(([words, ...names]) => [
          ...names.map((name) => make("kbd", { textContent: name })), ` ${words} `,
        ])),
      ]),
      make("div", { className: "columns" }, [
        make("dl", {}, facts),
        did.length ? make("ul", {}, did) : make("p", { className: "hint", textContent: "It did nothing that others see." }),
        make("div", { className: "links" }, links),
      ]),
    );
  }

  function centre(id) {
    const box = find(id).querySelector(".box").getBBox();
    return { x: box.x + box.width / 2, top: box.y, bottom: box.y + box.height };
  }

  function connect(from, to, name) {
    const [start, end] = [centre(from), centre(to)];
    const bend = Math.max(20, (end.top - start.bottom) / 2);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", name);
    path.setAttribute("d", `M${start.x} ${start.bottom}C${start.x} ${start.bottom + bend} ${end.x} ${end.top - bend} ${end.x} ${end.top}`);
    find(to).parentNode.querySelector(".links").append(path);
  }

  function highlight(turn) {
    const marks = ["chosen", "related", "twin"];
    document.querySelectorAll(".chosen, .related, .twin").forEach((element) => element.classList.remove(...marks));
    document.querySelectorAll(".drawing .links").forEach((links) => links.replaceChildren());
    if (!turn) return;
    find(turn.id).classList.add("chosen");
    document.querySelector(`.number[data-turn="${turn.id}"]`).classList.add("chosen");
    if (turn.twin) find(turn.twin).classList.add("twin");
    if (turn.before) connect(turn.before, turn.id, "before");
    turn.after.forEach((id) => connect(turn.id, id, "after"));
    [turn.before, ...turn.after].filter(Boolean).forEach((id) => find(id).classList.add("related"));
  }

  function preview(turn) {
    highlight(turn);
    if (turn) show(turn);
  }

  // Scrolls within the pane only: the page itself stays where it is.
  function reveal(id) {
    const scroll = find(id).closest(".scroll");
    const box = find(id).querySelector(".box").getBoundingClientRect();
    const view = scroll.getBoundingClientRect();
    const head = scroll.querySelector(".head").getBoundingClientRect().height;
    if (box.top < view.top + head + 20 || box.bottom > view.bottom - 40) {
      scroll.scrollTop += box.top - view.top - head - (view.height - head) / 3;
    }
    revealColumn(id);
  }

  // Scrolls no further to the side than it has to, so that other columns stay in sight.
  function revealColumn(id) {
    const margin = 24;
    const scroll = find(id).closest(".scroll");
    const box = find(id).querySelector(".box").getBoundingClientRect();
    const left = scroll.getBoundingClientRect().left + scroll.querySelector(".gutter").getBoundingClientRect().width;
    const right = scroll.getBoundingClientRect().left + scroll.clientWidth;
    if (box.right + margin > right) scroll.scrollLeft += box.right + margin - right;
    else if (box.left - margin < left) scroll.scrollLeft += box.left - margin - left;
  }

  function choose(id, focus) {
    const turn = turns.get(id);
    if (!turn) return;
    if (chosen) find(chosen.id).setAttribute("tabindex", "-1");
    chosen = turn;
    find(id).setAttribute("tabindex", "0");
    preview(turn);
    reveal(id);
    if (turn.twin) reveal(turn.twin);
    if (focus) find(id).focus({ preventScroll: true });
  }

  function step(turn, by, sameFiber) {
    const row = list.filter((other) => other.schedule === turn.schedule && (!sameFiber || other.lane === turn.lane));
    return row[row.indexOf(turn) + by]?.id;
  }

  function destination(event) {
    const ofSchedule = list.filter((other) => other.schedule === chosen.schedule);
    switch (event.key) {
      case "ArrowDown": return step(chosen, 1, event.shiftKey);
      case "ArrowUp": return step(chosen, -1, event.shiftKey);
      case "ArrowLeft": return chosen.before;
      case "ArrowRight": return chosen.after[0];
      case "Home": return ofSchedule[0].id;
      case "End": return ofSchedule.at(-1).id;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (!chosen || event.target.closest("button") || event.ctrlKey || event.metaKey || event.altKey) return;
    const id = destination(event);
    if (id === undefined) return;
    event.preventDefault();
    choose(id ?? chosen.id, true);
  });

  const turnAt = (event) => turns.get(event.target.closest?.(".turn")?.id ?? event.target.closest?.(".number")?.dataset.turn);

  // What scrolls below a resting pointer has not been pointed at: the keyboard leads.
  let pointer = "";
  function moved(event) {
    const before = pointer;
    pointer = `${event.clientX} ${event.clientY}`;
    return pointer !== before;
  }

  for (const pane of document.querySelectorAll(".scroll")) {
    pane.addEventListener("mousemove", (event) => {
      if (moved(event)) preview(turnAt(event) ?? chosen);
    });
    pane.addEventListener("mouseleave", (event) => {
      if (moved(event)) preview(chosen);
    });
    pane.addEventListener("click", (event) => {
      const turn = turnAt(event);
      if (turn) choose(turn.id, true);
    });
  }

  // Beside each other, both schedules scroll together: they have the same columns, and until they part the same rows.
  const panes = [...document.querySelectorAll(".scroll")];
  panes.forEach((pane) => pane.addEventListener("scroll", () => {
    const sideBySide = panes.every((other) => other.getBoundingClientRect().top === pane.getBoundingClientRect().top);
    if (sideBySide && pane.matches(":hover")) panes.forEach((other) => other.scrollTo(pane.scrollLeft, pane.scrollTop));
  }));

  document.getElementById("copy").addEventListener("click", async (event) => {
    const code = document.querySelector(".replay code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    event.target.textContent = "Copied";
    setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
  });

  const failing = list.filter((turn) => turn.schedule === "f");
  const outOfTurn = failing.filter((turn) => turn.out_of_turn);
  function jump(words, id) {
    const button = make("button", { type: "button", textContent: words });
    button.addEventListener("click", () => choose(id(), true));
    document.getElementById("jumps").append(button);
  }
  for (const turn of failing.filter((turn) => turn.pair).sort((a, b) => a.number - b.number)) jump(`Go to ${turn.pair}`, () => turn.id);
  if (outOfTurn.length) {
    jump("Next out of turn", () => (outOfTurn.find((turn) => turn.number > (chosen?.number ?? -1)) ?? outOfTurn[0]).id);
  }
  if (failing.length) jump("End", () => failing.at(-1).id);

  const first = failing.find((turn) => turn.pair) ?? outOfTurn[0] ?? failing.at(-1);
  if (first) choose(first.id, false);
  failing.filter((turn) => turn.pair).forEach((turn) => revealColumn(turn.id));
  // The passing schedule shows the same place: what ran there instead.
  const instead = list.find((turn) => turn.schedule === "p" && turn.pair);
  if (instead) {
    panes[1].scrollLeft = panes[0].scrollLeft;
    reveal(instead.id);
  }
})();
