/// The value of one of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Either<A, B> {
    /// From the left side: the fiber that `race` was called on.
    Left(A),
    /// From the right side.
    Right(B),
}

impl<T> Either<T, T> {
    /// The value of either side.
    ///
    /// ```
    /// use fiber_core::Either;
    /// assert_eq!(Either::<i32, i32>::Right(2).into_inner(), 2);
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            Either::Left(value) | Either::Right(value) => value,
        }
    }
}
