//! Bookings in SQLite.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fiber_core::sync::Semaphore;
use fiber_core::{Error, Fiber};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::booking::Store;
use crate::domain::{Booking, Order, Refusal};

/// The maximum number of concurrent database calls. Further ones wait as fibers, which is cheap, rather than on threads.
pub const MOST_CALLS: usize = 4;

/// A database with one connection, which only one thread at a time may use.
#[derive(Clone)]
pub struct Sqlite {
    connection: Arc<Mutex<Connection>>,
    calls: Semaphore,
}

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS bookings (
        id INTEGER PRIMARY KEY,
        event INTEGER NOT NULL,
        seat INTEGER NOT NULL,
        client TEXT NOT NULL,
        price INTEGER NOT NULL,
        UNIQUE (event, seat)
    );
";

impl Sqlite {
    /// # Errors
    /// Those of the database.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Sqlite::of(with_table(Connection::open(path)?)?))
    }

    /// A database in memory, which is dropped with its last clone.
    ///
    /// # Errors
    /// Those of the database.
    pub fn in_memory() -> Result<Self, Error> {
        Ok(Sqlite::of(in_memory()?))
    }

    fn of(connection: Connection) -> Self {
        let calls = Semaphore::new(MOST_CALLS).named("database");
        Sqlite { connection: Arc::new(Mutex::new(connection)), calls }
    }

    /// How many more calls may use the database now.
    pub fn free_calls(&self) -> usize {
        self.calls.available()
    }

    /// Calls `f` on a thread that may block. A call that has begun is awaited even if the fiber is cancelled meanwhile,
    /// so its result is known. The wait for a permit can be cancelled.
    fn call<T, F>(&self, f: F) -> Fiber<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let connection = self.connection.clone();
        let call = move || f(&connection.lock().unwrap_or_else(PoisonError::into_inner));
        self.calls.with_permits(1, Fiber::try_blocking(call).uncancelable()).boxed()
    }
}

impl Store for Sqlite {
    fn insert(&self, order: &Order, price: u32) -> Fiber<Booking> {
        let order = order.clone();
        self.call(move |connection| insert(connection, &order, price))
    }

    fn bookings(&self, event: u32) -> Fiber<Vec<Booking>> {
        self.call(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, event, seat, client, price FROM bookings WHERE event = ?1 ORDER BY seat",
            )?;
            let bookings = query.query_map([event], read)?.collect::<Result<_, _>>()?;
            Ok(bookings)
        })
    }
}

/// A connection to a database without bookings.
///
/// # Errors
/// Those of the database.
pub fn in_memory() -> Result<Connection, Error> {
    with_table(Connection::open_in_memory()?)
}

fn with_table(connection: Connection) -> Result<Connection, Error> {
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

/// Books a seat. A single statement decides between competing clients.
///
/// # Errors
/// [`Refusal::Taken`], and those of the database.
pub fn insert(connection: &Connection, order: &Order, price: u32) -> Result<Booking, Error> {
    let Order { event, seat, client } = order;
    let inserted = connection
        .prepare_cached(
            "INSERT INTO bookings (event, seat, client, price) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING RETURNING id, event, seat, client, price",
        )?
        .query_row(params![event, seat, client, price], read)
        .optional()?;
    if let Some(booking) = inserted {
        return Ok(booking);
    }
    let holder = connection
        .prepare_cached("SELECT id, event, seat, client, price FROM bookings WHERE event = ?1 AND seat = ?2")?
        .query_row(params![event, seat], read)?;
    if holder.client == *client { Ok(holder) } else { Err(Refusal::Taken.into()) }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Booking> {
    Ok(Booking {
        id: row.get(0)?,
        event: row.get(1)?,
        seat: row.get(2)?,
        client: row.get(3)?,
        price: row.get(4)?,
    })
}
