//! The threads of one scheduler: started, counted, and finally joined.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use crate::contain::contain;
use crate::cores::Cores;
use crate::inside::SchedulerId;
use crate::runtime::Runtime;

pub(crate) struct Threads {
    scheduler: SchedulerId,
    /// The prefix of the threads' names.
    name: String,
    /// The cores of each new thread. `None`: it inherits them.
    cores: Option<Cores>,
    /// The runtime that futures on the threads find.
    runtime: Runtime,
    state: Mutex<State>,
    all_gone: Condvar,
}

#[derive(Default)]
struct State {
    started: u64,
    running: HashMap<u64, JoinHandle<()>>,
    /// The last thread that left. It joins the one that left before it, so joining this one joins all.
    gone: Option<JoinHandle<()>>,
    /// The name of the thread that left last, and still dropped its thread-local values when the time to join it was over.
    lingering: Option<String>,
}

impl Threads {
    pub(crate) fn new(scheduler: SchedulerId, name: String) -> Arc<Self> {
        Threads::make(scheduler, name, None, Runtime::default())
    }

    /// For a scheduler whose futures find a runtime.
    pub(crate) fn inside(scheduler: SchedulerId, name: String, runtime: Runtime) -> Arc<Self> {
        Threads::make(scheduler, name, None, runtime)
    }

    /// For a scheduler whose threads are pinned. Threads that they start do not inherit the pinning.
    pub(crate) fn on_cores(scheduler: SchedulerId, name: String, cores: Option<Cores>) -> Arc<Self> {
        Threads::make(scheduler, name, cores, Runtime::default())
    }

    fn make(scheduler: SchedulerId, name: String, cores: Option<Cores>, runtime: Runtime) -> Arc<Self> {
        let (state, all_gone) = (Mutex::default(), Condvar::new());
        Arc::new(Threads { scheduler, name, cores, runtime, state, all_gone })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Starts a thread named after the scheduler and its `role`.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start(
        self: &Arc<Self>,
        role: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        // Held until the handle is in the map, where the thread looks for it when it ends.
        let mut state = self.state.lock();
        let key = state.started;
        let threads = self.clone();
        let thread = self.named(role).spawn(move || {
            threads.scheduler.settle();
            threads.cores.iter().for_each(Cores::release);
            // The body's values are dropped before the thread reports that it leaves.
            let leave = Leave { threads: threads.clone(), key };
            contain(|| {
                let _inside = threads.runtime.enter();
                body();
            });
            drop(leave);
        });
        state.running.insert(key, thread?);
        state.started += 1;
        Ok(())
    }

    /// Starts a thread that is not counted: it may wait for all the others, and no thread waits for it.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start_detached(&self, role: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.named(role).spawn(move || contain(body)).map(drop)
    }

    fn named(&self, role: &str) -> Builder {
        Builder::new().name(format!("{}-{role}", self.name))
    }

    /// The names of the threads that run.
    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.state.lock();
        let mut names: Vec<String> =
            state.running.values().filter_map(name_of).chain(state.lingering.clone()).collect();
        names.sort();
        names
    }

    /// Waits until no thread is left. `false`: the deadline has passed, and the rest goes on unattended.
    pub(crate) fn join(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        while !state.running.is_empty() {
            match deadline {
                None => self.all_gone.wait(&mut state),
                Some(at) => {
                    if self.all_gone.wait_until(&mut state, at).timed_out() {
                        return state.running.is_empty();
                    }
                }
            }
        }
        let gone = state.gone.take();
        drop(state);
        match (gone, deadline) {
            (Some(gone), Some(at)) => self.join_by(gone, at),
            (gone, _) => {
                join(gone);
                true
            }
        }
    }

    /// Joins a thread that has left. The drops of its thread-local values, which come last, may take long.
    fn join_by(&self, thread: JoinHandle<()>, deadline: Instant) -> bool {
        let name = name_of(&thread);
        let (end, ended) = mpsc::channel();
        let joins = move || {
            join(Some(thread));
            _ = end.send(());
        };
        // Without another thread, nothing waits for this one.
        let has_ended = self.start_detached("joiner", joins).is_err()
            || ended.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok();
        if !has_ended {
            self.state.lock().lingering = name;
        }
        has_ended
    }
}

/// At the end of a thread.
struct Leave {
    threads: Arc<Threads>,
    key: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut state = self.threads.state.lock();
        let this = state.running.remove(&self.key);
        let before = std::mem::replace(&mut state.gone, this);
        if state.running.is_empty() {
            self.threads.all_gone.notify_all();
        }
        drop(state);
        join(before);
    }
}

fn name_of(thread: &JoinHandle<()>) -> Option<String> {
    thread.thread().name().map(str::to_owned)
}

fn join(thread: Option<JoinHandle<()>>) {
    // A panic has been reported by the panic hook.
    drop(thread.map(JoinHandle::join));
}
