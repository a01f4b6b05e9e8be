//! Values that travel with a fiber and everything below it: request ids, tenants, loggers.

use std::any::Any;
use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::drop_queue::drop_nested;
use crate::footprint::{Counted, Handles, Object};

/// A key for values that a fiber carries. [`local_key!`](crate::local_key!) makes one.
///
/// Where no [`with_local`](crate::Fiber::with_local) has set a value, the key has its default.
pub struct LocalKey<T: 'static> {
    default: fn() -> T,
    is_inherited: bool,
}

impl<T> LocalKey<T> {
    /// A key with a default. Put it into a `static`: its address distinguishes it from other keys.
    pub const fn new(default: fn() -> T) -> Self {
        LocalKey { default, is_inherited: true }
    }

    /// The same key, except that forks do not inherit its value: for values of a single fiber, such as the span of a
    /// tracer or a transaction. The branches of `zip`, `race` and `parallel`, and the parts under a timeout, still do.
    ///
    /// ```
    /// use fiber_core::{Fiber, LocalKey};
    ///
    /// static SPAN: LocalKey<u32> = LocalKey::new(|| 0).not_inherited();
    ///
    /// let span = || Fiber::local(&SPAN);
    /// let all = span().zip(span()).zip(span().fork().bind(|fork| fork.join()));
    /// assert_eq!(fiber_sched::run(all.with_local(&SPAN, 7)).unwrap(), ((7, 7), 0));
    /// ```
    #[must_use]
    pub const fn not_inherited(self) -> Self {
        LocalKey { default: self.default, is_inherited: false }
    }

    pub(crate) fn default_value(&self) -> T {
        (self.default)()
    }

    fn address(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalKey<{}>", std::any::type_name::<T>())
    }
}

/// Makes a [`LocalKey`] with its default.
///
/// ```
/// use fiber_core::{Fiber, local_key};
///
/// local_key! {
///     /// Who asks.
///     pub static TENANT: String = "nobody".to_owned();
/// }
///
/// let greet = Fiber::local(&TENANT).map(|tenant| format!("hello {tenant}"));
/// let both = greet.clone().zip(greet.with_local(&TENANT, "Ann".to_owned()));
/// assert_eq!(fiber_sched::run(both).unwrap(), ("hello nobody".to_owned(), "hello Ann".to_owned()));
/// ```
#[doc(alias("task_local", "FiberRef"))]
#[macro_export]
macro_rules! local_key {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $default:expr;) => {
        $(#[$attribute])*
        $visibility static $name: $crate::LocalKey<$type> = $crate::LocalKey::new(|| $default);
    };
}

/// The address of no key.
const FORK: usize = 0;

/// A value; `None` while it is dropped.
struct Value<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> Drop for Value<T> {
    /// Drops the value through the drop queue: it may hold a context, whose values hold another one, and so on.
    fn drop(&mut self) {
        if const { mem::needs_drop::<T>() }
            && let Some(value) = self.0.take()
        {
            drop_nested(value);
        }
    }
}

/// The values that a fiber carries, the innermost first. Each is one allocation, which everything below the fiber shares: the
/// drop of the last reference may close a channel, or give back a permit, so references are counted.
pub(crate) type Locals = Counted<Link<dyn Any + Send + Sync>>;

/// A value, and those around it.
pub(crate) struct Link<V: ?Sized> {
    /// [`FORK`] for the boundary between a fork and the fiber around it.
    key: usize,
    is_inherited: bool,
    /// Whether one of these values is not inherited by forks.
    has_own: bool,
    /// Whether the drop of one of these values may have an effect.
    needs_drop: bool,
    references: Object,
    outer: Option<Locals>,
    /// Dropped after those around it.
    value: V,
}

impl<V: ?Sized> Handles for Link<V> {
    fn handles(&self) -> Option<Object> {
        self.needs_drop.then_some(self.references)
    }
}

impl Locals {
    pub(crate) fn with<T: Send + Sync>(outer: Option<Locals>, key: &'static LocalKey<T>, value: T) -> Locals {
        let has_own = !key.is_inherited || outer.as_ref().is_some_and(|outer| outer.has_own);
        Locals::link(outer, key.address(), [key.is_inherited, has_own], value)
    }

    /// The values that a fork inherits.
    pub(crate) fn for_fork(self) -> Locals {
        if self.has_own { Locals::link(Some(self), FORK, [true, false], ()) } else { self }
    }

    fn link<T: Send + Sync + 'static>(
        outer: Option<Locals>,
        key: usize,
        [is_inherited, has_own]: [bool; 2],
        value: T,
    ) -> Locals {
        let needs_drop = mem::needs_drop::<T>() || outer.as_ref().is_some_and(|outer| outer.needs_drop);
        let (references, value) = (Object::new(), Value(Some(value)));
        let link: Arc<Link<dyn Any + Send + Sync>> =
            Arc::new(Link { key, is_inherited, has_own, needs_drop, references, outer, value });
        link.into()
    }

    pub(crate) fn get<T: Send>(&self, key: &'static LocalKey<T>) -> Option<&T> {
        let (mut locals, mut is_of_fork) = (Some(&**self), true);
        while let Some(at) = locals {
            is_of_fork &= at.key != FORK;
            if at.key == key.address() && (at.is_inherited || is_of_fork) {
                return at.value.downcast_ref::<Value<T>>()?.0.as_ref();
            }
            locals = at.outer.as_deref();
        }
        None
    }
}

impl<V: ?Sized> Drop for Link<V> {
    /// A loop, because a recursion may set a value at every level.
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut link) = outer {
            // `None`: others still have it, and one of them goes on with those around it.
            outer = link.get_mut().and_then(|link| link.outer.take());
        }
    }
}
