//! The cores that threads may use.

pub(crate) use system::Cores;

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The cores that a thread may use. `None`: the system does not say.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Cores(Option<CpuSet>);

    impl Cores {
        /// The cores of the current thread.
        pub(crate) fn of_this_thread() -> Self {
            Cores(sched_getaffinity(None).ok())
        }

        /// Pins the current thread to one of the cores, if the system allows that. Thread numbers are assigned to the cores
        /// round-robin.
        pub(crate) fn pin(&self, thread: usize) {
            let Cores(Some(all)) = self else { return };
            let core = { 0..CpuSet::MAX_CPU }.filter(|core| all.is_set(*core)).cycle().nth(thread);
            let mut one = CpuSet::new();
            core.into_iter().for_each(|core| one.set(core));
            _ = sched_setaffinity(None, &one);
        }

        /// Lets the current thread use all of the cores. A thread inherits the restriction of the one that started it.
        pub(crate) fn release(&self) {
            _ = self.0.map(|all| sched_setaffinity(None, &all));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Threads are not pinned here.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Cores;

    impl Cores {
        pub(crate) fn of_this_thread() -> Self {
            Cores
        }

        pub(crate) fn pin(&self, _: usize) {}

        pub(crate) fn release(&self) {}
    }
}
