//! The only place with side effects on files and processes, and the only one that fetches pages. The
//! tools of the players are adapters over it: they hold the policy, these functions hold the bounds.

pub mod commands;
pub mod fetch;
pub mod search;
