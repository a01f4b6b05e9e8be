#!/usr/bin/env python3
"""Instructions and locked instructions of a round of each loop of `counts`, as a Markdown table.

    cargo build --release -p benches --bin counts
    benches/counts.py target/release/counts                       # all rows
    benches/counts.py target/release/counts "zip of two yields"   # one of them, and the functions that it spends most in

Each loop runs under callgrind, with n and with 2n rounds; the table has the difference, divided by n, so what happens before
and after the loop is left out. An instruction is locked if it has a `lock` prefix or exchanges a register with memory.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

# A multiple of the sizes of crowds and channels.
ROUNDS = 1024
HOSTS = {
    "thread": "`CurrentThread`", "pool": "`Pool`, one worker", "runtime": "`TokioScheduler`, one worker", "tokio": "tokio", "kanal": "kanal", "async-lock": "async-lock",
    "async-channel": "async-channel",
}
# Beside these, where a row is named.
OBSERVED = {"history": "`CurrentThread` with a `History`"}


# Callgrind, for `read`.
TOOL = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--compress-pos=no", "--compress-strings=no"]


def counts(program, host, row, rounds):
    """How often each instruction was executed, and the name of its function."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        run = subprocess.run([*TOOL, "--callgrind-out-file=" + out, program, host, row, str(rounds)], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(run.stderr)
        executed, functions, _ = read(out)
        return executed, functions


def read(out):
    """How often each instruction was executed, the name of its function, and how often each function called each other one."""
    executed, functions, calls = collections.Counter(), {}, collections.Counter()
    file = function = callee = ""
    is_call = False
    for line in open(out):
        if line.startswith("ob="):
            file = line[3:].strip()
        elif line.startswith("fn="):
            function = line[3:].strip()
        elif line.startswith("cfn="):
            callee = line[4:].strip()
        elif line.startswith("calls="):
            calls[function, callee] += int(line[6:].split()[0])
            is_call = True
        elif line.startswith("0x"):
            if not is_call:
                address, *rest = line.split()
                executed[file, int(address, 16)] += int(rest[-1])
                functions[file, int(address, 16)] = function
            is_call = False
    return executed, functions, calls


def locked(file, memory={}):
    """The addresses of locked instructions."""
    if file not in memory:
        listing = ""
        if os.path.exists(file):
            command = ["objdump", "-d", "--no-show-raw-insn", file]
            listing = subprocess.run(command, capture_output=True, text=True).stdout
        pattern = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock |mfence|xchg\s.*\()", re.MULTILINE)
        memory[file] = {int(address, 16) for address in pattern.findall(listing)}
    return memory[file]


def measure(program, host, row):
    """Instructions and locked instructions of a round, in all and by function."""
    once, _ = counts(program, host, row, ROUNDS)
    twice, functions = counts(program, host, row, 2 * ROUNDS)
    instructions, locks = collections.Counter(), collections.Counter()
    for place, number in twice.items():
        number = (number - once.get(place, 0)) / ROUNDS
        instructions[functions[place]] += number
        if place[1] in locked(place[0]):
            locks[functions[place]] += number
    return instructions, locks


def main():
    program, *rows = sys.argv[1:]
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    peers = {name: ["thread", "pool", "runtime", "history", *hosts] for name, *hosts in (line.split("\t") for line in listing)}
    hosts = HOSTS | OBSERVED if rows else HOSTS
    print(f"| a round, instructions / locked | {' | '.join(hosts.values())} |")
    print(f"|---|{'---:|' * len(hosts)}")
    for row in rows or peers:
        found = {host: measure(program, host, row) for host in hosts if host in peers[row]}
        cells = [f"{found[host][0].total():,.0f} / {found[host][1].total():.1f}" if host in found else "" for host in hosts]
        print(f"| {row} | {' | '.join(cells)} |", flush=True)
        for host, (instructions, locks) in found.items() if rows else []:
            print(f"\n{host}:")
            for function, number in instructions.most_common(40):
                print(f"{number:9.1f} {locks[function]:6.2f}  {function[:150]}")


if __name__ == "__main__":
    main()
