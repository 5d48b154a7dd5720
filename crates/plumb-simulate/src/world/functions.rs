//! Functions of the program that change what it registers, and do what their names say.
//!
//! | Name | The function |
//! |---|---|
//! | `marks` | gives everything a property `t` |
//! | `slows` | lets creations take seven seconds |
//! | `frees` | has what is new made before what is old is deleted |

use std::sync::Arc;

use plumb_deploy::request::{Callback, RegisterRequest, Request};

use crate::story::{Prop, Res};

/// The time that `slows` gives, in seconds.
const LONG: u32 = 7;

/// The requests by which a program has everything pass through its functions.
pub(super) fn registrations(names: &[String]) -> impl Iterator<Item = Request> {
    names.iter().map(|name| {
        Request::RegisterStackTransform(Callback {
            target: "program".into(),
            token: name.as_str().into(),
            accepts_byte_string: true,
        })
    })
}

/// What a function makes of a registration.
pub(super) fn transform(name: &str, mut request: Box<RegisterRequest>) -> Box<RegisterRequest> {
    match name {
        "marks" => drop(Arc::make_mut(&mut request.properties).insert("t", "1")),
        "slows" => {
            let limits = request.custom_timeouts.get_or_insert_default();
            limits.create = f64::from(LONG);
        }
        _ => request.delete_before_replace = Some(false),
    }
    request
}

/// The same, of what the program says.
pub(crate) fn transformed(names: &[String], res: &Res) -> Res {
    let mut res = res.clone();
    for name in names {
        match name.as_str() {
            "marks" => drop(res.properties.insert("t".to_owned(), Prop::text("1"))),
            "slows" => res.timeout = Some(LONG),
            _ => res.delete_before_replace = Some(false),
        }
    }
    res
}
