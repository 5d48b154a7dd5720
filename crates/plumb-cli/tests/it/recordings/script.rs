//! Calls of a step: those that the engine has made, and their differences from the recorded ones.

use serde_json::{Value as Json, json};
use tonic::Status;

use super::compare::{self, Depth, Difference};
use super::names::Names;
use super::recording::{Call, Peer};

/// Expected calls of the engine in one step, and differences so far.
pub(super) struct Script {
    step: String,
    depth: Depth,
    expected: Vec<Expected>,
    pub(super) names: Names,
    differences: Vec<Difference>,
    /// Port of the program's callbacks.
    pub(super) callbacks: u16,
}

struct Expected {
    call: Call,
    is_made: bool,
}

/// Calls without consequences, which may be missing or repeated: plugins are started any number of times, and
/// queried for their information. They are compared when they occur.
const HOUSEKEEPING: [&str; 6] = [
    "GetPluginInfo",
    "Handshake",
    "GetSchema",
    "Cancel",
    "About",
    "Attach",
];

impl Script {
    /// `calls` are the recorded calls of the engine.
    pub(super) fn new(step: &str, calls: Vec<Call>, depth: Depth, names: Names) -> Self {
        let expected = calls.into_iter().map(|call| Expected {
            call,
            is_made: false,
        });
        Script {
            step: step.to_owned(),
            depth,
            expected: expected.collect(),
            names,
            differences: Vec::new(),
            callbacks: 0,
        }
    }

    /// Recorded answer to a call of the engine.
    pub(super) fn take(
        &mut self,
        peer: &Peer,
        method: &str,
        request: &Json,
    ) -> Result<Json, Status> {
        let subject = subject(request);
        let candidates = self.expected.iter().enumerate().filter(|(_, expected)| {
            let call = &expected.call;
            (!expected.is_made || is_housekeeping(method))
                && (&call.peer, call.method.as_str()) == (peer, method)
                && self::subject(&call.request) == subject
        });
        let shown = self.names.to_recorded(request);
        let nearest = candidates.min_by_key(|(_, expected)| {
            compare::compare(method, self.depth, &expected.call.request, &shown).len()
        });
        let Some((index, _)) = nearest else {
            self.unexpected(method, request);
            return Err(Status::unimplemented("nothing like this was recorded"));
        };
        self.expected[index].is_made = true;
        let call = self.expected[index].call.clone();
        self.check_order(index);
        if method.ends_with("/Configure") {
            self.names.learn(&call.request["id"], &request["id"]);
        }
        self.compare(method, "request", &call.request, request);
        match &call.answer {
            Ok(answer) => Ok(self.names.to_ours(answer, self.callbacks)),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Reports a difference if calls about one resource are not in the recorded order.
    fn check_order(&mut self, index: usize) {
        let call = self.expected[index].call.clone();
        let subject = subject(&call.request);
        let is_before = |earlier: &&Expected| {
            !earlier.is_made
                && earlier.call.peer == call.peer
                && !is_housekeeping(&earlier.call.method)
                && self::subject(&earlier.call.request) == subject
        };
        if let Some(earlier) = self.expected[..index].iter().find(is_before) {
            let before = Some(Json::from(earlier.call.method.as_str()));
            let after = Some(Json::from(call.method.as_str()));
            self.differ(&call.method, &subject, "order", before, after);
        }
    }

    fn unexpected(&mut self, method: &str, request: &Json) {
        if !is_housekeeping(method) {
            let ours = Some(self.names.to_recorded(request));
            self.differ(method, &subject(request), "call", None, ours);
        }
    }

    /// Compares a message of the engine with the recorded one.
    pub(super) fn compare(&mut self, method: &str, part: &str, recorded: &Json, ours: &Json) {
        let ours = self.names.to_recorded(ours);
        let subject = subject(recorded);
        for (field, recorded, ours) in compare::compare(method, self.depth, recorded, &ours) {
            let field = format!("{part}.{field}");
            self.differ(
                method,
                &subject,
                field.trim_start_matches('.'),
                recorded,
                ours,
            );
        }
    }

    pub(super) fn differ(
        &mut self,
        method: &str,
        subject: &str,
        field: &str,
        recorded: Option<Json>,
        ours: Option<Json>,
    ) {
        self.differences.push(Difference {
            step: self.step.clone(),
            call: method.rsplit('.').next().unwrap().to_owned(),
            subject: subject.to_owned(),
            field: field.to_owned(),
            recorded,
            ours,
        });
    }

    /// All differences, including calls that were not made.
    pub(super) fn finish(&mut self) -> Vec<Difference> {
        let left: Vec<Call> = self
            .expected
            .iter()
            .filter(|expected| !expected.is_made && !is_housekeeping(&expected.call.method))
            .map(|expected| expected.call.clone())
            .collect();
        for call in left {
            let subject = subject(&call.request);
            self.differ(&call.method, &subject, "call", Some(call.request), None);
        }
        std::mem::take(&mut self.differences)
    }
}

fn is_housekeeping(method: &str) -> bool {
    HOUSEKEEPING.contains(&method.rsplit('/').next().unwrap())
}

/// Subject of a call: a resource, a function, or the registration that is transformed.
pub(super) fn subject(request: &Json) -> String {
    let inner = &request["request"];
    let told = [
        &request["urn"],
        &request["tok"],
        &inner["name"],
        &request["name"],
        &request["id"],
    ];
    let told = told.into_iter().find(|it| !it.is_null());
    told.unwrap_or(&json!(""))
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
