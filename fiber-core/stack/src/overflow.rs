//! Says that a stack has overflowed, and aborts the process.
//!
//! Code that leaves its stack comes to the guard page, and the system sends a signal. std's handler of that signal knows the
//! stacks of threads only: for any other address it restores the default, by which the process dies without a word. The handler
//! here comes first. It compares the address with the bounds of the stack that the thread runs on, which lie in a thread-local,
//! and passes everything else on to the handler that was there before.
//!
//! A handler needs a stack too. It runs on the alternate stack that std makes for each thread. Where there is none, as in a
//! thread that some C program has started without std, the process dies without a word, as it does for std's own message.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;
use std::mem;
use std::ops::Range;
use std::ptr;
use std::sync::{Once, OnceLock};

/// Linux sends the first one, macOS the second.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

thread_local! {
    /// The bounds of the stack that this thread runs on, if that is not its own. Constant and without a drop, so a handler may
    /// read it.
    static RUNNING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// This thread runs on some other stack than its own.
pub(crate) struct Running {
    before: (usize, usize),
}

impl Running {
    #[inline]
    pub(crate) fn on(range: Range<usize>) -> Self {
        Running { before: RUNNING.replace((range.start, range.end)) }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}

/// Installs the handler, once.
pub(crate) fn watch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| SIGNALS.into_iter().for_each(install));
}

/// What was there before, for each of the signals.
static FORMER: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

fn former(signal: c_int) -> Option<&'static OnceLock<libc::sigaction>> {
    SIGNALS.iter().position(|known| *known == signal).map(|place| &FORMER[place])
}

fn install(signal: c_int) {
    // SAFETY: zero is a valid value of each field: no handler, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: both pointers are valid, and the first one is null: nothing changes.
    let is_known = unsafe { libc::sigaction(signal, ptr::null(), &mut before) } == 0;
    if !is_known {
        return;
    }
    // Before the handler can be called.
    former(signal).into_iter().for_each(|former| _ = former.set(before));
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the action is complete. The handler only does what is allowed in one: see there. If the call fails, everything stays
    // as it was.
    unsafe { libc::sigaction(signal, &action, ptr::null_mut()) };
}

/// Called on the alternate stack of a thread that has used an address which it may not. Reads a thread-local and a static, writes to
/// a descriptor, and aborts: all of that is allowed in a handler.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes a valid pointer.
    let info_here = unsafe { &*info };
    // SAFETY: these signals come with an address, or with whatever the sender has put there, which is compared only.
    let address = unsafe { info_here.si_addr() }.addr();
    let (limit, base) = RUNNING.get();
    if (limit..base).contains(&address) {
        say(base - limit);
        // SAFETY: it may be called anywhere.
        unsafe { libc::abort() };
    }
    pass_on(signal, info, context);
}

const MESSAGE: &str = "
the stack of a direct fiber has overflowed: its function recurses too deep, or its stacks are too small (bytes of a stack: ";
const DIGITS: usize = 20;

/// Writes the message, without allocation or a lock.
fn say(size: usize) {
    let mut digits = [0; DIGITS];
    let (mut first, mut rest) = (DIGITS, size);
    while rest > 0 && first > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    for part in [MESSAGE.as_bytes(), &digits[first..], b")\n"] {
        // SAFETY: the pointer and the length are those of a slice. Nothing can be done about a failure.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}

/// Does what would have been done without this handler.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(before) = former(signal).and_then(OnceLock::get) else { return };
    match before.sa_sigaction {
        // The instruction is repeated, and the default applies to it.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: the action came from the system.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: by its flags, the handler has this type. It is not null, which would be the default.
            let handler = unsafe { mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, it has this type.
            let handler = unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}
