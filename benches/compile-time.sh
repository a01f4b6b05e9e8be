#!/usr/bin/env bash
# How long the compiler takes for long programs, and how large they are: chains of binds, nested and flat; `fiber!` blocks beside `async`;
# a dataflow; functions of combinators. And how much machine code a wait takes, which is exact, and fails if it is too much.
#
# usage: benches/compile-time.sh [limit in seconds] [length]
#
# Each program is a throw-away crate; a check, a debug build and a release build of it alone are timed, its dependencies being
# built before. Fails if one takes longer than the limit (default: no limit), or does not compile. With a limit, there are neither checks,
# which a debug build includes, nor programs of `async`.
#
# Seconds of processor time: they do not depend on what else the machine does.
set -euo pipefail
shopt -s inherit_errexit

limit=${1:-}
length=${2:-40}
root=$(cd "$(dirname "$0")/.." && pwd)
# All crates share one directory for what is built, with each other and with the library, so that the dependencies are built once.
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
export CARGO_TARGET_DIR
target=$CARGO_TARGET_DIR/compile-time

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
    echo "        x0$(seq -f ' + x%g' -s '' "$length")"
    echo '    }'
    echo '}'
}

# let x1 = a(&x0); let x2 = b(&x1, &x0); ..
dataflow() {
    echo 'use fiber_core::{Fiber, dataflow};'
    echo 'fn step(n: u64) -> Fiber<u64> { Fiber::success(n + 1).boxed() }'
    echo 'pub fn program() -> Fiber<u64> {'
    echo '    dataflow! {'
    echo '        let x0 = step(0);'
    for i in $(seq "$length"); do
        echo "        let x$i = step(x$((i - 1)) + x$((i / 2)));"
    done
    echo "        x0$(seq -f ' + x%g' -s '' "$length")"
    echo '    }'
    echo '}'
}

# The same in an async block.
async_block() {
    echo 'async fn step(n: u64) -> u64 { n + 1 }'
    echo 'pub async fn program() -> u64 {'
    echo '    let x0 = step(0).await;'
    for i in $(seq "$length"); do
        echo "    let x$i = step(x$((i - 1))).await;"
    done
    echo "    x0$(seq -f ' + x%g' -s '' "$length")"
    echo '}'
}

long_block() { length=500 block; }
long_async_block() { length=500 async_block; }

# A dozen functions with 39 waits and 6 loops each. $1: what is before a wait, $2: what is behind it.
functions() {
    for function in $(seq 12); do
        echo "$3 fn f$function(n: u64) -> $4 {"
        echo "$5"
        echo '    let mut sum = n;'
        for i in $(seq 3); do echo "    let$1 x$i = step(sum)$2; sum += x$i;"; done
        for _ in $(seq 6); do
            echo '    for i in 0..3 {'
            for i in $(seq 6); do echo "        let$1 x$i = step(sum + i)$2; if x$i % 7 == 0 { continue } sum += x$i;"; done
            echo '    }'
        done
        echo '    sum'
        echo "$6"
        echo '}'
    done
}

functions_of_blocks() {
    echo 'use fiber_core::{Fiber, Run, fiber};'
    echo 'fn step(n: u64) -> Fiber<u64, impl Run<Out = u64>> { Fiber::success(n).map(|n| n / 2) }'
    functions '!' '' '' 'Fiber<u64>' 'fiber! {' '}'
    echo 'pub fn program() -> Fiber<u64> {'
    echo '    fiber! { let mut n = 1;'
    for function in $(seq 12); do echo "    n = do! f$function(n);"; done
    echo '    n }'
    echo '}'
}

functions_of_async() {
    echo 'async fn step(n: u64) -> u64 { n / 2 }'
    functions '' '.await' 'async' 'u64' '' ''
    echo 'pub async fn program() -> u64 {'
    echo '    let mut n = 1;'
    for function in $(seq 12); do echo "    n = f$function(n).await;"; done
    echo '    n'
    echo '}'
}

