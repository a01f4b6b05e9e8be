//! Orders, bookings, and refusals.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A client asks for a seat.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub event: u32,
    pub seat: u32,
    pub client: String,
}

/// A client has a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booking {
    pub id: i64,
    pub event: u32,
    pub seat: u32,
    pub client: String,
    pub price: u32,
}

/// The reason for a refusal, in terms of the domain. `http` translates it into a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Invalid(&'static str),
    Risky,
    Taken,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Invalid(why) => write!(f, "the order is invalid: {why}"),
            Refusal::Risky => f.write_str("the client is not trusted"),
            Refusal::Taken => f.write_str("the seat is taken"),
        }
    }
}

impl Error for Refusal {}
