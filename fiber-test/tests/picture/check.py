#!/usr/bin/env python3
"""Opens a report of a failing schedule in Chromium and checks the real page.

    check.py report.html folder-for-screenshots [--turns FAILING [PASSING]]

Needs /usr/bin/chromium and /usr/bin/chromedriver (Debian: chromium, chromium-driver) and nothing else: it speaks the
WebDriver protocol with the standard library.
"""

import argparse
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree

CHROMIUM = "/usr/bin/chromium"
CHROMEDRIVER = "/usr/bin/chromedriver"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]
WIDE = (1440, 900)
NARROW = (480, 900)
# What WebDriver calls the keys.
KEYS = {"ArrowUp": "\ue013", "ArrowDown": "\ue015", "End": "\ue010", "Home": "\ue011"}
# Rounding of sub-pixel layout.
SLACK_PIXELS = 1
START_SECONDS = 20


class Browser:
    """A session of WebDriver."""

    def __init__(self, profile):
        self.driver = subprocess.Popen(
            [CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.address = f"http://127.0.0.1:{self._port()}"
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {json.load(error)['value']['message']}") from error

    def command(self, path, body):
        return self._send("POST", self.session + path, body)

    def open(self, address):
        self.command("/url", {"url": address})

    def ask(self, script, *arguments):
        """The value of a JavaScript function's body."""
        return self.command("/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.command("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, size):
        width, height = size
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def colours(self, scheme):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def click(self, selector):
        element = self.command("/element", {"using": "css selector", "value": selector})
        self.command(f"/element/{next(iter(element.values()))}/click", {})

    def point_at(self, selector, then=()):
        element = self.command("/element", {"using": "css selector", "value": selector})
        self._pointer([{"type": "pointerMove", "origin": element, "x": 0, "y": 0}, *then])

    def click_at(self, selector):
        """Clicks on whatever is to be seen at the middle of the element."""
        press, release = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.point_at(selector, [press, release])

    def point_away(self):
        self._pointer([{"type": "pointerMove", "origin": "viewport", "x": 2, "y": 2}])

    def _pointer(self, actions):
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.command("/actions", {"actions": [mouse]})

    def press(self, key):
        actions = [{"type": "keyDown", "value": KEYS[key]}, {"type": "keyUp", "value": KEYS[key]}]
        self.command("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def complaints(self):
        entries = self.command("/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def photograph(self, path):
        image = self._send("GET", f"{self.session}/screenshot")
        path.write_bytes(base64.b64decode(image))

    def close(self):
        try:
            self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=START_SECONDS)


class Check:
    """Counts what is not as it should be."""

    def __init__(self):
        self.failures = 0

    def that(self, claim, holds, seen=""):
        print(f"{'ok  ' if holds else 'FAIL'} {claim}{'' if holds else f': {seen}'}")
        self.failures += not holds


def turns_are_drawn(browser, check, expected):
    counts = browser.ask("""
        const told = JSON.parse(document.getElementById("turns").textContent);
        const seen = (pane) => [...document.querySelectorAll(`${pane} .turn .box`)].filter((box) => box.getBBox().width > 0);
        return [["f", ".failing"], ["p", ".passing"]].map(([schedule, pane]) =>
            [told.filter((turn) => turn.schedule === schedule).length, seen(pane).length]);
    """)
    for name, (told, drawn) in zip(("failing", "passing"), counts):
        check.that(f"every turn of the {name} schedule is drawn ({drawn})", told == drawn, f"{told} told, {drawn} drawn")
    if expected:
        drawn = [drawn for _, drawn in counts][: len(expected)]
        check.that(f"{expected} turns are drawn", drawn == expected, drawn)
    return [drawn for _, drawn in counts]


def deviations_are_marked(browser, check):
    counts = browser.ask("""
        const told = JSON.parse(document.getElementById("turns").textContent).filter((turn) => turn.out_of_turn).length;
        const count = (selector) => document.querySelectorAll(selector).length;
        return [told, count(".turn.deviation .is-deviation"), count(".number .deviation-text")];
    """)
    check.that(f"turns out of turn have a sign and words ({counts[0]})", len(set(counts)) == 1, counts)


def nothing_overlaps(browser, check):
    overlaps = browser.ask("""
        const crossing = [];
        for (const turn of document.querySelectorAll(".turn, .open")) {
            const box = turn.querySelector(".box, .open-box")?.getBBox();
            if (!box) continue;
            for (const text of turn.querySelectorAll("text:not(.beside)")) {
                const line = text.getBBox();
                if (line.x + line.width > box.x + box.width + 1 || line.y + line.height > box.y + box.height + 3) {
                    crossing.push(text.textContent);
                }
            }
        }
        return crossing;
    """)
    check.that("the words of a turn stay in its box", not overlaps, overlaps[:5])
    cut = browser.ask("""
        const cut = [];
        for (const drawing of document.querySelectorAll("svg.lanes, svg.gutter, svg.body")) {
            const edge = drawing.getBoundingClientRect();
            for (const text of drawing.querySelectorAll("text")) {
                const line = text.getBoundingClientRect();
                if (line.right > edge.right + 1 || line.left < edge.left - 1) cut.push(text.textContent);
            }
        }
        return cut;
    """)
    check.that("no text is cut at the edge of its drawing", not cut, cut[:5])


def chosen(browser):
    return browser.ask("return document.querySelector('.turn.chosen')?.id ?? null")


def details_of(browser):
    return browser.ask("return document.getElementById('details').innerText")


def turns_can_be_chosen(browser, check):
    ids = browser.ask("return [...document.querySelectorAll('.failing .turn')].map((turn) => turn.id)")
    start = chosen(browser)
    check.that("a turn is chosen from the beginning", start is not None, start)
    box = browser.ask("""
        const box = document.querySelector(".turn.chosen .box").getBoundingClientRect();
        return [box.top >= 0, box.bottom <= innerHeight, box.left >= 0, box.right <= innerWidth];
    """)
    check.that("it is in sight", all(box), box)

    browser.ask("document.querySelector('.failing .scroll').scrollTo(0, 0)")
    browser.click_at(f"#{ids[0]} .box")
    words = details_of(browser)
    facts = ("fiber", "operator", "place", "virtual time", "ran because", "choice")
    missing = [fact for fact in facts if fact not in words]
    check.that("a click fills the details", chosen(browser) == ids[0] and not missing, (chosen(browser), missing))
    check.that("the details are of that turn", f"turn {ids[0][1:]} of" in words, words[:80])

    browser.press("ArrowDown")
    check.that("the arrow down goes to the next turn", chosen(browser) == ids[1], chosen(browser))
    check.that("the details follow", f"turn {ids[1][1:]} of" in details_of(browser), details_of(browser)[:80])
    browser.press("ArrowUp")
    check.that("the arrow up goes back", chosen(browser) == ids[0], chosen(browser))
    browser.press("End")
    check.that("the end key goes to the last turn", chosen(browser) == ids[-1], chosen(browser))
    browser.press("Home")
    browser.point_at(f"#{ids[1]} .box")
    check.that("the pointer shows the turn below it", f"turn {ids[1][1:]} of" in details_of(browser), details_of(browser)[:80])
    browser.point_away()
    check.that("and the chosen one again when it leaves", f"turn {ids[0][1:]} of" in details_of(browser), details_of(browser)[:80])

    links = browser.ask("""
        const turn = JSON.parse(document.getElementById("turns").textContent).find((turn) => turn.before && turn.after.length);
        if (!turn) return null;
        document.getElementById(turn.id).querySelector(".box").dispatchEvent(new MouseEvent("click", { bubbles: true }));
        const related = [turn.before, ...turn.after].filter(Boolean);
        return [related.length, document.querySelectorAll(".links path").length, document.querySelectorAll(".related").length];
    """)
    check.that("lines lead to what made it possible and what it made possible", links is None or len(set(links)) == 1, links)


def copy_button_copies(browser, check):
    browser.click("#copy")
    time.sleep(0.2)
    label = browser.ask("return document.getElementById('copy').textContent")
    check.that("the copy button says that it copied", label == "Copied", label)


def fits(browser, check, size):
    browser.resize(size)
    beyond = browser.ask("""
        const slack = arguments[0];
        const inScroller = (element) => element.parentElement.closest(".scroll");
        return [...document.body.querySelectorAll("*")]
            .filter((element) => !inScroller(element) && element.getBoundingClientRect().right > innerWidth + slack)
            .map((element) => element.outerHTML.slice(0, 80));
    """, SLACK_PIXELS)
    wide = browser.ask("return document.documentElement.scrollWidth - innerWidth")
    check.that(f"nothing is wider than {size[0]} pixels but the panes' content", not beyond and wide <= SLACK_PIXELS, (wide, beyond[:5]))


def head_sticks(browser, check):
    moved = browser.ask("""
        const scroll = document.querySelector(".failing .scroll");
        const top = () => scroll.querySelector(".head").getBoundingClientRect().top;
        scroll.scrollTop = 0;
        const before = top();
        scroll.scrollTop = 100;
        return Math.abs(top() - before);
    """)
    check.that("the names of the lanes stay in sight", moved <= SLACK_PIXELS, moved)


def contrast_suffices(browser, check, scheme):
    """Text of at least 4.5 to 1, as WCAG asks."""
    poor = browser.ask("""
        const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        const parse = (colour) => colour.match(/[0-9.]+/g).map(Number);
        const light = (colour) => { const [r, g, b] = parse(colour).map(channel); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const probe = document.createElement("i");
        document.body.append(probe);
        const named = (name) => { probe.style.color = `var(${name})`; return light(getComputedStyle(probe).color); };
        const pairs = [];
        for (const ink of ["--ink", "--dim", "--cancel", "--deviation", "--pair", "--time"]) pairs.push([ink, "--paper"]);
        for (const ink of ["--ink", "--dim"]) pairs.push([ink, "--box"]);
        pairs.push(["--deviation", "--deviation-band"], ["--dim", "--deviation-band"], ["--dim", "--pair-band"]);
        pairs.push(["--on-pair", "--pair"]);
        const poor = pairs.map(([a, b]) => [a, b, ratio(named(a), named(b))]).filter(([, , value]) => !(value >= 4.5));
        probe.remove();
        return poor;
    """)
    check.that(f"contrast suffices in {scheme} colours", not poor, poor)


def file_beside_it(check, report, expected):
    """The stand-alone SVG, if it lies beside the page, is XML and draws the same turns."""
    path = report.with_suffix(".svg")
    if not path.is_file():
        return
    groups = xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g")
    ids = [group.get("id") for group in groups if "turn" in (group.get("class") or "").split()]
    drawn = [sum(id.startswith(prefix) for id in ids) for prefix in "fp"]
    check.that("the SVG file draws the same turns", drawn == expected, (drawn, expected))


def works_without_scripts(check, report):
    """Before any script has run, every turn has a tooltip."""
    text = report.read_text()
    turns = re.findall(r'<g class="turn[ "]', text)
    tooltips = [tip for tip in re.findall(r"<title>([^<]*)</title>", text) if "ran because" in tip]
    check.that(f"without scripts every turn has a tooltip ({len(turns)})", 0 < len(turns) == len(tooltips), len(tooltips))


def run(browser, check, report, folder, expected):
    address = report.resolve().as_uri()
    browser.resize(WIDE)
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        browser.open(address)
        contrast_suffices(browser, check, scheme)
        browser.photograph(folder / f"{report.stem}-{scheme}.png")
    drawn = turns_are_drawn(browser, check, expected)
    file_beside_it(check, report, drawn)
    deviations_are_marked(browser, check)
    nothing_overlaps(browser, check)
    turns_can_be_chosen(browser, check)
    copy_button_copies(browser, check)
    head_sticks(browser, check)
    fits(browser, check, WIDE)
    fits(browser, check, NARROW)
    browser.photograph(folder / f"{report.stem}-narrow.png")
    complaints = browser.complaints()
    check.that("the browser has nothing to complain about", not complaints, complaints)
    works_without_scripts(check, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--turns", type=int, nargs="+", help="how many must be drawn of each schedule")
    arguments = parser.parse_args()
    if not arguments.report.is_file():
        parser.error(f"there is no {arguments.report}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    check = Check()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            run(browser, check, arguments.report, arguments.folder, arguments.turns)
        finally:
            browser.close()
    print(f"{check.failures} of the checks failed" if check.failures else "all checks passed")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
