#!/usr/bin/env python3
"""Opens the page of an inspector in Chromium, beside a program whose fibers are in trouble, and checks what is to be seen.

    check.py target/debug/inspected folder-for-screenshots

The program is the example `inspected`. Needs what the check of pictures needs, whose browser it uses.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "fiber-test/tests/picture"))
import check as pictures  # noqa: E402

PATIENCE_SECONDS = 60
TROUBLES = ["requests", "deadlock", "stuck", "leak", "lost", "hostile", "idle=10000"]
# A line of the list, and a few before and behind what is to be seen.
MOST_LINES = 100


class Page(pictures.Browser):
    def until(self, script, *arguments):
        """Waits for a true value of a JavaScript function's body, and returns it."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if value := self.ask(script, *arguments):
                return value
            # In a debug build, the page would wait for long until it asks again by itself.
            self.ask("for (let n = 0; n < 2; n++) document.getElementById('pause').click()")
            time.sleep(0.5)
        raise TimeoutError(f"not within {PATIENCE_SECONDS} seconds: {script}")

    def text(self, selector):
        return self.ask("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def card(self, title):
        """The text of what needs attention, once it is there."""
        return self.until(
            "return [...document.querySelectorAll('.card')].map((card) => card.innerText)"
            ".find((text) => text.includes(arguments[0]))", title
        )

    def type(self, selector, text):
        self.ask(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input'))", selector, text
        )

    def lines(self):
        return self.ask("return [...document.querySelectorAll('#rows .row')].map((row) => row.innerText.replaceAll('\\n', ' '))")

    def view(self, name):
        self.click(f"#views [data-view={name}]")


def attention_is_drawn(page, check):
    circle = page.card("Circle 1")
    names = [name in circle for name in ("north to south", "south to north", "Mutex `north`, held by", "Mutex `south`, held by")]
    check.that("the circle of a deadlock is drawn, with names and locks", all(names), circle)
    drawn = page.ask("""
        const circle = document.querySelector(".circle");
        const lines = [...circle.children].map((line) => line.getBoundingClientRect());
        const way = getComputedStyle(circle, "::before");
        return [lines.length, parseFloat(way.height), lines.at(-1).top - lines[0].top, lines.every((line, at) => !at || line.top >= lines[at - 1].bottom - 1)];
    """)
    check.that("its way back leads from the last line to the first", drawn[0] == 3 and abs(drawn[1] - drawn[2]) < 20 and drawn[3], drawn)
    check.that("who waits for the circle is counted", "wait for them" in circle, circle)
    check.that("a stuck worker is marked", "has kept its worker for" in page.card("Stuck workers"))
    leaked = page.card("never ends its finalizer")
    check.that("a fiber that does not end is marked as leaked", "Leaked?" in leaked, leaked)
    check.that("a lost failure is told", "order 7 is sold out" in page.card("Failures that nobody saw"))


def fibers_come_and_go(page, check):
    page.type("#search", "request ")
    first = page.until("const rows = [...document.querySelectorAll('.row .name')].map((name) => name.textContent); return rows.length > 3 && rows")
    later = page.until("""
        const rows = [...document.querySelectorAll(".row .name")].map((name) => name.textContent);
        return arguments[0].some((name) => !rows.includes(name)) && rows.some((name) => !arguments[0].includes(name)) && rows;
    """, first)
    check.that("fibers come and go", bool(later), later)
    page.type("#search", "")


def many_are_readable(page, check):
    folded = page.until("return [...document.querySelectorAll('.row.group')].map((row) => row.innerText).find((text) => text.includes('10,000'))")
    check.that("ten thousand fibers that are alike are one line", "sleeper 0" in folded, folded)
    page.ask("[...document.querySelectorAll('.row.group')].find((row) => row.innerText.includes('10,000')).click()")
    drawn, height = page.ask("return [document.querySelectorAll('#rows .row').length, document.getElementById('list').scrollHeight]")
    check.that(f"unfolded, only those in sight are drawn ({drawn})", drawn <= MOST_LINES and height > 10_000 * 20, (drawn, height))
    page.ask("document.getElementById('list').scrollTop = 120000")
    page.until("return [...document.querySelectorAll('#rows .row')].some((row) => /sleeper 49../.test(row.innerText))")
    began = time.monotonic()
    page.type("#search", "sleeper 4321")
    found = page.lines()
    check.that("a search finds one of them", len(found) == 1 and "sleeper 4321" in found[0], found[:3])
    check.that("at once", time.monotonic() - began < 1, time.monotonic() - began)
    page.type("#search", "")
    page.ask("document.getElementById('list').scrollTop = 0; document.getElementById('alike').click()")
    check.that("without folding, all are lines", page.ask("return document.getElementById('list').scrollHeight") > 10_000 * 20)
    page.ask("document.getElementById('alike').click()")


def filters_filter(page, check):
    page.until("const kind = [...document.querySelectorAll('#kinds button')].find((one) => /^a lock/.test(one.innerText)); kind?.click(); return Boolean(kind)")
    lines = page.lines()
    check.that("a click on a kind of wait shows those that wait so", len(lines) == 3 and all("Mutex" in line for line in lines), lines)
    page.ask("document.querySelector('#kinds button').click()")
    page.type("#age", "3600")
    check.that("nothing has waited for an hour", page.lines() == [] and "No fiber is like this" in page.text("#list"), page.lines()[:3])
    page.type("#age", "1")
    ages = page.ask("return [...document.querySelectorAll('#rows .row .number')].map((age) => age.innerText)")
    check.that("only those are left that have waited for a second", ages and not any(age.endswith(("ms", "µs")) for age in ages), ages)
    page.type("#age", "0")
    page.view("groups")
    counted, told = page.ask("""
        const counts = [...document.querySelectorAll("#groups tbody tr")].map((row) => Number(row.cells[0].innerText.replaceAll(",", "")));
        return [counts.reduce((sum, count) => sum + count, 0), Number(document.querySelector("#numbers b").innerText.replaceAll(",", ""))];
    """)
    check.that(f"the groups are all fibers ({counted})", counted == told, told)
    page.ask("document.querySelector('#groups tbody tr').click()")
    check.that("a click on a group lists its fibers", "10,000 match" in page.text("#shown"), page.text("#shown"))
    page.ask("document.querySelector('#kinds button').click()")


def one_fiber_is_explained(page, check):
    page.ask("document.querySelector('.circle .link').click()")
    words = page.text("#details")
    facts = ("waits at", "forked at", "why", "a circle", "it holds, and others wait for", "waiting for it", "above it")
    missing = [fact for fact in facts if fact not in words]
    check.that("a click on a fiber of the circle explains it", not missing, (missing, words))
    check.that("its line is in sight", page.ask("return document.querySelectorAll('.row.chosen').length") == 1)
    page.ask("document.getElementById('list').focus()")
    page.press("ArrowDown")
    check.that("the arrow down goes to the next fiber", "south to north" in page.text("#details h2"), page.text("#details h2"))


def hostile_names_are_text(page, check):
    page.type("#search", "onerror")
    lines = page.lines()
    check.that("a name that is markup is shown as text", len(lines) == 1 and "<img src=x" in lines[0], lines)
    seen = page.ask("return [document.title, document.images.length, document.scripts.length]")
    check.that("and does nothing", seen == ["Fibers", 0, 1], seen)
    page.type("#search", "")


def threads_are_drawn(page, check):
    page.view("threads")
    threads = page.text("#threads")
    check.that("threads show what they do", "runs" in threads and "stuck" in threads and "worker-0" in threads, threads)
    heights = page.ask("return [...document.querySelectorAll('.thread .area')].map((area) => area.getBBox().height)")
    check.that("the one that is stuck was busy all the time", any(height > 19 for height in heights), heights)
    marked = "return [...document.querySelectorAll('.thread')].some((thread) => thread.innerText.includes('stuck') && thread.querySelector('.long.now'))"
    check.that("its turn is marked", page.until(marked))
    check.that("workers have numbers", page.until("return document.querySelectorAll('#workers tbody tr').length") == 4)


def a_press_outlasts_what_is_drawn(page, check):
    pointer = "button.dispatchEvent(new PointerEvent(arguments[0], { bubbles: true }))"
    page.ask(f"window.button = document.querySelector('#details .danger'); {pointer}; performance.clearResourceTimings()", "pointerdown")
    page.until("return performance.getEntriesByType('resource').length > 1")
    check.that("a button that is pressed stays, so that no click is lost", page.ask("return document.contains(button)"))
    page.ask(pointer, "pointerup")
    check.that("and is drawn anew after that", page.until("return !document.contains(button)"))


def a_fiber_is_cancelled(page, check):
    page.view("tree")
    page.type("#search", "sleeper 77")
    page.until("const row = [...document.querySelectorAll('.row')].find((row) => / ?sleeper 77$/.test(row.querySelector('.name').textContent)); row?.click(); return Boolean(row)")
    a_press_outlasts_what_is_drawn(page, check)
    # In one step each: the page may draw the button anew between two.
    page.ask("document.querySelector('#details .danger').click()")
    check.that("a fiber is not cancelled without a question", "Really?" in page.text("#details .danger"), page.text("#details"))
    page.ask("document.querySelector('#details .danger').click()")
    gone = page.until("return /has ended/.test(document.getElementById('details').innerText)")
    check.that("and ends when the answer is yes", gone)
    page.type("#search", "")


def the_page_fits(page, check, size):
    page.resize(size)
    page.ask("dispatchEvent(new Event('resize'))")
    wide = page.ask("return [document.documentElement.scrollWidth, innerWidth]")
    check.that(f"nothing sticks out at a width of {size[0]}", wide[0] <= wide[1] + pictures.SLACK_PIXELS, wide)


def check_page(page, address, folder, check):
    page.resize(pictures.WIDE)
    page.colours("light")
    page.open(address)
    page.until("return document.querySelectorAll('#rows .row').length > 5")
    attention_is_drawn(page, check)
    one_fiber_is_explained(page, check)
    page.photograph(folder / "inspector-tree.png")
    fibers_come_and_go(page, check)
    many_are_readable(page, check)
    filters_filter(page, check)
    hostile_names_are_text(page, check)
    threads_are_drawn(page, check)
    page.photograph(folder / "inspector-threads.png")
    page.view("groups")
    page.colours("dark")
    page.photograph(folder / "inspector-groups-dark.png")
    a_fiber_is_cancelled(page, check)
    the_page_fits(page, check, pictures.NARROW)
    page.photograph(folder / "inspector-narrow.png")
    the_page_fits(page, check, pictures.WIDE)
    complaints = page.complaints()
    check.that("the browser does not complain", not complaints, complaints)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("folder", type=pathlib.Path)
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    check = pictures.Check()
    program = subprocess.Popen([given.program, "127.0.0.1:0", *TROUBLES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = program.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as profile:
            page = Page(profile)
            try:
                check_page(page, address, given.folder, check)
                program.kill()
                page.until("return /does not answer/.test(document.getElementById('state').innerText)")
                check.that("a program that has ended is told", True)
            finally:
                page.close()
    finally:
        program.kill()
        program.wait()
    if check.failures:
        sys.exit(f"{check.failures} claims do not hold")


if __name__ == "__main__":
    main()