# 60 functions of nine combinators each, three of which wait.
combinators() {
    echo 'use fiber_core::{Fiber, Run};'
    echo 'use std::time::Duration;'
    for i in $(seq 60); do
        cat <<RUST
fn f$i(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::yield_now()
        .map(move |()| n + $i)
        .bind(|n| Fiber::delay(Duration::from_millis(n)).map(move |()| n))
        .timeout(Duration::from_secs($i))
        .catch(move |_| Fiber::success(n + $i))
        .bind(|n| Fiber::yield_now().map(move |()| n * $i))
        .ensure(Fiber::lazy(|| std::hint::black_box(())))
}
RUST
    done
    echo 'pub fn program() -> Fiber<u64> {'
    echo '    let all: Vec<Fiber<u64>> = vec!['
    for i in $(seq 60); do echo "        f$i($i).boxed(),"; done
    echo '    ];'
    echo '    Fiber::parallel(all).map(|all| all.iter().sum()).boxed()'
    echo '}'
}

main_of() {
    case $1 in
    *async*)
        echo 'fn main() { let mut program = Box::pin(program());'
        echo '    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());'
        echo '    println!("{:?}", std::future::Future::poll(program.as_mut(), &mut cx)); }'
        ;;
    *) echo 'fn main() { drop(std::hint::black_box(program().boxed())) }' ;;
    esac
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

# The usual number, which may be another one for its dependencies.
[profile.release.package.compile-time-$1]
codegen-units = 16

[workspace]
TOML
    # The versions that the workspace uses.
    cp "$root/Cargo.lock" "$target/$1/Cargo.lock"
    echo 'fn main() {}' >"$target/$1/src/main.rs"
}

# $1: the crate, $2: check, debug or release.
build() {
    local command=(build --profile dev)
    case $2 in
    check) command=(check) ;;
    release) command=(build --release) ;;
    esac
    CARGO_INCREMENTAL=0 cargo "${command[@]}" --quiet --manifest-path "$target/$1/Cargo.toml"
}

# The seconds of a build of nothing but the program, erased, so that all code of it is generated.
time_build() {
    create "$1"
    {
        "$1"
        main_of "$1"
    } >"$target/$1/src/main.rs"
    local TIMEFORMAT=%U times
    times=$({ time build "$1" "$2" 2>&3; } 3>&2 2>&1)
    echo "$times"
}

megabytes() {
    stat -c %s "$CARGO_TARGET_DIR/$2/compile-time-$1" | awk '{ printf "%.2f", $1 / 1e6 }'
}

# The bytes of machine code in the release build of a program.
code() {
    size -A "$CARGO_TARGET_DIR/release/compile-time-$1" | awk '$1 == ".text" { print $2 }'
}

# $1: what, $2: the program, $3: how many there are, $4: the most bytes of code that each may take, beside those of an empty program.
check_code() {
    local bytes=$((($(code "$2") - $(code empty)) / $3))
    echo "bytes of code for $1: $bytes"
    if [ "$bytes" -gt "$4" ]; then
        echo "$2: more than $4 bytes of code for $1" >&2
        is_slow=1
    fi
}

programs=(nested flat block async_block dataflow functions_of_blocks functions_of_async combinators long_block long_async_block)
profiles=(check debug release)
if [[ -n $limit ]]; then
    programs=(nested flat block dataflow functions_of_blocks combinators long_block)
    profiles=(debug release)
fi

# The dependencies of all, and the program that all code is compared with.
create empty
echo 'fn main() { drop(std::hint::black_box(fiber_core::Fiber::success(1u64).boxed())) }' >"$target/empty/src/main.rs"
for profile in "${profiles[@]}"; do build empty "$profile"; done

is_slow=0
printf '%-20s' program
printf ' %10s' "${profiles[@]/%//s}" debug/MB release/MB
echo
for program in "${programs[@]}"; do
    printf '%-20s' "$program"
    for profile in "${profiles[@]}"; do
        seconds=$(time_build "$program" "$profile")
        printf ' %10s' "$seconds"
        if [[ -n $limit ]] && awk -v seconds="$seconds" -v limit="$limit" 'BEGIN { exit !(seconds > limit) }'; then
            echo "$program, $profile: longer than $limit s" >&2
            is_slow=1
        fi
    done
    printf ' %10s' "$(megabytes "$program" debug)" "$(megabytes "$program" release)"
    echo
done
# With one codegen unit, as in `.ci/run`. With the default of 16, some functions are there several times.
most=500
[ "${CARGO_PROFILE_RELEASE_CODEGEN_UNITS:-16}" = 1 ] || most=530
check_code 'a wait in `fiber!`' functions_of_blocks 468 "$most"
check_code 'a function of nine combinators' combinators 60 11000
exit $is_slow
