//! The engine of the web page, compiled to WebAssembly: rules, search, analysis and PDN.
//!
//! A [`Worker`] answers JSON requests and sends JSON messages to its [`Host`]. A request ends with
//! a message of type `result` or `error`; searches send others before it. `docs/browser.md`
//! describes where it runs. The interface is a few functions with texts of JSON, written by hand in
//! `abi.rs`: it needs no generator whose version must match, and no generated code in the page.
//!
//! On other targets the crate is a library, so that its tests need no browser.

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod abi;
mod game_tree;
mod import;
mod worker;

pub use worker::{Host, Worker};
