#!/usr/bin/env python3
"""The loads of a loop of `counts` that have to wait until several stores have left the store buffer.

    cargo build --release -p benches --bin counts
    benches/stalls.py target/release/counts "two messages"          # on a `CurrentThread`
    benches/stalls.py target/release/counts "two messages" pool

A processor passes what a store in flight holds to a later load, if that store has all bytes of the load. Otherwise the load waits for a dozen
cycles or more (docs/decisions/stalls.md). The loop runs under valgrind's lackey, which tells all accesses. What is printed is how often a
round executes such a load, where it is, and which stores it needs. The fewer instructions there are in between, the longer it waits.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

ROUNDS = 400
# What may be in flight: stores of the last instructions, and not more of them than a store buffer holds.
INSTRUCTIONS = 100
STORES = 56
# Where valgrind loads a program that is independent of its position, and one that is not.
BASES = (0x108000, 0)


def main():
    program, row, host = (sys.argv[1:] + ["thread"])[:3]
    loads, executed = trace([program, host, row, str(ROUNDS)])
    code = disassembled(program)
    base = max(BASES, key=lambda base: sum(address - base in code for address in executed))
    for address, (count, size, stores) in sorted(loads.items(), key=lambda load: -load[1][0]):
        # Not those before and after the loop.
        if count >= ROUNDS / 2:
            print(f"{count / ROUNDS:5.1f}  load {size}: {place(code, address - base)}")
            for store in stores:
                print(f"       store {store.size}, {store.ago} instructions before: {place(code, store.address - base)}")


Store = collections.namedtuple("Store", "number instruction address size")
Needed = collections.namedtuple("Needed", "address size ago")


def trace(command):
    """The loads that wait, with the stores that the last one of each has waited for; and the instructions that were executed."""
    loads, executed, stores = {}, set(), {}
    instruction = number = address = 0
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        os.mkfifo(log)
        tool = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + log]
        run = subprocess.Popen([*tool, *command], stdout=subprocess.DEVNULL)
        for line in open(log):
            if not re.match(r"(I | L| S| M) ?[0-9a-f]+,\d", line):
                continue
            kind, (at, size) = line[:2].strip(), line[2:].split(",")
            at, size = int(at, 16), int(size)
            if kind == "I":
                address = at
                instruction += 1
                executed.add(address)
                continue
            bytes = range(at, at + size)
            if kind in "LM":
                found = {stores.get(byte) for byte in bytes}
                flying = [store for store in found if is_in_flight(store, instruction, number)]
                if flying and len(found) > 1:
                    needed = [Needed(store.address, store.size, instruction - store.instruction) for store in flying]
                    loads[address] = loads.get(address, (0,))[0] + 1, size, needed
            if kind in "SM":
                number += 1
                stores.update(dict.fromkeys(bytes, Store(number, instruction, address, size)))
            if len(stores) > 1 << 20:
                stores = {byte: store for byte, store in stores.items() if is_in_flight(store, instruction, number)}
        if run.wait() != 0:
            sys.exit("the program has failed")
    return loads, executed


def is_in_flight(store, instruction, number):
    return store is not None and instruction - store.instruction <= INSTRUCTIONS and number - store.number <= STORES


def disassembled(program):
    """The function and the text of each instruction."""
    code, function = {}, ""
    text = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", program], capture_output=True, text=True).stdout
    for line in text.splitlines():
        if header := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = header[1]
        elif instruction := re.match(r"\s+([0-9a-f]+):\s+(.*)", line):
            code[int(instruction[1], 16)] = f"{function}: {instruction[2]}"
    return code


def place(code, address):
    return code.get(address, "in a library")


main()
