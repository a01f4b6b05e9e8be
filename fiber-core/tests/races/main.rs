//! Races of all kinds of waits and programs: on threads, and in every order.

mod ends;
mod finalizers;
mod meetings;
mod moved;
mod storm;
