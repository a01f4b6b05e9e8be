//! Races on threads, counted at both ends: what is given is what is taken, and what is left. The side that loses has
//! given nothing and taken nothing.

mod explored;
mod forms;
mod sides;

use std::sync::Arc;
use std::time::Duration;

use fiber_core::{Either, Error, Fiber, race};
use fiber_sched::Pool;

use forms::{FORMS, Form, Kind, PROGRAMS, Racer, Steps, Won, Yields, boxed, of};
use sides::*;

/// Races of each of the two racers.
const RACES: u32 = if cfg!(debug_assertions) { 500 } else { 10_000 };
/// The same where the forms of a wait and the programs are many.
const FEWER: u32 = RACES / 5;

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
    run(pool, RACES, Arc::new(race), partners(&left).zip(partners(&right)).map(drop).boxed());
    left.check();
    right.check();
}

/// The same with three sides, which are one wait.
fn storm_of_three<A: Side, B: Side, C: Side>(pool: &Pool) {
    let (first, second, third) = (A::open(), B::open(), C::open());
    let (a, b, c) = (first.clone(), second.clone(), third.clone());
    let race = move |number| {
        let (a, b, c) = (a.clone(), b.clone(), c.clone());
        race! {
            value = a.clone().attempt(number) => a.won(number, value),
            value = b.clone().attempt(number) => b.won(number, value),
            value = c.clone().attempt(number) => c.won(number, value),
        }
    };
    println!("{}, {} and {}", name::<A>(), name::<B>(), name::<C>());
    let partners = Fiber::parallel([partners(&first), partners(&second), partners(&third)]);
    run(pool, RACES, Arc::new(race), partners.map(drop).boxed());
    first.check();
    second.check();
    third.check();
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
    run(pool, RACES, Arc::new(attempt), partners(&side));
    side.check();
}

