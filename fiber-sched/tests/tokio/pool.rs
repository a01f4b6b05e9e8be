//! A pool whose futures find a tokio runtime.

use std::io;

use fiber_core::{Either, Error, Fiber, fiber};
use fiber_sched::Pool;
use tokio::net::TcpListener;
use tokio::runtime::{Handle, Runtime};

use crate::echo::{ask, serve};

#[test]
fn futures_on_a_pool_find_the_sockets_of_the_runtime() {
    let runtime = Runtime::new().unwrap();
    let pool = Pool::builder().workers(2).tokio(runtime.handle().clone()).build();
    let both = Fiber::block(|| TcpListener::bind("127.0.0.1:0")).bind(|listener| {
        let address = listener.local_addr().unwrap();
        Fiber::parallel((0..20).map(move |n| ask(address, n))).limit(5).race(serve(listener))
    });
    let Either::Left(answers) = pool.run(both).unwrap() else { panic!("the server does not end") };
    assert_eq!(answers, (1..=20).collect::<Vec<u8>>());
}

#[test]
fn every_kind_of_thread_of_a_pool_is_inside_of_its_runtime() {
    let runtime = Runtime::new().unwrap();
    let pool = Pool::builder().workers(1).tokio(runtime.handle().clone()).build();
    let id = || Handle::current().id();
    let on_all = fiber! {
        let! guest = Fiber::lazy(id);
        do! Fiber::yield_now();
        let! worker = Fiber::lazy(id);
        let! blocking = Fiber::blocking(id);
        let! dedicated = Fiber::dedicated(move |_| Ok::<_, Error>(id()));
        [guest, worker, blocking, dedicated]
    };
    assert_eq!(pool.run(on_all).unwrap(), [runtime.handle().id(); 4]);
    assert!(Handle::try_current().is_err(), "the guest has left the runtime");
}

#[test]
fn a_pool_without_a_runtime_offers_none() {
    let pool = Pool::builder().workers(1).build();
    assert!(pool.run(Fiber::yield_now().map(|()| Handle::try_current().is_err())).unwrap());
}

#[test]
fn blocking_calls_may_wait_for_futures_of_the_runtime() {
    let runtime = Runtime::new().unwrap();
    let pool = Pool::builder().workers(1).tokio(runtime.handle().clone()).build();
    let waits = || Handle::current().block_on(async { Ok::<_, io::Error>(tokio::spawn(async { 7 }).await?) });
    assert_eq!(pool.run(Fiber::try_blocking(waits)).unwrap(), 7);
}
