//! Decides the order of simultaneous events: tries every order, one after the other.

/// Why a way to decide has no end.
#[derive(Debug)]
pub(crate) enum Unforeseen {
    /// The program has something that the interpreter does not know.
    Outside,
    /// No run of the program makes these decisions.
    Impossible,
}

/// Programs with more ways than this are skipped.
const MOST_WAYS: usize = 500;

#[derive(Default)]
pub(crate) struct Oracle {
    /// Each decision, with its number of choices.
    path: Vec<(usize, usize)>,
    next: usize,
}

impl Oracle {
    pub(crate) fn choose(&mut self, of: usize) -> usize {
        if self.next == self.path.len() {
            self.path.push((0, of));
        }
        self.next += 1;
        self.path[self.next - 1].0
    }

    /// Advances to the next way. `false`: that was the last.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((chosen, of)) = self.path.pop() {
            if chosen + 1 < of {
                self.path.push((chosen + 1, of));
                return true;
            }
        }
        false
    }
}

/// All results of `run` with the oracle's decisions. `None`: they cannot be determined.
pub(crate) fn all_ways<T: PartialEq>(
    mut run: impl FnMut(Oracle) -> (Result<T, Unforeseen>, Oracle),
) -> Option<Vec<T>> {
    let (mut ways, mut oracle) = (Vec::new(), Oracle::default());
    for _ in 0..MOST_WAYS {
        let (way, used) = run(oracle);
        match way {
            Ok(way) if !ways.contains(&way) => ways.push(way),
            Ok(_) | Err(Unforeseen::Impossible) => {}
            Err(Unforeseen::Outside) => return None,
        }
        oracle = used;
        if !oracle.advance() {
            return Some(ways);
        }
    }
    None
}