/// Two racers, and their partners until the racers have ended.
fn run(pool: &Pool, races: u32, race: Arc<dyn Fn(u32) -> Fiber<()> + Send + Sync>, partners: Fiber<()>) {
    let racer = |first: u32| {
        let race = race.clone();
        Fiber::for_each(first..first + races, move |number| race(number)).boxed()
    };
    let racers = racer(0).zip(racer(races)).timeout(HANGS).map(drop).boxed();
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
    storms!([Mapped<Sends<1>>, Mapped<Receives<0>>] with Mapped<Sends<0>>);
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
fn of_three_operations_one_takes_or_gives_something() {
    let pool = Pool::builder().workers(2).build();
    storm_of_three::<Receives<1>, Receives<0>, Receives<1>>(&pool);
    storm_of_three::<Receives<0>, Sends<0>, Sleeps>(&pool);
    storm_of_three::<Sends<1>, Sends<0>, Sends<3>>(&pool);
    storm_of_three::<Acquires, Receives<1>, Waits>(&pool);
    storm_of_three::<Meets, Publishes, Receives<3>>(&pool);
    storm_of_three::<Mapped<Sends<0>>, Hears, Mapped<Receives<0>>>(&pool);
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

/// Each wait in each form against each other side, in both orders.
fn in_each_form(waits: &[Kind], others: &[Kind]) {
    let pool = Pool::builder().workers(2).build();
    for wait in waits {
        for other in others {
            for form in FORMS {
                erased_storm(&pool, (wait(), form), (other(), boxed));
                erased_storm(&pool, (other(), boxed), (wait(), form));
            }
        }
    }
}

fn erased_storm(pool: &Pool, (left, form): (Arc<dyn Racer>, Form), (right, other): (Arc<dyn Racer>, Form)) {
    let (a, b) = (left.clone(), right.clone());
    let race = move |number| {
        let race = form(a.attempt(number)).race(other(b.attempt(number)));
        race.map(|won| Either::into_inner(won)()).boxed()
    };
    run(pool, FEWER, Arc::new(race), erased_partners(&left).zip(erased_partners(&right)).map(drop).boxed());
    left.check();
    right.check();
}

fn erased_partners(side: &Arc<dyn Racer>) -> Fiber<()> {
    let side = side.clone();
    Fiber::for_each(2 * RACES.., move |number| side.partner(number)).boxed()
}

#[test]
fn a_receive_in_any_form_that_loses_takes_nothing() {
    in_each_form(&[of::<Receives<0>>, of::<Receives<1>>], &PROGRAMS);
    in_each_form(&[of::<Receives<0>>, of::<Receives<1>>], &[of::<Receives<1>>, of::<Sends<0>>]);
}

#[test]
fn a_send_in_any_form_that_loses_is_not_received() {
    in_each_form(&[of::<Sends<0>>, of::<Sends<1>>], &PROGRAMS);
    in_each_form(&[of::<Sends<0>>, of::<Sends<1>>], &[of::<Sends<1>>, of::<Receives<0>>]);
}

#[test]
fn any_other_operation_in_any_form_that_loses_to_a_program_has_no_effect() {
    let operations =
        [of::<ReceivesMany>, of::<Publishes>, of::<Hears>, of::<Acquires>, of::<Locks>, of::<Reads>];
    in_each_form(&operations, &PROGRAMS);
    let operations =
        [of::<Writes>, of::<Waits>, of::<Observes>, of::<Meets>, of::<Asks>, of::<Expects>, of::<Listens>];
    in_each_form(&operations, &PROGRAMS);
}

#[test]
fn a_wait_with_its_type_that_loses_to_a_program_has_no_effect() {
    storms!([Receives<0>, Sends<1>, Acquires, Waits] with Yields);
    storms!([Mapped<Receives<0>>, Meets] with Steps);
}

/// An operator that races any number of sides.
trait Crowd: 'static {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won>;
}

struct RaceAll;

impl Crowd for RaceAll {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won> {
        Fiber::race_all(sides).boxed()
    }
}

struct FirstSuccess;

impl Crowd for FirstSuccess {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won> {
        let failure = Fiber::yield_now().bind(|()| Fiber::fail(Error::msg("no"))).boxed();
        Fiber::first_success(sides.into_iter().chain([failure])).boxed()
    }
}

/// All attempts start at once.
struct Hedged;

impl Crowd for Hedged {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won> {
        let attempts = u32::try_from(sides.len()).unwrap();
        let mut sides = sides.into_iter();
        Fiber::hedge(Duration::ZERO, attempts, move || sides.next().unwrap()).boxed()
    }
}

/// Each inner race is a side of the one around it.
struct Chain;

impl Crowd for Chain {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won> {
        let race = |all: Fiber<Won>, side| all.race(side).map(Either::into_inner).boxed();
        sides.into_iter().reduce(race).unwrap()
    }
}

/// Three arms of `race!`.
struct Arms;

impl Crowd for Arms {
    fn race(sides: Vec<Fiber<Won>>) -> Fiber<Won> {
        let [first, second, third] = <[Fiber<Won>; 3]>::try_from(sides).unwrap();
        race! { won = first => won, won = second => won, won = third => won }
    }
}

/// Races of three waits of one kind.
fn crowd<C: Crowd>(pool: &Pool, kind: Kind) {
    for form in FORMS {
        let sides: Vec<Arc<dyn Racer>> = (0..3).map(|_| kind()).collect();
        let those = sides.clone();
        let race = move |number| {
            let race = C::race(those.iter().map(|side| form(side.attempt(number))).collect());
            race.map(|won| won()).boxed()
        };
        let partners: Vec<_> = sides.iter().map(erased_partners).collect();
        run(pool, FEWER, Arc::new(race), Fiber::parallel(partners).map(drop).boxed());
        sides.iter().for_each(|side| side.check());
    }
}

fn crowds<C: Crowd>() {
    let pool = Pool::builder().workers(2).build();
    let kinds: [Kind; 7] = [
        of::<Receives<0>>,
        of::<Receives<1>>,
        of::<Sends<0>>,
        of::<Sends<1>>,
        of::<Acquires>,
        of::<Waits>,
        of::<Meets>,
    ];
    kinds.into_iter().for_each(|kind| crowd::<C>(&pool, kind));
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

#[test]
fn of_the_arms_of_a_race_one_takes_or_gives_something() {
    crowds::<Arms>();
}
