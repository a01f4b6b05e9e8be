#!/usr/bin/env bash
# How long the compiler takes for long programs: chains of binds, nested and flat, and a `fiber!` block.
#
# usage: benches/compile-time.sh [limit in seconds] [length]
#
# Each program is a throw-away crate that depends on fiber-core; a debug build of it alone is timed, its dependencies
# being built before. Fails if one takes longer than the limit (default: no limit), or does not compile.
#
# Seconds of processor time: they do not depend on what else the machine does.
set -euo pipefail
shopt -s inherit_errexit

limit=${1:-}
length=${2:-40}
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")/compile-time
# All crates share one directory for what is built, so that the dependencies are built once.
export CARGO_TARGET_DIR=$target/target

# a.bind(|x1| b(x1).bind(move |x2| c(x2).bind(.. x1 + x2 + ..)))
nested() {
    echo 'use fiber_core::{Fiber, Run};'
    echo 'pub fn program() -> Fiber<u64, impl Run<Out = u64>> {'
    echo '    Fiber::success(0u64)'
    for i in $(seq "$length"); do
        echo "    .bind(move |x$i| Fiber::success(x$i + 1)"
    done
    # The innermost closure uses every variable, so every closure captures all before it.
    echo "    .map(move |last| last$(seq -f ' + x%g' -s '' "$length"))"
    for _ in $(seq "$length"); do echo -n '    )'; done
    echo '}'
}

# a.bind(b).bind(c)..
flat() {
    echo 'use fiber_core::{Fiber, Run};'
    echo 'pub fn program() -> Fiber<u64, impl Run<Out = u64>> {'
    echo '    Fiber::success(0u64)'
    for i in $(seq "$length"); do
        echo "    .bind(|x| Fiber::success(x + $i))"
    done
    echo '}'
}

# let! x1 = a; let! x2 = b(x1); ..
block() {
    echo 'use fiber_core::{Fiber, fiber};'
    echo 'pub fn program() -> Fiber<u64> {'
    echo '    fiber! {'
    echo '        let! x0 = Fiber::success(0u64);'
    for i in $(seq "$length"); do
        echo "        let! x$i = Fiber::success(x$((i - 1)) + 1);"
    done
    echo "        return x0$(seq -f ' + x%g' -s '' "$length")"
    echo '    }'
    echo '}'
}

# A crate with this name and, so far, no program.
create() {
    mkdir -p "$target/$1/src"
    cat >"$target/$1/Cargo.toml" <<TOML
[package]
name = "compile-time-$1"
version = "0.0.0"
edition = "2024"

[dependencies]
fiber-core = { path = "$root/fiber-core" }

[workspace]
TOML
    # The versions that the workspace uses.
    cp "$root/Cargo.lock" "$target/$1/Cargo.lock"
    echo 'fn main() {}' >"$target/$1/src/main.rs"
}

build() {
    cargo build --quiet --manifest-path "$target/$1/Cargo.toml"
}

# The seconds of a build of nothing but the program, erased, so that all code of it is generated.
time_build() {
    create "$1"
    build "$1"
    {
        "$1"
        echo 'fn main() { drop(program().boxed()) }'
    } >"$target/$1/src/main.rs"
    local TIMEFORMAT=%U times
    times=$({ time build "$1" 2>&3; } 3>&2 2>&1)
    echo "$times"
}

is_slow=0
for program in nested flat block; do
    seconds=$(time_build "$program")
    echo "$program, $length binds: $seconds s"
    if [[ -n $limit ]] && awk -v seconds="$seconds" -v limit="$limit" 'BEGIN { exit !(seconds > limit) }'; then
        echo "  longer than $limit s" >&2
        is_slow=1
    fi
done
exit $is_slow
