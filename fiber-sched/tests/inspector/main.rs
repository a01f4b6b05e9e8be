//! An inspector answers requests with what is there, and does nothing that it is not asked for.

use std::sync::mpsc;
use std::time::Duration;

use fiber_core::sync::{Mutex, Semaphore};
use fiber_core::{Error, Fiber, Handle};
use fiber_sched::{AffinityPool, CurrentThread, History, Inspector, Pool, block_on};
use fiber_test::TestScheduler;
use http::{Method, Request, Response, StatusCode};
use serde_json::Value;

const SECOND: Duration = Duration::from_secs(1);
/// Fails a test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

fn ask(inspector: &Inspector, method: Method, uri: &str) -> Response<String> {
    inspector.answer(&Request::builder().method(method).uri(uri).body(()).unwrap())
}

fn json(inspector: &Inspector) -> Value {
    let answer = ask(inspector, Method::GET, "/fibers?json");
    assert_eq!(answer.status(), StatusCode::OK);
    serde_json::from_str(answer.body()).unwrap()
}

fn rows(json: &Value) -> &[Value] {
    json["rows"].as_array().unwrap()
}

/// The row of the fiber with this name.
fn row<'a>(json: &'a Value, name: &str) -> &'a Value {
    let found = rows(json).iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("no {name:?} in {json:#}"))
}

/// Runs the fibers until nothing more happens at this moment.
fn settle(scheduler: &CurrentThread) {
    scheduler.run(Fiber::for_each(0..100, |_| Fiber::yield_now())).unwrap();
}

fn never() -> Fiber<()> {
    Fiber::never().boxed()
}

/// So many fibers, each below the one before.
fn chain(left: u32) -> Fiber<()> {
    if left == 0 {
        return never();
    }
    Fiber::defer(move || chain(left - 1)).boxed().fork().bind(|child| child.join()).boxed()
}

mod routes {
    use super::*;

