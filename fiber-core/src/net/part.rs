//! A prefix of a buffer.

use crate::error::counted;

/// The first bytes of a buffer, to be written. The whole buffer is returned with the result, so that it can be reused.
///
/// ```
/// use fiber_core::net::{Part, TcpStream};
/// use fiber_core::{Fiber, fiber};
///
/// fn echo(stream: TcpStream) -> Fiber<()> {
///     fiber! {
///         let mut buffer = vec![0; 1024];
///         loop {
///             let! (n, read) = stream.read(buffer);
///             if n == 0 { break }
///             let! part = stream.write_all(Part::new(read, n));
///             buffer = part.into_buffer();
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Part<B> {
    buffer: B,
    length: usize,
}

impl<B: AsRef<[u8]>> Part<B> {
    /// The first `length` bytes.
    ///
    /// ```
    /// use fiber_core::net::Part;
    /// let part = Part::new(vec![1, 2, 3], 2);
    /// assert_eq!(part.as_ref(), [1, 2]);
    /// ```
    ///
    /// # Panics
    /// If the buffer is shorter.
    #[track_caller]
    pub fn new(buffer: B, length: usize) -> Self {
        let whole = buffer.as_ref().len();
        assert!(length <= whole, "the first {} of a buffer of {whole}", counted(length, "byte"));
        Part { buffer, length }
    }

    /// The whole buffer.
    ///
    /// ```
    /// use fiber_core::net::Part;
    /// assert_eq!(Part::new([1, 2, 3], 2).into_buffer(), [1, 2, 3]);
    /// ```
    pub fn into_buffer(self) -> B {
        self.buffer
    }
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Part<B> {
    fn as_ref(&self) -> &[u8] {
        let all = self.buffer.as_ref();
        &all[..self.length.min(all.len())]
    }
}
