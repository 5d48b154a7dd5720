//! Generated histories, bounded; and stories that failed once.

mod generated;
mod stories;
