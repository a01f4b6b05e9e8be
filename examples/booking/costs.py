#!/usr/bin/env python3
"""Prints what a request costs: in plain tokio, with fibers on the runtime, and on a pool. Needs the programs:
`cargo build --release --bins`.

    costs.py booking     # the instructions of a booking by cause, its locked instructions, and its allocations
    costs.py pass        # those of a request that the proxy passes on
    costs.py hit         # those of one that it answers from its cache
    costs.py times       # throughput, latencies, CPU time and switches of threads of all three; for an idle machine

Instructions are counted by valgrind. Each service runs in it with one worker, and is loaded over four connections, with two
numbers of requests. A cost is the difference between the two runs, so the start is left out. Times are medians of rounds in which the
services take turns. The upstreams run in the same process, so all figures include them.
"""

import collections
import contextlib
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "benches"))
from counts import TOOL, locked, read  # noqa: E402

PROGRAMS = os.path.join(HERE, "target", "release")
PORT = 3399
# The numbers of requests and connections for instructions, and those for times.
FEW, MANY, COUNTED_CONNECTIONS = 300, 900, 4
ROUNDS, TIMED, TIMED_CONNECTIONS = 9, 10_000, 16

# The programs without and with fibers, and how many paths a load of so many requests asks for.
REQUESTS = {
    "booking": ("plain", "booking", lambda requests: []),
    "pass": ("plain_proxy", "proxy", lambda requests: [str(requests)]),
    "hit": ("plain_proxy", "proxy", lambda requests: ["1"]),
}


def services(request):
    plain, fibers, _ = REQUESTS[request]
    return {"plain tokio": (plain, {}), "`TokioScheduler`": (fibers, {}), "`Pool`": (fibers, {"FIBERS": "pool"})}


# The first pattern that occurs in the name of a function is its cause. Functions of the standard library are counted for the
# first other crate in their name.
CAUSES = [
    ("SQLite", r"sqlite"),
    ("allocator", r"^(malloc|calloc|realloc|free|cfree|_int_|__rust_|__rdl|unlink_chunk|tcache|sysmalloc)|/malloc/"),
    ("copies", r"^__?mem(cpy|move|set|cmp)"),
    ("fibers: cells and the tree", r"^(?!fiber_core::block).*\bfiber_core::cell"),
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
    ("the program", r"\b(booking|plain|proxy|plain_proxy)::"),
    ("tracing", r"\b(tracing|tracing_core|tracing_subscriber|tracing_log)::"),
    ("hyper, axum, http, serde", r"\b(hyper|hyper_util|axum|axum_core|http|http_body|http_body_util|httparse|tower|matchit|serde|serde_json|bytes|futures_util|futures_channel|itoa)::"),
    ("tokio", r"\b(tokio|tokio_util|mio|parking_lot|parking_lot_core)::"),
]


# Functions that allocate.
ALLOCATIONS = {"malloc", "calloc", "aligned_alloc", "posix_memalign"}


def cause_of(function):
    for cause, pattern in CAUSES:
        if re.search(pattern, function):
            return cause
    return "the rest: std, libc"


@contextlib.contextmanager
def running(program, port, variables, *tool):
    """A service, which is asked to end afterwards."""
    environment = {**os.environ, "PORT": str(port), "FAULTS": "none", **variables}
    command = [*tool, os.path.join(PROGRAMS, program)]
    service = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(service, port)
        yield service
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait()


def wait_for(service, port):
    end = time.monotonic() + 60
    while time.monotonic() < end and service.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("the service does not answer")


def load(service, port, request, requests, connections):
    """What the client prints."""
    paths = REQUESTS[request][2](requests)
    command = [os.path.join(PROGRAMS, "load"), f"127.0.0.1:{port}", str(service.pid), str(requests), str(connections), *paths]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def costs(request, program, variables, requests):
    """What a run of a service with this many requests costs, by cause."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind")
        with running(program, PORT, {"TOKIO_WORKER_THREADS": "1", **variables}, *TOOL, "--callgrind-out-file=" + out) as service:
            load(service, PORT, request, requests, COUNTED_CONNECTIONS)
        executed, functions, calls = read(out)
    found = collections.Counter()
    for place, count in executed.items():
        found[cause_of(functions[place])] += count
        found["all"] += count
        if place[1] in locked(place[0]):
            found["locked"] += count
    for (caller, callee), count in calls.items():
        if callee in ALLOCATIONS and cause_of(caller) != "SQLite":
            found["allocations"] += count
    return found


def print_instructions(request):
    columns = []
    for program, variables in services(request).values():
        few, many = (costs(request, program, variables, requests) for requests in (FEW, MANY))
        columns.append({cause: count / (MANY - FEW) for cause, count in (many - few).items()})
    print(f"| a {request}, instructions | {' | '.join(services(request))} |\n|---|{'---:|' * len(columns)}")
    for cause in [*(cause for cause, _ in CAUSES), cause_of(""), "all"]:
        if any(column.get(cause, 0) >= 50 for column in columns):
            print(f"| {cause} | {' | '.join(f'{round(column.get(cause, 0), -2):,.0f}' for column in columns)} |")
    for cause in ("locked", "allocations"):
        print(f"| {cause} | {' | '.join(f'{column[cause]:,.0f}' for column in columns)} |")


def print_times():
    print("| | | requests per second | p50 | p99 | CPU per request | switches of threads per request |\n|---|---|" + "---:|" * 5)
    for request in REQUESTS:
        with contextlib.ExitStack() as stack:
            started = []
            for port, (program, variables) in enumerate(services(request).values(), PORT):
                started.append((stack.enter_context(running(program, port, variables)), port))
            rounds = [[measure(*service, request) for service in started] for _ in range(1 + ROUNDS)]
        for name, *figures in zip(services(request), *rounds[1:]):
            rate, p50, p99, cpu, switches = map(statistics.median, zip(*figures))
            print(f"| {request} | {name} | {rate:,.0f} | {p50:.2f} ms | {p99:.1f} ms | {cpu:.0f} us | {switches:.1f} |", flush=True)


def measure(service, port, request):
    return [float(number) for number in re.findall(r"\b[\d.]+(?= )", load(service, port, request, TIMED, TIMED_CONNECTIONS))]


def main():
    match sys.argv[1:]:
        case ["times"]:
            print_times()
        case [request] if request in REQUESTS:
            print_instructions(request)
        case _:
            sys.exit(__doc__)


main()
