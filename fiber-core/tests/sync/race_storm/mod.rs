//! Races on threads, counted at both ends: what is given is what is taken, and what is left. The side that loses has
//! given nothing and taken nothing.

mod forms;
mod sides;

use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Either, Error, Fiber};
use fiber_sched::Pool;

use forms::{Blocked, Boxed, Form, In, Joins, Mapped, Named, Nested, Steps, Yields};
use sides::*;

/// Races of each of the two racers.
const RACES: u32 = if cfg!(debug_assertions) { 1_500 } else { 10_000 };

/// A storm takes about a second. One that has lost a wake-up never ends.
const HANGS: Duration = Duration::from_secs(120);

/// One race after the other, with two racers and a partner for each side.
fn storm<A: Side, B: Side>(pool: &Pool) {
    let (left, right) = (A::open(), B::open());
    let (a, b) = (left.clone(), right.clone());
    let race = move |number| {
        let (a, b) = (a.clone(), b.clone());
        let race = a.clone().attempt(number).race(b.clone().attempt(number));
        race.map(move |won| match won {
            Either::Left(value) => a.won(number, value),
            Either::Right(value) => b.won(number, value),
        })
        .boxed()
    };
    println!("{} and {}", name::<A>(), name::<B>());
    run(pool, Arc::new(race), partners(&left).zip(partners(&right)).map(drop).boxed());
    left.check();
    right.check();
}

/// The attempts of a side, with a time limit for each.
fn limited<S: Side>(pool: &Pool) {
    let side = S::open();
    let this = side.clone();
    let attempt = move |number| {
        let this = this.clone();
        let limit = Duration::from_micros(1 + u64::from(number % 5));
        let attempt = this.clone().attempt(number).timeout_option(limit);
        attempt.map(move |value| value.into_iter().for_each(|value| this.won(number, value))).boxed()
    };
    println!("{}", name::<S>());
    run(pool, Arc::new(attempt), partners(&side));
    side.check();
}

/// Two racers, and their partners until the racers have ended.
fn run(pool: &Pool, race: Arc<dyn Fn(u32) -> Fiber<()> + Send + Sync>, partners: Fiber<()>) {
    let racer = |first: u32| {
        let race = race.clone();
        Fiber::for_each(first..first + RACES, move |number| race(number)).boxed()
    };
    let racers = racer(0).zip(racer(RACES)).timeout(HANGS).map(drop).boxed();
    let ended = pool.run(racers.race(partners));
    assert!(ended.is_success(), "{ended:?}");
}

fn partners<S: Side>(side: &S) -> Fiber<()> {
    let side = side.clone();
    Fiber::for_each(2 * RACES.., move |number| side.partner(number)).boxed()
}

fn name<S>() -> &'static str {
    std::any::type_name::<S>().rsplit("::").next().unwrap_or_default()
}

/// A storm for each pair of one of these sides and one of those, in both orders.
macro_rules! storms {
    ($these:tt with $($those:ty),*) => {
        let pool = Pool::builder().workers(2).build();
        $(storms!(@ &pool, $those, $these);)*
    };
    (@ $pool:expr, $that:ty, [$($this:ty),*]) => {
        $(
            storm::<$this, $that>($pool);
            storm::<$that, $this>($pool);
        )*
    };
}

#[test]
fn of_sends_and_receives_none_is_lost_and_none_happens_twice() {
    storms!([Sends<0>, Sends<1>, Receives<0>, Receives<1>] with Sends<0>, Receives<0>);
    storms!([Sends<1>, Sends<3>, Receives<1>, Receives<3>] with Sends<1>, Receives<1>);
    storms!([In<Mapped, Sends<1>>, In<Mapped, Receives<0>>] with In<Mapped, Sends<0>>);
}

#[test]
fn a_send_that_loses_to_any_other_operation_is_not_received() {
    storms!([Acquires, Locks, Reads, Writes, Waits, Observes, Meets, Asks, Expects, Listens, Sleeps] with Sends<1>);
    storms!([ReceivesMany, Publishes, Hears] with Sends<0>);
}

#[test]
fn a_receive_that_loses_to_any_other_operation_takes_nothing() {
    storms!([Acquires, Locks, Reads, Writes, Waits, Observes, Meets, Asks, Expects, Listens, Sleeps] with Receives<1>);
    storms!([ReceivesMany, Publishes, Hears] with Receives<0>);
}

#[test]
fn two_operations_of_any_other_kind_lose_nothing() {
    storms!([Publishes, Hears, Waits, Observes, Meets] with Waits);
    storms!([Publishes, Hears, Acquires, Observes] with Meets);
    storms!([Publishes, Hears] with Hears);
}

#[test]
fn an_operation_with_a_time_limit_loses_nothing() {
    let pool = Pool::builder().workers(2).build();
    limited::<Sends<0>>(&pool);
    limited::<Sends<1>>(&pool);
    limited::<Receives<0>>(&pool);
    limited::<Receives<1>>(&pool);
    limited::<Publishes>(&pool);
    limited::<Hears>(&pool);
    limited::<Waits>(&pool);
    limited::<Observes>(&pool);
    limited::<Meets>(&pool);
}