    #[test]
    fn each_address_has_its_type_whatever_the_path_is() {
        let inspector = Inspector::new(TestScheduler::new().context());
        let kinds = [
            ("", "text/html"),
            ("?", "text/html"),
            ("?style", "text/css"),
            ("?script", "text/javascript"),
            ("?text", "text/plain"),
            ("?json", "application/json"),
            ("?json&most=0", "application/json"),
        ];
        for path in ["/", "/debug/fibers", "/fibers/"] {
            for (query, kind) in kinds {
                let answer = ask(&inspector, Method::GET, &format!("{path}{query}"));
                assert_eq!(answer.status(), StatusCode::OK, "{path}{query}");
                assert_eq!(answer.headers()["content-type"], format!("{kind}; charset=utf-8"));
            }
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let inspector = Inspector::new(TestScheduler::new().context());
        for (method, uri, status) in [
            (Method::GET, "/?nothing", StatusCode::NOT_FOUND),
            (Method::GET, "/?json&most=many", StatusCode::BAD_REQUEST),
            (Method::GET, "/?json&least=1", StatusCode::BAD_REQUEST),
            (Method::POST, "/", StatusCode::METHOD_NOT_ALLOWED),
            (Method::DELETE, "/?json", StatusCode::METHOD_NOT_ALLOWED),
            (Method::HEAD, "/", StatusCode::OK),
        ] {
            assert_eq!(ask(&inspector, method, uri).status(), status, "{uri}");
        }
    }

    #[test]
    fn every_answer_forbids_scripts_from_elsewhere() {
        let inspector = Inspector::new(TestScheduler::new().context());
        for uri in ["/", "/?script", "/?json", "/?text", "/?nothing", "/?cancel=0"] {
            let answer = ask(&inspector, Method::GET, uri);
            let policy = answer.headers()["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
            assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        }
        // So the page must not need any.
        let page = ask(&inspector, Method::GET, "/").into_body();
        assert!(
            !page.contains("<script>") && !page.contains("style=") && !page.contains("onclick"),
            "{page}"
        );
        assert!(!page.contains("http://") && !page.contains("https://"), "{page}");
    }

    #[test]
    fn the_page_never_makes_markup_of_text() {
        let inspector = Inspector::new(TestScheduler::new().context());
        let script = ask(&inspector, Method::GET, "/?script").into_body();
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        {
            assert!(!script.contains(way), "{way}");
        }
    }
}

mod contents {
    use super::*;

    #[test]
    fn hostile_names_are_read_back_as_they_are() {
        let names = [
            "</script><script>alert(1)</script>",
            "\"}],\"x\":[{\"",
            "a\\",
            "\u{0}\n\u{2028}",
            "<img src=x onerror=alert(1)>",
        ];
        let test = TestScheduler::new();
        names.iter().for_each(|name| drop(test.spawn(never().named(*name))));
        test.run_until_idle();
        let inspector = Inspector::new(test.context());
        let text = ask(&inspector, Method::GET, "/?json").into_body();
        assert!(!text.contains('<'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        let seen: Vec<&str> = rows(&read).iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(seen, names);
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn a_row_says_what_the_dump_says() {
        let test = TestScheduler::new();
        let child = Fiber::delay(3 * SECOND).timeout(5 * SECOND).named("child");
        drop(test.spawn(child.fork().bind(|child| child.join()).named("parent")));
        test.run_for(SECOND);
        let json = json(&Inspector::new(test.context()));
        let (parent, child) = (row(&json, "parent"), row(&json, "child"));
        assert_eq!(parent["on"], 1, "it is the position of the child");
        assert_eq!((&child["above"], &child["id"]), (&0.into(), &"0.0".into()));
        assert_eq!((&child["state"], &child["in"]), (&"in".into(), &2.into()));
        let part = &rows(&json)[2];
        assert_eq!(
            (&part["part"], &part["for"], &part["name"]),
            (&true.into(), &"a timer".into(), &"timeout".into())
        );
        assert!(
            json["sites"][child["site"].as_u64().unwrap() as usize]
                .as_str()
                .unwrap()
                .contains("inspector/main.rs:")
        );
        assert_eq!(
            (&json["at"], &json["fibers"], &json["has_history"]),
            (&1.0.into(), &2.into(), &false.into())
        );
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn the_inspector_of_a_group_or_a_fiber_shows_only_that() {
        let test = TestScheduler::new();
        drop(test.spawn(never().named("other")));
        let mine = test.spawn(never().named("mine").fork().bind(|mine| mine.join()).named("top"));
        test.run_until_idle();
        let json = json(&Inspector::new(mine.context()));
        assert_eq!(rows(&json).iter().map(|row| &row["id"]).collect::<Vec<_>>(), ["1", "1.0"]);
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn the_number_of_rows_is_limited_and_the_number_of_others_is_told() {
        let test = TestScheduler::new();
        (0..10).for_each(|_| drop(test.spawn(never())));
        test.run_until_idle();
        let answer = ask(&Inspector::new(test.context()), Method::GET, "/?json&most=3").into_body();
        let json: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((rows(&json).len(), &json["left_out"], &json["fibers"]), (3, &7.into(), &10.into()));
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn a_chain_of_thousands_of_fibers_has_short_ids() {
        let test = TestScheduler::new();
        drop(test.spawn(chain(3_000)));
        test.run_until_idle();
        let inspector = Inspector::new(test.context());
        let answer = ask(&inspector, Method::GET, "/?json").into_body();
        assert!(answer.len() < 3_000 * 400, "{}", answer.len());
        assert_eq!(rows(&json(&inspector)).len(), 3_001);
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn the_numbers_of_all_kinds_of_schedulers_are_there() {
        let pool = Pool::builder().workers(2).build();
        assert_eq!(json(&Inspector::new(pool.context()))["metrics"]["workers"].as_array().unwrap().len(), 3);
        let pool = AffinityPool::builder().workers(2).build();
        assert_eq!(json(&Inspector::new(pool.context()))["metrics"]["may_run"], 2);
        // It counts nothing.
        assert_eq!(json(&Inspector::new(CurrentThread::new().context()))["metrics"], Value::Null);
    }

    #[test]
    fn the_turns_of_fibers_that_a_task_calls_are_there() {
        let pool = Pool::builder().workers(1).build();
        let inspector = Inspector::new(pool.context());
        let hosts = || json(&inspector)["metrics"]["hosts"].as_array().unwrap().clone();
        assert!(hosts().is_empty());
        assert!(block_on(pool.group().call(Fiber::success(()))).is_success());
        let turns: Vec<_> = hosts().iter().map(|host| host["turns"].clone()).collect();
        assert_eq!(turns, [1]);
    }
}

mod ages {
    use super::*;

    #[test]
    fn without_a_history_a_wait_lasts_at_least_since_it_was_first_seen() {
        let test = TestScheduler::new();
        drop(test.spawn(Fiber::delay(10 * SECOND).bind(|()| never()).named("sleeper")));
        let inspector = Inspector::new(test.context());
        let mut seen = Vec::new();
        for _ in 0..6 {
            test.run_for(4 * SECOND);
            let json = json(&inspector);
            assert_eq!(row(&json, "sleeper")["at_least"], true);
            seen.push(row(&json, "sleeper")["lasts"].as_f64().unwrap());
        }
        assert_eq!(
            seen,
            [0.0, 4.0, 0.0, 4.0, 8.0, 12.0],
            "the second wait begins at 10 s, and is seen at 12 s"
        );
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn a_fiber_with_the_key_and_the_index_of_one_that_has_ended_is_seen_for_the_first_time() {
        let test = TestScheduler::new();
        let inspector = Inspector::new(test.context());
        let mut keys = Vec::new();
        for _ in 0..20 {
            let parent = test.spawn(never().named("child").fork().bind(Handle::join));
            test.run_until_idle();
            let dump = test.context().dump();
            let child = dump.fibers().find(|fiber| fiber.name() == Some("child")).unwrap();
            keys.push((child.key(), child.index(), child.waits()));
            assert_eq!(row(&json(&inspector), "child")["lasts"], 0.0);
            test.run_for(10 * SECOND);
            assert_eq!(row(&json(&inspector), "child")["lasts"], 10.0);
            parent.cancel_now();
            test.run_until_idle();
        }
        keys.sort_unstable();
        assert!(keys.windows(2).any(|two| two[0] == two[1]), "no key was used again: {keys:?}");
    }

    #[test]
    fn a_history_knows_when_a_wait_and_a_fiber_began_and_where() {
        let scheduler = CurrentThread::with_observer(History::new());
        drop(scheduler.spawn(never().named("waits")));
        settle(&scheduler);
        let inspector = Inspector::new(scheduler.context());
        let json = json(&inspector);
        let row = row(&json, "waits");
        assert_eq!(row["at_least"], Value::Null);
        assert!(row["lives"].as_f64() >= row["lasts"].as_f64(), "{row}");
        assert!(
            json["sites"][row["where"].as_u64().unwrap() as usize]
                .as_str()
                .unwrap()
                .contains("inspector/main.rs:")
        );
    }

    #[test]
    fn a_fiber_that_does_not_end_after_its_cancellation_is_leaked() {
        let test = TestScheduler::new();
        let slow = never().ensure(Fiber::delay(60 * SECOND)).named("slow");
        let spawned = test.spawn(slow);
        test.run_for(SECOND);
        let inspector = Inspector::new(test.context());
        assert_eq!(row(&json(&inspector), "slow")["leaked"], Value::Null);
        spawned.cancel_now();
        let mut leaked = Vec::new();
        for _ in 0..4 {
            test.run_for(2 * SECOND);
            leaked.push(row(&json(&inspector), "slow")["leaked"].is_string());
        }
        // It is seen as cancelled after two seconds first, and then after five seconds as leaked.
        assert_eq!(leaked, [false, false, false, true]);
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn a_fiber_that_outlives_its_deadline_is_leaked() {
        let test = TestScheduler::new();
        let at = test.context().scheduler().now() + SECOND;
        drop(test.spawn(never().uncancelable().timeout(60 * SECOND).with_deadline(at).named("late")));
        let inspector = Inspector::new(test.context());
        test.run_for(SECOND / 2);
        let leaked = |json: &Value| rows(json).iter().filter(|row| row["leaked"].is_string()).count();
        assert_eq!(leaked(&json(&inspector)), 0);
        test.run_for(3 * SECOND);
        assert_eq!(leaked(&json(&inspector)), 1);
        test.context().abandon();
    }
}

mod circles {
    use super::*;

    /// Locks one and then, after the other fibers had their turns, the other.
    fn both(one: &Mutex<()>, other: &Mutex<()>) -> Fiber<()> {
        let other = other.clone();
        let second = move || other.with(|_| Fiber::success(()));
        one.with(move |_| Fiber::for_each(0..5, |_| Fiber::yield_now()).bind(move |()| second())).boxed()
    }

    fn mutex(name: &str) -> Mutex<()> {
        Mutex::new(()).named(name)
    }

    #[test]
    fn two_fibers_that_wait_for_each_other_are_a_circle() {
        let scheduler = CurrentThread::with_observer(History::new());
        let [a, b] = ["a", "b"].map(mutex);
        drop(scheduler.spawn(both(&a, &b).named("there")));
        drop(scheduler.spawn(both(&b, &a).named("back")));
        drop(scheduler.spawn(a.with(|_| Fiber::success(())).named("audit")));
        drop(scheduler.spawn(Fiber::delay(60 * SECOND).named("innocent")));
        settle(&scheduler);
        let json = json(&Inspector::new(scheduler.context()));
        let circles = json["circles"].as_array().unwrap();
        assert_eq!(circles.len(), 1, "{json:#}");
        let links = circles[0]["links"].as_array().unwrap();
        let words: Vec<_> =
            links.iter().map(|link| (link["id"].as_str().unwrap(), link["why"].as_str().unwrap())).collect();
        assert_eq!(words, [("0", "Mutex `b`, held by"), ("1", "Mutex `a`, held by")]);
        assert_eq!((&row(&json, "there")["circle"], &row(&json, "back")["circle"]), (&0.into(), &0.into()));
        assert_eq!(row(&json, "audit")["behind_circle"], true);
        let innocent = row(&json, "innocent");
        assert_eq!((&innocent["circle"], &innocent["behind_circle"]), (&Value::Null, &Value::Null));
        let primitive = |name: &str| &json["primitives"][row(&json, name)["at"].as_u64().unwrap() as usize];
        assert_eq!(primitive("audit")["name"], "Mutex `a`");
        assert_eq!(primitive("audit")["holders"][0]["fiber"], "0 \"there\"");
    }

    #[test]
    fn a_race_with_a_timer_frees_a_circle() {
        let forms: [fn(Fiber<()>, Fiber<()>) -> Fiber<()>; 7] = [
            |wait, timer| wait.race(timer).map(drop).boxed(),
            |wait, timer| Fiber::race_all([wait, timer]).boxed(),
            |wait, timer| wait.race_with(timer).map(drop).boxed(),
            |wait, timer| fiber_core::race! { () = wait => (), () = timer => () }.boxed(),
            |wait, timer| Fiber::first_success([wait, timer]).boxed(),
            |wait, timer| Fiber::first_successes(1, [wait, timer]).map(drop).boxed(),
            |wait, timer| {
                let attempts = std::sync::Mutex::new(vec![timer, wait]);
                let next = move || attempts.lock().unwrap().pop().unwrap();
                Fiber::hedge(Duration::ZERO, 2, next).boxed()
            },
        ];
        for (number, form) in forms.into_iter().enumerate() {
            let scheduler = CurrentThread::with_observer(History::new());
            let [a, b] = ["a", "b"].map(mutex);
            drop(scheduler.spawn(both(&a, &b).named("there")));
            let impatient = {
                let wait = a.with(|_| Fiber::success(())).boxed();
                let timer = Fiber::delay(60 * SECOND).ensure(Fiber::success(())).boxed();
                let second = form(wait, timer);
                b.with(move |_| Fiber::for_each(0..5, |_| Fiber::yield_now()).bind(move |()| second))
            };
            drop(scheduler.spawn(impatient.named("impatient")));
            settle(&scheduler);
            let json = json(&Inspector::new(scheduler.context()));
            assert_eq!(json["circles"], Value::Array(Vec::new()), "form {number}: {json:#}");
            assert!(rows(&json).iter().any(|row| row["for"] == "a lock"));
        }
    }

    #[test]
    fn a_race_of_two_locks_goes_on_if_one_of_them_is_released() {
        let scheduler = CurrentThread::with_observer(History::new());
        let [a, b, c] = ["a", "b", "c"].map(mutex);
        let (first, second) = (b.clone(), c.clone());
        let race = Fiber::defer(move || first.lock().race(second.lock()).map(drop));
        drop(scheduler.spawn(a.with(|_| Fiber::yield_now().bind(|()| race)).named("races")));
        drop(scheduler.spawn(both(&b, &a)));
        drop(scheduler.spawn(c.with(|_| Fiber::delay(3600 * SECOND))));
        settle(&scheduler);
        let json = json(&Inspector::new(scheduler.context()));
        assert_eq!(row(&json, "races")["state"], "waits");
        assert_eq!(json["circles"], Value::Array(Vec::new()), "{json:#}");
    }

    #[test]
    fn a_circle_with_a_deadline_says_when_it_ends() {
        let scheduler = CurrentThread::with_observer(History::new());
        let [a, b] = ["a", "b"].map(mutex);
        let at = scheduler.scheduler().now() + 3600 * SECOND;
        drop(scheduler.spawn(both(&a, &b).with_deadline(at)));
        drop(scheduler.spawn(both(&b, &a)));
        settle(&scheduler);
        let json = json(&Inspector::new(scheduler.context()));
        let left = json["circles"][0]["ends_in"].as_f64().unwrap();
        assert!((3_000.0..=3_600.0).contains(&left), "{left}");
    }

    #[test]
    fn holders_of_permits_are_stuck_only_if_too_few_are_free_without_them() {
        let is_circle = |has_free_holder: bool| {
            let scheduler = CurrentThread::with_observer(History::new());
            let (permits, lock) = (Semaphore::new(2).named("permits"), mutex("lock"));
            let again = {
                let (permits, lock) = (permits.clone(), lock.clone());
                move || {
                    let inner = permits.with_permits(1, Fiber::success(()));
                    lock.with(move |_| Fiber::for_each(0..5, |_| Fiber::yield_now()).bind(move |()| inner))
                }
            };
            let holds = |waits: Fiber<()>| permits.with_permits(1, waits).boxed();
            let waits_for_lock = || {
                let lock = lock.clone();
                Fiber::for_each(0..5, |_| Fiber::yield_now())
                    .bind(move |()| lock.with(|_| Fiber::success(())))
                    .boxed()
            };
            drop(scheduler.spawn(holds(waits_for_lock())));
            let other = if has_free_holder { Fiber::delay(60 * SECOND).boxed() } else { waits_for_lock() };
            drop(scheduler.spawn(holds(other)));
            drop(scheduler.spawn(again()));
            settle(&scheduler);
            !json(&Inspector::new(scheduler.context()))["circles"].as_array().unwrap().is_empty()
        };
        assert!(is_circle(false));
        assert!(!is_circle(true), "one of two holders of permits waits for a timer");
    }

    #[test]
    fn permits_are_counted_as_they_are_asked_for_and_held() {
        let scheduler = CurrentThread::with_observer(History::new());
        let permits = Semaphore::new(5).named("permits");
        drop(scheduler.spawn(permits.with_permits(3, never())));
        drop(scheduler.spawn(permits.with_permits(1, never())));
        drop(scheduler.spawn(permits.with_permits(2, never()).named("waits")));
        settle(&scheduler);
        let json = json(&Inspector::new(scheduler.context()));
        assert_eq!(row(&json, "waits")["asks"], 2);
        let primitive = &json["primitives"][0];
        let held: Vec<&Value> =
            primitive["holders"].as_array().unwrap().iter().map(|holder| &holder["permits"]).collect();
        assert_eq!((&primitive["permits"], held), (&5.into(), vec![&3.into(), &1.into()]));
        assert_eq!(json["circles"], Value::Array(Vec::new()));
    }

    #[test]
    fn a_lock_whose_holder_has_ended_says_so() {
        let scheduler = CurrentThread::with_observer(History::new());
        let permits = Semaphore::new(1).named("permits");
        let guard = scheduler.run(scheduler.spawn(permits.acquire(1).named("careless")).join()).unwrap();
        drop(scheduler.spawn(permits.with_permits(1, Fiber::success(())).named("waits")));
        settle(&scheduler);
        let inspector = Inspector::new(scheduler.context());
        let before = json(&inspector);
        let holder = &before["primitives"][0]["holders"][0];
        assert_eq!((&holder["has_ended"], &holder["row"]), (&true.into(), &Value::Null), "{before:#}");
        assert_eq!(holder["fiber"], "0 \"careless\"");
        drop(guard);
        settle(&scheduler);
        assert_eq!(json(&inspector)["fibers"], 0);
    }
}

mod cancelling {
    use super::*;

    fn cancel(inspector: &Inspector, id: &str) -> StatusCode {
        let request = Request::post(format!("/?cancel={id}")).header("x-fiber-inspector", "cancel");
        inspector.answer(&request.body(()).unwrap()).status()
    }

    #[test]
    fn it_is_off_unless_switched_on() {
        let test = TestScheduler::new();
        let spawned = test.spawn(never());
        test.run_until_idle();
        let inspector = Inspector::new(test.context());
        assert_eq!(json(&inspector)["may_cancel"], false);
        assert_eq!(cancel(&inspector, "0"), StatusCode::FORBIDDEN);
        test.run_until_idle();
        assert!(spawned.is_pending());
        test.context().cancel();
        test.run_until_idle();
    }
    #[test]
    fn it_takes_a_post_with_the_header_and_the_id_of_a_live_fiber() {
        let test = TestScheduler::new();
        let all: Vec<_> = (0..12).map(|_| test.spawn(never())).collect();
        test.run_until_idle();
        let inspector = Inspector::new(test.context()).allow_cancel();
        assert_eq!(json(&inspector)["may_cancel"], true);
        assert_eq!(ask(&inspector, Method::GET, "/?cancel=1").status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(ask(&inspector, Method::POST, "/?cancel=1").status(), StatusCode::FORBIDDEN);
        for id in ["", "12", "1.0", "x", ".1", "1.", "-1", "4294967296"] {
            assert_eq!(cancel(&inspector, id), StatusCode::NOT_FOUND, "{id:?}");
        }
        test.run_until_idle();
        assert!(all.iter().all(|spawned| spawned.is_pending()));
        assert_eq!(cancel(&inspector, "1"), StatusCode::ACCEPTED);
        test.run_until_idle();
        let pending: Vec<bool> = all.iter().map(|spawned| spawned.is_pending()).collect();
        assert_eq!(pending.iter().filter(|pending| !**pending).count(), 1);
        assert!(!pending[1], "neither 0 nor 10 nor 11");
        assert_eq!(cancel(&inspector, "1"), StatusCode::NOT_FOUND);
        test.context().cancel();
        test.run_until_idle();
    }

    #[test]
    fn it_cancels_all_below_and_nothing_above() {
        let test = TestScheduler::new();
        let child = never().named("grandchild").fork().bind(|child| child.join()).named("child");
        let parent = test
            .spawn(child.fork().bind(|child| child.join().map_outcome(|_| fiber_core::Outcome::Success(()))));
        test.run_until_idle();
        let inspector = Inspector::new(test.context()).allow_cancel();
        assert_eq!(cancel(&inspector, "0.0"), StatusCode::ACCEPTED);
        test.run_until_idle();
        assert!(parent.outcome().is_success());
        test.assert_no_leaks();
    }

    #[test]
    fn a_fiber_with_a_shortened_id_is_cancelled_by_that_of_its_row_above_and_its_number() {
        let test = TestScheduler::new();
        drop(test.spawn(chain(130)));
        test.run_until_idle();
        let inspector = Inspector::new(test.context()).allow_cancel();
        let json = json(&inspector);
        let [.., above, short] = rows(&json) else { panic!("there are 131") };
        assert_eq!((&above["id"], &short["id"]), (&"..0".into(), &"..0".into()));
        assert_eq!(cancel(&inspector, "..0"), StatusCode::NOT_FOUND);
        let whole = |row: &Value| {
            let mut row = row;
            let mut end = String::new();
            while let Some(number) = row["id"].as_str().unwrap().strip_prefix("..") {
                end = format!(".{number}{end}");
                row = &rows(&json)[row["above"].as_u64().unwrap() as usize];
            }
            format!("{}{end}", row["id"].as_str().unwrap())
        };
        assert_eq!(cancel(&inspector, &whole(short)), StatusCode::ACCEPTED);
        test.run_until_idle();
        test.assert_no_leaks();
    }

    #[test]
    fn an_inspector_of_a_fiber_cancels_nothing_beside_it() {
        let test = TestScheduler::new();
        let all: Vec<_> = (0..11).map(|_| test.spawn(never())).collect();
        test.run_until_idle();
        let inspector = Inspector::new(all[1].context()).allow_cancel();
        for id in ["0", "10", "1.0", "10.0"] {
            assert_eq!(cancel(&inspector, id), StatusCode::NOT_FOUND, "{id}");
        }
        assert_eq!(cancel(&inspector, "1"), StatusCode::ACCEPTED);
        test.run_until_idle();
        assert_eq!(all.iter().filter(|spawned| spawned.is_pending()).count(), 10);
        test.context().cancel();
        test.run_until_idle();
    }
}

/// What threads do, in real time.
mod threads {
    use std::sync::atomic::{AtomicBool, Ordering};

    use fiber_core::Context;
    use fiber_sched::Observer;

    use super::*;

    /// Asks until it is so.
    fn until(inspector: &Inspector, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let json = json(inspector);
            if is_so(&json) {
                return json;
            }
            assert!(std::time::Instant::now() < end, "{json:#}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_worker_that_is_blocked_is_stuck_until_it_is_released() {
        let pool = Pool::builder().workers(2).observer(History::new()).build();
        // A pool in which nothing else happens does not look.
        let ticks =
            pool.spawn(Fiber::for_each(0.., |_: u64| Fiber::delay(Duration::from_millis(1))).named("ticks"));
        let (release, released) = mpsc::channel::<()>();
        let blocks = pool.spawn(Fiber::lazy(move || _ = released.recv()).named("blocks"));
        let inspector = Inspector::new(pool.context());
        let json = until(&inspector, |json| rows(json).iter().any(|row| row["stuck"].is_number()));
        assert_eq!(row(&json, "blocks")["state"], "runs");
        let busy = |thread: &Value| thread["turn"]["fiber"] == "1 \"blocks\"";
        assert!(json["threads"].as_array().unwrap().iter().any(busy), "{json:#}");
        until(&inspector, |json| {
            json["metrics"]["workers"].as_array().unwrap().iter().any(|worker| worker["is_stuck"] == true)
        });
        release.send(()).unwrap();
        block_on(blocks).unwrap();
        ticks.cancel_now();
        let json = until(&inspector, |json| json["fibers"] == 0);
        let threads = json["threads"].as_array().unwrap();
        let long = threads.iter().flat_map(|thread| thread["long_turns"].as_array().unwrap());
        assert!(
            long.into_iter()
                .any(|turn| turn["fiber"] == "1 \"blocks\"" && turn["lasted"].as_f64() >= Some(0.1))
        );
    }

    #[test]
    fn a_blocking_call_is_not_stuck() {
        let pool = Pool::builder().workers(1).observer(History::new()).build();
        let (release, released) = mpsc::channel::<()>();
        let calls = pool.spawn(Fiber::blocking(move || _ = released.recv()).named("calls"));
        let inspector = Inspector::new(pool.context());
        let json = until(&inspector, |json| {
            let turns = json["threads"].as_array().unwrap().iter().map(|thread| &thread["turn"]);
            turns.into_iter().any(|turn| turn["lasts"].as_f64() > Some(0.2))
        });
        assert_eq!(row(&json, "calls")["stuck"], Value::Null, "{json:#}");
        assert_eq!(row(&json, "calls")["for"], "a blocking call");
        release.send(()).unwrap();
        block_on(calls).unwrap();
    }

    #[test]
    fn what_follows_a_blocking_call_in_its_turn_may_be_stuck() {
        let pool = Pool::builder().workers(1).observer(History::new()).build();
        let (release, released) = mpsc::channel::<()>();
        let called = Fiber::blocking(|| ()).map(move |()| _ = released.recv()).named("called");
        let called = pool.spawn(called);
        let inspector = Inspector::new(pool.context());
        let json = until(&inspector, |json| {
            let turns = json["threads"].as_array().unwrap().iter().map(|thread| &thread["turn"]);
            turns.into_iter().any(|turn| turn["lasts"].as_f64() > Some(0.2))
        });
        assert!(row(&json, "called")["stuck"].is_number(), "{json:#}");
        release.send(()).unwrap();
        block_on(called).unwrap();
    }

    /// An observer that panics at the end of its first turn. It prints nothing: a backtrace on a busy machine takes longer than the ten
    /// seconds that a history has.
    #[derive(Default)]
    struct Panics(AtomicBool);

    impl Observer for Panics {
        fn turn(&self, _: &Context, turn: &mut dyn FnMut()) {
            turn();
            if !self.0.swap(true, Ordering::SeqCst) {
                std::panic::resume_unwind(Box::new("the observer panics"));
            }
        }
    }

    #[test]
    fn a_panic_of_another_observer_ends_no_turn_for_ever() {
        let pool = Pool::builder().workers(1).observer(History::new()).observer(Panics::default()).build();
        let inspector = Inspector::new(pool.context());
        (0..5).for_each(|_| block_on(pool.spawn(Fiber::yield_now())).unwrap());
        let threads = |json: &Value| json["threads"].as_array().unwrap().clone();
        let idle = |json: &Value| threads(json).iter().all(|thread| thread["turn"].is_null());
        let json = until(&inspector, idle);
        let turns: u64 = threads(&json).iter().filter_map(|thread| thread["turns"].as_u64()).sum();
        assert_eq!(turns, 10, "{json:#}");
    }

    #[test]
    fn failures_that_nobody_took_are_listed() {
        let scheduler = CurrentThread::with_observer(History::new());
        drop(scheduler.spawn(Fiber::<()>::fail(Error::msg("sold <out>")).named("order")));
        settle(&scheduler);
        let json = json(&Inspector::new(scheduler.context()));
        assert!(json["lost_failures"][0]["text"].as_str().unwrap().contains("sold <out>"), "{json:#}");
    }

    #[test]
    fn all_answers_are_whole_while_everything_changes() {
        let pool = Pool::builder().workers(2).observer(History::new()).build();
        let locks: Vec<Mutex<u32>> = (0..3).map(|n| Mutex::new(0).named(&format!("lock {n}"))).collect();
        let churn = |n: usize| {
            let lock = locks[n % 3].clone();
            let step = move || {
                let held = lock.with(|mut count| {
                    *count += 1;
                    Fiber::yield_now()
                });
                let short = held.timeout(SECOND / 1_000).attempt().map(drop);
                let forked = short.zip(Fiber::delay(SECOND / 10_000)).fork();
                forked.bind(|child| child.cancel()).map(drop).named("\"churn\"")
            };
            Fiber::for_each(0.., move |_: u64| step())
        };
        let all: Vec<_> = (0..6).map(|n| pool.spawn(churn(n))).collect();
        let inspector = Inspector::new(pool.context());
        for _ in 0..300 {
            let json = json(&inspector);
            let count = rows(&json).len() as u64;
            for row in rows(&json) {
                let links = [&row["above"], &row["on"], &row["in"]].into_iter().filter_map(Value::as_u64);
                assert!(links.into_iter().all(|at| at < count), "{row}");
            }
        }
        all.iter().for_each(|handle| handle.cancel_now());
        all.into_iter().for_each(|handle| assert!(block_on(handle).is_cancelled()));
        until(&inspector, |json| json["fibers"] == 0);
    }

    #[test]
    fn a_pool_with_a_history_and_an_inspector_ends() {
        let weak = {
            let pool = Pool::builder().workers(2).observer(History::new()).build();
            let lock = Mutex::new(());
            drop(pool.spawn(lock.with(|_| never())));
            let inspector = Inspector::new(pool.context());
            until(&inspector, |json| json["rows"][0]["state"] == "waits");
            std::sync::Arc::downgrade(&pool.scheduler())
        };
        let end = std::time::Instant::now() + PATIENCE;
        while weak.strong_count() > 0 {
            assert!(std::time::Instant::now() < end, "the history keeps its scheduler");
            std::thread::yield_now();
        }
    }
}
