//! Runs the conformance suite of buckets against an empty store: `conformance URL [one-at-a-time]`.
//!
//! `tests/e2e/stores.py` runs this against each server that it starts.

use std::sync::Arc;

use plumb_backend::conformance;
use plumb_stores::{StoreUrl, StoreWatch};

fn main() {
    let url = std::env::args().nth(1).expect("the address is given");
    let url = StoreUrl::parse(&url).expect("it is the address of a store");
    let variables = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let watch = Arc::new(StoreWatch::silent());
    let bucket = plumb_stores::open(&url, &variables, &watch).expect("the store can be opened");
    if std::env::args().nth(2).is_some() {
        conformance::check_one_at_a_time(bucket.as_ref());
    } else {
        conformance::check(bucket.as_ref());
    }
}
