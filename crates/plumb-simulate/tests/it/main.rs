//! Generated histories in limited number, and stories that failed in the past.

mod differential;
mod found;
mod generated;
mod renames;
mod stories;
