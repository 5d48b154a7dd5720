//! Time and memory for displaying a hundred thousand events.
//!
//! ```sh
//! cargo run --profile bench-fast -p display-bench
//! ```
//!
//! Every view gets the same events: resources are created, updated, replaced and kept, each with messages. The tree is
//! drawn as often as on a screen: after each frame, ten times its duration passes. `few` distributes the events over a
//! thousand resources and `many` over thirty thousand, because memory must grow with resources, not with events.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plumb_display::{Action, Display, Explanations, Options, View};
use plumb_events::{
    Diagnostic, Event, Metadata, OperationResult, Severity, StateView, StepEvent, Summary,
};
use plumb_resource::{ROOT_STACK_TYPE, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::PropertyMap;

const EVENTS: usize = 100_000;

fn main() {
    println!(
        "{:28} {:>9} {:>9} {:>12}",
        "what", "events", "time", "in use after"
    );
    for (name, resources) in [("few", 1000), ("many", 30_000)] {
        let events = events(resources);
        for view in [View::Progress, View::Diff, View::Tree] {
            measure(&format!("{view:?} {name}"), &events, || show(view, &events));
        }
        measure(&format!("explanations {name}"), &events, || {
            let mut explanations = Explanations::new(&options(View::Progress));
            for event in &events {
                explanations.handle(event);
            }
            black_box(explanations.run().resources.len())
        });
    }
}

fn measure(name: &str, events: &[Event], work: impl Fn() -> usize) {
    let before = resident();
    let began = Instant::now();
    black_box(work());
    let took = began.elapsed();
    let grown = resident().saturating_sub(before);
    println!("{name:28} {:>9} {took:>9.2?} {:>9} kB", events.len(), grown);
}

/// Resident memory of this process, in kB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

fn options(view: View) -> Options {
    Options {
        view,
        ..Options::new(Action::Update, false, "dev", "shop")
    }
}

fn show(view: View, events: &[Event]) -> usize {
    let mut display = Display::new(options(view));
    let mut written = display.start().len();
    let began = Instant::now();
    let mut next_frame = began;
    for event in events {
        let now = began.elapsed();
        let output = display.handle(event, now);
        written += output.stdout.len() + output.stderr.len();
        if view == View::Tree && Instant::now() >= next_frame {
            let drawing = Instant::now();
            written += display.frame(120, 50, now).len();
            next_frame = Instant::now() + (drawing.elapsed() * 10).max(Duration::from_millis(60));
        }
    }
    written += display.last_frame(120, 50, began.elapsed()).len();
    written + display.finish(began.elapsed()).stdout.len()
}

fn events(resources: usize) -> Vec<Event> {
    let states: Vec<Arc<ResourceState>> = (0..resources).map(|n| Arc::new(state(n))).collect();
    let ops = [
        StepOp::Create,
        StepOp::Update,
        StepOp::Same,
        StepOp::Replace,
    ];
    let mut events = Vec::with_capacity(EVENTS + 2);
    let mut at = 0;
    while events.len() < EVENTS {
        let state = &states[at % resources];
        let op = ops[at % resources % ops.len()];
        events.push(Event::ResourcePre(step(op, state)));
        if at % 3 == 0 {
            let message = format!("{} goes on\n", state.urn.name());
            let mut told = Diagnostic::new(Severity::Info, Some(state.urn.clone()), message);
            told.ephemeral = true;
            events.push(Event::Diagnostic(told));
        }
        events.push(Event::ResourceOutputs(step(op, state)));
        at += 1;
    }
    events.push(Event::Summary(Summary {
        maybe_corrupt: false,
        duration: Duration::from_secs(1),
        resource_changes: [(StepOp::Create, 1)].into(),
        policy_packs: std::collections::BTreeMap::new(),
        is_preview: false,
        result: OperationResult::Succeeded,
    }));
    events.push(Event::Cancel);
    events
}

fn state(n: usize) -> ResourceState {
    let name = format!("resource-{n}");
    let urn = Urn::new(
        "dev",
        "shop",
        ROOT_STACK_TYPE,
        "aws:s3/bucket:Bucket",
        &name,
    );
    let inputs = PropertyMap::new()
        .with("name", name.as_str())
        .with("size", n as f64)
        .with(
            "policy",
            r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow"}]}"#,
        );
    ResourceState {
        parent: Some(Urn::root_stack("dev", "shop")),
        inputs: Arc::new(inputs.clone()),
        outputs: Arc::new(inputs.with("arn", "arn:aws:s3:::x")),
        ..ResourceState::new(urn, ResourceKind::Custom)
    }
}

fn step(op: StepOp, state: &Arc<ResourceState>) -> StepEvent {
    let new = StateView::from(state.clone());
    let old = (op != StepOp::Create).then(|| {
        let mut old = state.as_ref().clone();
        if op != StepOp::Same {
            let inputs = state.inputs.as_ref().clone().with("size", -1.0);
            old.inputs = Arc::new(inputs);
        }
        StateView::new(old)
    });
    StepEvent {
        metadata: Box::new(Metadata {
            op,
            urn: state.urn.clone(),
            type_token: state.type_token.clone(),
            old,
            new: Some(new),
            keys: Vec::new(),
            diffs: Vec::new(),
            detailed_diff: None,
            logical: op.is_logical(),
            provider: None,
        }),
        planning: false,
        internal: false,
    }
}
