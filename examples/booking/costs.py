#!/usr/bin/env python3
"""Prints how many instructions a booking costs, by cause: in plain tokio, with fibers on the runtime, and on a pool.

Needs valgrind, and the programs: `cargo build --release --bins`. Each service runs in valgrind, with one worker, and is loaded
over four connections, with two numbers of requests. A cost is the difference between the two runs, so the start is left out.
The upstreams run in the same process, so the figures include them.
"""

import collections
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "target", "release")
FEW, MANY, CONNECTIONS, PORT = 300, 900, 4, 3399

# The first pattern that occurs in the name of a function is its cause. Functions of the standard library are counted for the
# first other crate in their name.
CAUSES = [
    ("SQLite", r"sqlite"),
    ("allocator", r"^(malloc|calloc|realloc|free|cfree|_int_|__rust_|__rdl|unlink_chunk|tcache|sysmalloc)|/malloc/"),
    ("copies", r"^__?mem(cpy|move|set|cmp)"),
    ("fibers: cells and the tree", r"\bfiber_core::cell"),
    ("fibers: waits and what follows", r"\bfiber_core::(engine::(frames|task|step|boxed)|leaf)"),
    ("fibers: contexts, limits, masks", r"\bfiber_core::(engine|combine::region)"),
    ("fibers: blocks and futures", r"\bfiber_core::(block|future)"),
    ("fibers: branches, hedges", r"\bfiber_core::combine::branches"),
    ("fibers: spawns, handles, groups", r"\bfiber_core::combine::fork"),
    ("fibers: sequence, retries", r"\bfiber_core::(combine|policy)"),
    ("fibers: sync", r"\bfiber_core::sync"),
    ("fibers: the rest", r"\bfiber_core::"),
    ("fibers: scheduler", r"\bfiber_sched::(on_tokio|pool|timer|blocking|steal|metrics|by_fiber|contain)|crossbeam_deque"),
    ("fibers: layer", r"\bfiber_sched::"),
    ("the program", r"\b(booking|plain)::"),
    ("tracing", r"\b(tracing|tracing_core|tracing_subscriber|tracing_log)::"),
    ("hyper, axum, http, serde", r"\b(hyper|hyper_util|axum|axum_core|http|http_body|http_body_util|httparse|tower|matchit|serde|serde_json|bytes|futures_util|futures_channel|itoa)::"),
    ("tokio", r"\b(tokio|tokio_util|mio|parking_lot|parking_lot_core)::"),
]


def cause_of(function):
    for cause, pattern in CAUSES:
        if re.search(pattern, function):
            return cause
    return "the rest: std, libc"


def costs(program, requests, variables):
    """The instructions of each function in a run of a service with this many requests."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        environment = {**os.environ, "PORT": str(PORT), "FAULTS": "none", "TOKIO_WORKER_THREADS": "1", **variables}
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", os.path.join(PROGRAMS, program)]
        service = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for_service(service)
            load = [os.path.join(PROGRAMS, "load"), f"127.0.0.1:{PORT}", str(service.pid), str(requests), str(CONNECTIONS)]
            subprocess.run(load, check=True, stdout=subprocess.DEVNULL)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait()
        annotated = subprocess.run(["callgrind_annotate", "--threshold=100", out], check=True, capture_output=True, text=True)
    found = collections.Counter()
    for line in annotated.stdout.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+(?:[^:]*:)?(.*?)(?: \[[^]]*\])?$", line)
        if match and match[2] != "PROGRAM TOTALS":
            found[match[2]] += int(match[1].replace(",", ""))
    return found


def wait_for_service(service):
    end = time.monotonic() + 60
    while time.monotonic() < end and service.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("the service does not answer")


def by_cause(program, variables):
    few, many = (costs(program, requests, variables) for requests in (FEW, MANY))
    per_request = collections.Counter()
    for function, count in (many - few).items():
        per_request[cause_of(function)] += count / (MANY - FEW)
    return per_request


def main():
    services = [("plain tokio", "plain", {}), ("`TokioScheduler`", "booking", {}), ("`Pool`", "booking", {"FIBERS": "pool"})]
    columns = [by_cause(program, variables) for _, program, variables in services]
    print("| a booking, instructions | " + " | ".join(name for name, _, _ in services) + " |")
    print("|---|" + "---:|" * len(services))
    for cause in [cause for cause, _ in CAUSES] + [cause_of("")]:
        print(f"| {cause} | " + " | ".join(f"{round(column[cause], -2):,.0f}" for column in columns) + " |")
    print("| all | " + " | ".join(f"{round(sum(column.values()), -2):,.0f}" for column in columns) + " |")


main()
