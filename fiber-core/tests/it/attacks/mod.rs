//! Safe code that misuses the traits of the engine, or combines its operators in unusual ways. Each test is named by what holds
//! nevertheless.

mod races;
