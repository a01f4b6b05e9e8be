//! Books seats: a complete service on fibers. Beside it a second, small one: a proxy.
//!
//! | file | what |
//! |---|---|
//! | `domain` | orders, bookings, and refusals |
//! | `booking` | the logic, which knows neither HTTP nor SQLite; tested on virtual time |
//! | `store` | SQLite, behind a bounded number of blocking calls |
//! | `upstream` | the two services that are asked about an order: retries, hedging, breakers, a cache |
//! | `simulation` | those two services, slow and faulty, for the example |
//! | `http` | axum: routes, deadlines, statuses, `/debug/fibers` and `/metrics` |
//! | `log` | log lines with the number of the request |
//! | `service` | serves, and shuts the parts down in order |
//! | `proxy` | the second service: deadlines, retries, hedging and a cache in front of replicas |

pub mod booking;
pub mod domain;
pub mod http;
pub mod log;
pub mod proxy;
pub mod service;
pub mod simulation;
pub mod store;
pub mod upstream;