/// Storms for a wait in each form against this one.
fn in_each_form<S: Side, Other: Side>(pool: &Pool) {
    fn both<F: Form, S: Side, Other: Side>(pool: &Pool) {
        storm::<In<F, S>, Other>(pool);
        storm::<Other, In<F, S>>(pool);
    }
    both::<Boxed, S, Other>(pool);
    both::<Named, S, Other>(pool);
    both::<Blocked, S, Other>(pool);
    both::<Nested, S, Other>(pool);
}

/// Storms for waits in each form against programs, and against waits.
macro_rules! in_each_form {
    ([$($side:ty),*] with $programs:tt) => {
        let pool = Pool::builder().workers(2).build();
        $(in_each_form!(@ &pool, $side, $programs);)*
    };
    (@ $pool:expr, $side:ty, [$($program:ty),*]) => {
        $(in_each_form::<$side, $program>($pool);)*
    };
}

#[test]
fn a_receive_in_any_form_that_loses_takes_nothing() {
    in_each_form!([Receives<0>, Receives<1>] with [Yields, Steps, Joins, Sleeps, Receives<1>, In<Boxed, Sends<0>>]);
}

#[test]
fn a_send_in_any_form_that_loses_is_not_received() {
    in_each_form!([Sends<0>, Sends<1>] with [Yields, Steps, Joins, Sleeps, Sends<1>, In<Blocked, Receives<0>>]);
}

#[test]
fn an_operation_in_any_form_that_loses_to_a_program_has_no_effect() {
    in_each_form!([ReceivesMany, Publishes, Hears, Acquires, Locks, Reads, Writes] with [Yields, Joins]);
    in_each_form!([Waits, Observes, Meets, Asks, Expects, Listens] with [Yields, Steps]);
}

#[test]
fn a_wait_with_plain_closures_that_loses_to_a_program_has_no_effect() {
    let pool = Pool::builder().workers(2).build();
    storms!([Receives<0>, Sends<1>, Acquires, Waits, Meets] with Yields, Steps);
    storm::<In<Mapped, Receives<0>>, Joins>(&pool);
    storm::<Steps, In<Mapped, Receives<1>>>(&pool);
}

/// An operator that races any number of sides.
trait Crowd: 'static {
    fn race<T: Send + 'static>(sides: Vec<Fiber<T>>) -> Fiber<T>;
}

struct RaceAll;

impl Crowd for RaceAll {
    fn race<T: Send + 'static>(sides: Vec<Fiber<T>>) -> Fiber<T> {
        Fiber::race_all(sides).boxed()
    }
}

struct FirstSuccess;

impl Crowd for FirstSuccess {
    fn race<T: Send + 'static>(sides: Vec<Fiber<T>>) -> Fiber<T> {
        let failure = Fiber::yield_now().bind(|()| Fiber::fail(Error::msg("no"))).boxed();
        Fiber::first_success(sides.into_iter().chain([failure])).boxed()
    }
}

/// All attempts start at once.
struct Hedged;

impl Crowd for Hedged {
    fn race<T: Send + 'static>(sides: Vec<Fiber<T>>) -> Fiber<T> {
        let attempts = u32::try_from(sides.len()).unwrap();
        let mut sides = sides.into_iter();
        Fiber::hedge(Duration::ZERO, attempts, move || sides.next().unwrap()).boxed()
    }
}

/// Each inner race is a side of the one around it.
struct Chain;

impl Crowd for Chain {
    fn race<T: Send + 'static>(sides: Vec<Fiber<T>>) -> Fiber<T> {
        let race = |all: Fiber<T>, side| all.race(side).map(Either::into_inner).boxed();
        sides.into_iter().reduce(race).unwrap()
    }
}

/// Races of three waits of one kind.
fn crowd<C: Crowd, S: Side>(pool: &Pool) {
    let sides: Vec<S> = (0..3).map(|_| S::open()).collect();
    let those = sides.clone();
    let attempt = move |number| {
        let one = |(at, side): (usize, &S)| side.clone().attempt(number).map(move |value| (at, value)).boxed();
        let race = C::race(those.iter().enumerate().map(one).collect());
        let those = those.clone();
        race.map(move |(at, value)| those[at].won(number, value)).boxed()
    };
    println!("{}", name::<S>());
    let partners: Vec<_> = sides.iter().map(partners).collect();
    run(pool, Arc::new(attempt), Fiber::parallel(partners).map(drop).boxed());
    sides.iter().for_each(S::check);
}

fn crowds<C: Crowd>() {
    let pool = Pool::builder().workers(2).build();
    crowd::<C, Receives<0>>(&pool);
    crowd::<C, Receives<1>>(&pool);
    crowd::<C, In<Blocked, Receives<1>>>(&pool);
    crowd::<C, Sends<0>>(&pool);
    crowd::<C, Sends<1>>(&pool);
    crowd::<C, Acquires>(&pool);
    crowd::<C, Waits>(&pool);
    crowd::<C, Meets>(&pool);
}

#[test]
fn of_the_sides_of_race_all_one_takes_or_gives_something() {
    crowds::<RaceAll>();
}

#[test]
fn of_the_sides_of_first_success_one_takes_or_gives_something() {
    crowds::<FirstSuccess>();
}

#[test]
fn of_the_attempts_of_a_hedge_one_takes_or_gives_something() {
    crowds::<Hedged>();
}

#[test]
fn of_the_sides_of_nested_races_one_takes_or_gives_something() {
    crowds::<Chain>();
}
