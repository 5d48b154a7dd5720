//! Many resources: rows that are alike, how far an operation is, and short logs.

use std::time::Duration;

use plumb_display::{Action, Display, Explanations, Options, View, expected_changes};
use plumb_events::{Event, OperationResult};
use plumb_resource::StepOp;
use plumb_value::{PropertyMap, Value};
use unicode_width::UnicodeWidthStr;

use crate::support::{Thing, done, error, failed, options, pre, show, stack, summary, thing};

fn people(view: View) -> Options {
    Options {
        explain: true,
        ..options(view)
    }
}

fn last_frame(options: Options, events: &[Event], height: usize) -> String {
    let mut display = Display::new(options);
    for (at, event) in events.iter().enumerate() {
        display.handle(event, Duration::from_millis(at as u64 * 100));
    }
    let now = Duration::from_secs(9);
    display.finish(now);
    display.last_frame(100, height, now).join("\n")
}

fn step(op: StepOp, thing: &Thing, events: &mut Vec<Event>) {
    let (old, new) = match op {
        StepOp::Create => (None, Some(thing)),
        StepOp::Delete => (Some(thing), None),
        _ => (Some(thing), Some(thing)),
    };
    events.extend([pre(op, old, new), done(op, old, new)]);
}

/// `sites` components with two buckets and a role each, and one more with a single bucket.
fn sites(op: StepOp, sites: usize) -> Vec<Event> {
    let mut events = Vec::new();
    step(StepOp::Same, &stack(), &mut events);
    for nth in 0..=sites {
        let site = thing("shop:index:Site", &format!("site-{nth}")).component();
        step(op, &site, &mut events);
        let is_odd = nth == sites;
        let names: &[&str] = if is_odd { &["logs"] } else { &["logs", "data"] };
        for name in names {
            let bucket = thing("aws:s3:Bucket", &format!("{name}-{nth}")).under(&site);
            step(op, &bucket, &mut events);
        }
        if !is_odd {
            let role = thing("aws:iam:Role", &format!("role-{nth}")).under(&site);
            step(op, &role, &mut events);
        }
    }
    events
}

