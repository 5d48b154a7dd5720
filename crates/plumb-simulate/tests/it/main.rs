//! Generated histories, bounded; and stories that failed once.

mod differential;
mod found;
mod generated;
mod renames;
mod stories;