#[test]
fn rows_that_are_alike_are_one_line_if_there_are_more_than_fit() {
    let events = sites(StepOp::Create, 20);
    insta::assert_snapshot!(last_frame(people(View::Tree), &events, 30), @r#"
        Type                 Name                Status
        pulumi:pulumi:Stack  shop-dev
    +   ├─ shop:index:Site   site-0 and 19 more  created (0.10s)
    +   │  ├─ aws:s3:Bucket  logs-0 and 39 more  created (0.10s)
    +   │  └─ aws:iam:Role   role-0 and 19 more  created (0.10s)
    +   └─ shop:index:Site   site-20             created (0.10s)
    +      └─ aws:s3:Bucket  logs-20             created (0.10s)
        83 resources in 6 rows (--all-rows: one for each)
    "#);
}

#[test]
fn all_rows_stay_if_they_fit_or_are_wanted_or_the_reference_shows_them() {
    let events = sites(StepOp::Create, 20);
    let rows = |options: Options, height| last_frame(options, &events, height).lines().count();
    // The header, the stack, 20 sites with three resources, and one with a single bucket.
    let all = 1 + 1 + 20 * 4 + 2;
    assert_eq!(rows(people(View::Tree), 100), all);
    let wanted = Options {
        all_rows: true,
        ..people(View::Tree)
    };
    assert_eq!(rows(wanted, 30), all);
    let reference = Options {
        program: "pulumi".into(),
        ..people(View::Tree)
    };
    assert_eq!(rows(reference, 30), all);
}

#[test]
fn what_goes_away_has_rows_of_its_own_until_it_is_confirmed() {
    let events = sites(StepOp::Delete, 19);
    let rows = |action, preview| {
        let options = Options {
            action,
            preview,
            ..people(View::Tree)
        };
        last_frame(options, &events, 30).lines().count()
    };
    assert_eq!(rows(Action::Update, true), 80);
    assert!(rows(Action::Update, false) < 12);
    // All goes, which the question says.
    assert!(rows(Action::Destroy, true) < 12);
    let options = Options {
        preview: true,
        ..people(View::Tree)
    };
    let many = last_frame(options, &sites(StepOp::Delete, 20), 30);
    assert!(many.lines().count() < 12, "nobody reads so many names");
}

#[test]
fn rows_with_something_to_say_are_never_folded() {
    let mut events = Vec::new();
    step(StepOp::Same, &stack(), &mut events);
    for nth in 0..40 {
        let bucket = thing("aws:s3:Bucket", &format!("b{nth}"));
        if nth == 7 {
            events.push(pre(StepOp::Create, None, Some(&bucket)));
            events.push(error(Some(&bucket), "no room\n"));
            events.push(failed(StepOp::Create, None, Some(&bucket)));
        } else {
            step(StepOp::Create, &bucket, &mut events);
        }
    }
    // One that changes in another way.
    let tags = |value: &str| {
        let inputs = PropertyMap::new().with("tags", value);
        thing("aws:s3:Bucket", "other").inputs(inputs)
    };
    let (old, new) = (tags("a"), tags("b"));
    events.push(pre(StepOp::Update, Some(&old), Some(&new)));
    events.push(done(StepOp::Update, Some(&old), Some(&new)));
    insta::assert_snapshot!(last_frame(people(View::Tree), &events, 30), @r#"
        Type                 Name            Status               Info
        pulumi:pulumi:Stack  shop-dev
    +   ├─ aws:s3:Bucket     b0 and 38 more  created (0.10s)
    +   ├─ aws:s3:Bucket     b7              **creating failed**  1 error
    ~   └─ aws:s3:Bucket     other           updated (0.10s)      [diff: ~tags: "a" => "b"]
        42 resources in 4 rows (--all-rows: one for each)
    "#);
}

fn running(options: Options, count: usize, finished: usize) -> Display {
    let mut display = Display::new(options);
    display.handle(&pre(StepOp::Same, None, Some(&stack())), Duration::ZERO);
    for nth in 0..count {
        let bucket = thing("aws:s3:Bucket", &format!("b{nth}"));
        display.handle(&pre(StepOp::Create, None, Some(&bucket)), Duration::ZERO);
        if nth < finished {
            let at = Duration::from_millis(nth as u64 * 100);
            display.handle(&done(StepOp::Create, None, Some(&bucket)), at);
        }
    }
    display
}

fn last_line(display: &Display, seconds: u64) -> String {
    let frame = display.frame(100, 12, Duration::from_secs(seconds));
    assert!(frame.len() <= 12);
    frame.last().cloned().unwrap_or_default()
}

#[test]
fn the_last_line_says_how_far_a_run_is() {
    let options = |expected| Options {
        expected,
        ..people(View::Tree)
    };
    let line = |expected, seconds| last_line(&running(options(expected), 50, 20), seconds);
    assert!(!line(Some(80), 0).contains(" of "));
    assert_eq!(
        line(Some(80), 4),
        "     [=====               ] 20 of 80, 30 under way, 5/s, 4s"
    );
    assert_eq!(line(None, 4), "     20 resources, 30 under way, 5/s, 4s");
    assert_eq!(
        line(Some(80), 60),
        "     [=====               ] 20 of 80, 30 under way, 20/min, 1m0s, longest: b20 1m0s"
    );
    let reference = Options {
        program: "pulumi".into(),
        ..options(Some(80))
    };
    assert!(!last_line(&running(reference, 50, 20), 4).contains("under way"));
    let mut display = running(options(Some(80)), 50, 20);
    display.finish(Duration::from_secs(4));
    assert!(!last_line(&display, 4).contains("under way"));
}

#[test]
fn a_preview_tells_what_its_run_will_handle() {
    let counts = [
        (StepOp::Same, 5),
        (StepOp::Read, 2),
        (StepOp::Create, 3),
        (StepOp::Replace, 1),
    ];
    let Event::Summary(preview) = summary(&counts, OperationResult::Succeeded) else {
        unreachable!("a summary");
    };
    assert_eq!(expected_changes(&preview, Action::Update), 4);
    assert_eq!(expected_changes(&preview, Action::Refresh), 11);
}

#[test]
fn logs_have_the_start_of_a_step_only_if_it_takes_long() {
    let (quick, slow) = (thing("a:b:C", "quick"), thing("a:b:C", "slow"));
    let log = |program: &str| {
        let mut display = Display::new(Options {
            program: program.into(),
            ..options(View::Progress)
        });
        let mut text = String::new();
        let mut handle = |display: &mut Display, event: Event, at| {
            text.push_str(&display.handle(&event, Duration::from_millis(at)).stdout);
        };
        handle(&mut display, pre(StepOp::Create, None, Some(&quick)), 0);
        handle(&mut display, done(StepOp::Create, None, Some(&quick)), 50);
        handle(&mut display, pre(StepOp::Create, None, Some(&slow)), 100);
        let ticks = (1..4).map(|second| display.tick(Duration::from_secs(second)).stdout);
        let ticks: String = ticks.collect();
        text.push_str(&ticks);
        let end = done(StepOp::Create, None, Some(&slow));
        text.push_str(&display.handle(&end, Duration::from_secs(4)).stdout);
        text
    };
    let own = log("plumb");
    let own: Vec<&str> = own.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(own.join("\n"), @r#"
    +  a:b:C quick created (0.05s)
    +  a:b:C slow creating (1s)
    +  a:b:C slow created (3s)
    "#);
    assert!(log("pulumi").contains("a:b:C quick creating (0s)"));
}

#[test]
fn an_error_stands_once_in_the_steps_and_once_at_the_end() {
    let broken = thing("a:b:C", "x");
    let events = [
        pre(StepOp::Create, None, Some(&broken)),
        error(Some(&broken), "no room\n"),
        failed(StepOp::Create, None, Some(&broken)),
        summary(&[], OperationResult::Failed),
    ];
    let count = |program: &str| {
        let options = Options {
            program: program.into(),
            ..options(View::Progress)
        };
        show(options, &events).matches("no room").count()
    };
    assert_eq!(count("plumb"), 2);
    assert_eq!(count("pulumi"), 3);
}

#[test]
fn a_short_difference_stands_in_the_row_but_no_secret_does() {
    let info = |options: Options, old: Value, new: Value| {
        let with = |value| {
            let inputs = PropertyMap::new().with("size", value);
            thing("a:b:C", "x").inputs(inputs)
        };
        let (old, new) = (with(old), with(new));
        let events = [
            pre(StepOp::Same, Some(&stack()), Some(&stack())),
            pre(StepOp::Update, Some(&old), Some(&new)),
        ];
        let mut display = Display::new(options);
        for event in &events {
            display.handle(event, Duration::ZERO);
        }
        let frame = display.frame(120, 20, Duration::ZERO).join("\n");
        let (_, info) = frame.rsplit_once("[diff: ").unwrap_or_default();
        info.strip_suffix(']').unwrap_or(info).to_owned()
    };
    let shown = |old: Value, new: Value| info(people(View::Tree), old, new);
    assert_eq!(shown(1.0.into(), 2.0.into()), "~size: 1 => 2");
    assert_eq!(shown("a".into(), "b\n".into()), r#"~size: "a" => "b\n""#);
    assert_eq!(
        shown(Value::Bool(true), Value::UNKNOWN),
        "~size: true => [unknown]"
    );
    assert_eq!(shown("a".into(), "b".repeat(40).into()), "~size");
    let list = |text: &str| Value::array([text.into()]);
    assert_eq!(shown(list("a"), list("b")), "~size");
    let secret = Value::secret("hidden".into());
    assert_eq!(shown("a".into(), secret.clone()), "~size");
    assert_eq!(shown(secret, "a".into()), "~size");
    // Logs are kept, and reach more readers.
    assert_eq!(info(options(View::Tree), 1.0.into(), 2.0.into()), "~size");
}

#[test]
fn reasons_that_many_share_are_said_once() {
    let options = people(View::Tree);
    let mut explanations = Explanations::new(&options);
    let mut events = Vec::new();
    for nth in 0..40 {
        let bucket = thing("aws:s3:Bucket", &format!("b{nth}"));
        events.push(pre(StepOp::Delete, Some(&bucket), None));
    }
    let role = thing("aws:iam:Role", "role");
    events.push(pre(StepOp::Delete, Some(&role), None));
    for event in &events {
        explanations.handle(event);
    }
    insta::assert_snapshot!(explanations.destructive(&options), @r#"
    Replaced or deleted, and why:
        -  aws:s3:Bucket b0 and 39 more: the program does not have it any more
        -  aws:iam:Role role: the program does not have it any more
    "#);
    let reference = Options {
        program: "pulumi".into(),
        ..options
    };
    let lines = explanations.destructive(&reference);
    assert_eq!(lines.trim_end().lines().count(), 1 + 30 + 1, "{lines}");
}

#[test]
fn a_replacement_is_one_line_of_a_preview_and_its_parts_are_those_of_a_run() {
    let with = |size: f64| {
        let inputs = PropertyMap::new().with("size", size);
        thing("a:b:C", "x").inputs(inputs)
    };
    let (old, new) = (with(1.0), with(2.0));
    let mut events = Vec::new();
    for op in [
        StepOp::CreateReplacement,
        StepOp::Replace,
        StepOp::DeleteReplaced,
    ] {
        let new = (op != StepOp::DeleteReplaced).then_some(&new);
        events.extend([pre(op, Some(&old), new), done(op, Some(&old), new)]);
    }
    let log = |preview, program: &str| {
        let shown = Options {
            preview,
            program: program.into(),
            ..options(View::Progress)
        };
        let shown = show(shown, &events);
        let lines = shown.lines().filter(|line| line.contains("a:b:C"));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(log(true, "plumb"), "+- a:b:C x replace [diff: ~size]");
    assert_eq!(
        log(false, "plumb"),
        "++ a:b:C x created replacement (1s) [diff: ~size]\n-- a:b:C x deleted original (1s) [diff: ~size]"
    );
    assert_eq!(log(true, "pulumi").lines().count(), 3);
}

#[test]
fn long_names_give_way_to_what_happens() {
    let long = thing("aws:s3:Bucket", &"a-long-name-".repeat(8));
    let wide = thing("aws:s3:Bucket", &"日本語".repeat(12));
    let events = [
        pre(StepOp::Same, Some(&stack()), Some(&stack())),
        pre(StepOp::Create, None, Some(&long)),
        done(StepOp::Create, None, Some(&long)),
        pre(StepOp::Create, None, Some(&wide)),
        error(Some(&wide), "no room\n"),
        failed(StepOp::Create, None, Some(&wide)),
    ];
    insta::assert_snapshot!(last_frame(people(View::Tree), &events, 40), @r#"
        Type                 Name                                          Status               Info
        pulumi:pulumi:Stack  shop-dev
    +   ├─ aws:s3:Bucket     a-long-name-a-long-name-a-long-name-a-long-…  created (0.10s)
    +   └─ aws:s3:Bucket     日本語日本語日本語日本語日本語日本語日本語…   **creating failed**  1 error
    "#);
    for columns in 60..120 {
        let mut display = Display::new(people(View::Tree));
        for event in &events {
            display.handle(event, Duration::ZERO);
        }
        for line in display.frame(columns, 20, Duration::ZERO) {
            assert!(line.width() <= columns, "{columns}: {line}");
        }
        let frame = display.frame(columns, 20, Duration::ZERO).join("\n");
        assert!(frame.contains("created"), "{columns}: {frame}");
    }
}
