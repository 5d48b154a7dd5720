//! Progress lines and diffs that the recordings do not cover.

use std::time::Duration;

use plumb_display::{Display, Options, View, WatchLines};
use plumb_events::{
    ColorMode, Event, OperationResult, PolicyPackId, PolicyViolation, Progress, ProgressKind,
};
use plumb_resource::{DiffKind, PropertyDiff, ResourceState, StepOp, Urn};
use plumb_value::{PropertyMap, Value};

use crate::support::{
    Thing, done, error, failed, metadata, options, pre, pre_of, show, stack, summary, thing,
    warning,
};

fn prelude() -> Event {
    Event::Prelude {
        config: [("shop:size".into(), "3".into())].into(),
    }
}

#[test]
fn failures_are_named_in_row_and_sections() {
    let (stack, thing) = (stack(), thing("lab:index:Thing", "a"));
    let events = [
        prelude(),
        pre(StepOp::Create, None, Some(&stack)),
        pre(StepOp::Create, None, Some(&thing)),
        error(Some(&thing), "no room\n"),
        failed(StepOp::Create, None, Some(&thing)),
        error(None, "update failed\n"),
        summary(&[(StepOp::Create, 2)], OperationResult::Failed),
    ];
    insta::assert_snapshot!(show(options(View::Progress), &events), @r#"
    Updating (dev):

     +  pulumi:pulumi:Stack shop-dev creating (0s) 
     +  lab:index:Thing a **creating failed** error: no room
     +  pulumi:pulumi:Stack shop-dev **creating failed** 
    Resources:
        + 2 created
        1 errored

    Duration: 1m5s

    Diagnostics:
      lab:index:Thing (a):
        error: no room
    "#);
}

#[test]
fn a_failed_read_is_told_with_the_stack_unless_reads_are_shown() {
    let (stack, thing) = (stack(), thing("lab:index:Thing", "a"));
    let events = [
        pre(StepOp::Create, None, Some(&stack)),
        pre(StepOp::Read, None, Some(&thing)),
        error(Some(&thing), "nothing there\n"),
        failed(StepOp::Read, None, Some(&thing)),
        summary(&[(StepOp::Create, 1)], OperationResult::Failed),
    ];
    let lines = |options: Options| -> Vec<String> {
        let shown = show(options, &events);
        let lines = shown.lines().filter(|line| line.contains(" a "));
        lines.map(str::to_owned).collect()
    };
    let hidden = lines(options(View::Progress));
    assert_eq!(
        hidden.last().unwrap(),
        "    lab:index:Thing a **failed** 1 error"
    );
    let shown = lines(Options {
        show_reads: true,
        ..options(View::Progress)
    });
    assert_eq!(
        shown.last().unwrap(),
        " >  lab:index:Thing a **reading failed** error: nothing there"
    );
}

#[test]
fn silence_shows_signs_of_life() {
    let mut display = Display::new(options(View::Progress));
    let first = display
        .handle(&pre(StepOp::Create, None, Some(&stack())), Duration::ZERO)
        .stdout;
    assert_eq!(first, " +  pulumi:pulumi:Stack shop-dev creating (0s) \n");
    let ticks: String = (0..3)
        .map(|_| display.tick(Duration::from_secs(1)).stdout)
        .collect();
    assert_eq!(ticks, "@ updating.....");
    let next = display
        .handle(&warning(None, "x\n"), Duration::from_secs(3))
        .stdout;
    assert_eq!(
        next,
        "\n +  pulumi:pulumi:Stack shop-dev creating (3s) warning: x\n"
    );
}

#[test]
fn downloads_are_named_when_they_start_and_end() {
    let progress = |received, done| {
        Event::Progress(Progress {
            kind: ProgressKind::PluginDownload,
            id: "1".into(),
            message: "Downloading plugin random".into(),
            received,
            total: 10,
            done,
        })
    };
    let mut display = Display::new(options(View::Progress));
    let text: String = [progress(0, false), progress(5, false), progress(10, true)]
        .iter()
        .map(|event| display.handle(event, Duration::ZERO).stdout)
        .collect();
    assert_eq!(
        text,
        "Downloading plugin random: starting\nDownloading plugin random: done\n"
    );
}

#[test]
fn colours_are_kept_raw_or_become_codes() {
    let events = [pre(StepOp::Create, None, Some(&thing("a:b:C", "x")))];
    let text = |color| {
        let mut display = Display::new(Options {
            color,
            preview: true,
            ..options(View::Progress)
        });
        display.handle(&events[0], Duration::ZERO).stdout
    };
    assert_eq!(
        text(ColorMode::Raw),
        " <{%bold%}><{%fg 2%}>+ <{%reset%}> a:b:C x <{%bold%}><{%fg 2%}>create<{%reset%}> \n"
    );
    assert!(text(ColorMode::Always).starts_with(" \u{1b}[1m\u{1b}[38;5;2m+ \u{1b}[0m a:b:C x"));
}

#[test]
fn policies_come_before_everything_else_and_mandatory_ones_end_it() {
    let violation = |level: &str, on: Option<&Thing>| {
        Event::PolicyViolation(PolicyViolation {
            urn: on.map(|thing| thing.state.urn.clone()),
            message: "Buckets must not be public.\nACL was public-read".into(),
            color: ColorMode::Raw,
            policy: "no-public-bucket".into(),
            pack: PolicyPackId {
                name: "house-rules".into(),
                version: "1".into(),
                version_tag: "0.0.1".into(),
            },
            enforcement_level: level.into(),
            severity: "".into(),
        })
    };
    let bucket = thing("aws:s3/bucket:Bucket", "logs");
    let events = [
        violation("advisory", None),
        violation("mandatory", Some(&bucket)),
        error(None, "update failed\n"),
        summary(&[(StepOp::Same, 1)], OperationResult::Failed),
    ];
    let reference = Options {
        program: "pulumi".into(),
        ..options(View::Progress)
    };
    assert!(show(reference, &events).contains("error: update failed"));
    insta::assert_snapshot!(show(options(View::Progress), &events), @r"
    Updating (dev):
        pulumi:pulumi:Stack shop-dev  
        pulumi:pulumi:Stack shop-dev **failed** 
    Policies:
        ❌ house-rules@v0.0.1
            - [mandatory]  no-public-bucket  (aws:s3:Bucket: logs)
              Buckets must not be public.
              ACL was public-read
            - [advisory]  no-public-bucket
              Buckets must not be public.
              ACL was public-read
    ");
}

fn finding(level: &str, severity: &str, policy: &str, urn: Urn) -> Event {
    Event::PolicyViolation(PolicyViolation {
        urn: Some(urn),
        message: "no good\n".into(),
        color: ColorMode::Raw,
        policy: policy.into(),
        pack: PolicyPackId {
            name: "house".into(),
            version: "1.2.3".into(),
            version_tag: "1.2.3".into(),
        },
        enforcement_level: level.into(),
        severity: severity.into(),
    })
}

fn summary_with_packs(packs: &[(&str, &str)]) -> Event {
    let Event::Summary(mut summary) = summary(&[], OperationResult::Failed) else {
        unreachable!()
    };
    let packs = packs.iter();
    summary.policy_packs = packs
        .map(|(name, version)| ((*name).into(), (*version).into()))
        .collect();
    Event::Summary(summary)
}

/// POLICY-10
#[test]
fn the_worst_violations_come_first_whatever_the_order_of_their_arrival() {
    let severities = ["", "low", "medium", "high", "critical"];
    let levels = ["advisory", "mandatory"];
    let bucket = thing("aws:s3/bucket:Bucket", "logs");
    let mut events: Vec<Event> = levels
        .iter()
        .flat_map(|level| severities.map(|severity| (level, severity)))
        .map(|(level, severity)| finding(level, severity, "p", bucket.state.urn.clone()))
        .collect();
    events.push(summary_with_packs(&[("house|local|packs/house", "1.2.3")]));
    insta::assert_snapshot!(show(options(View::Progress), &events), @r"
    Updating (dev):
        pulumi:pulumi:Stack shop-dev  
    Policies:
        ❌ house@v1.2.3 (local: packs/house)
            - [mandatory] [severity: critical]  p  (aws:s3:Bucket: logs)
              no good
            - [mandatory] [severity: high]  p  (aws:s3:Bucket: logs)
              no good
            - [mandatory] [severity: medium]  p  (aws:s3:Bucket: logs)
              no good
            - [mandatory] [severity: low]  p  (aws:s3:Bucket: logs)
              no good
            - [mandatory]  p  (aws:s3:Bucket: logs)
              no good
            - [advisory] [severity: critical]  p  (aws:s3:Bucket: logs)
              no good
            - [advisory] [severity: high]  p  (aws:s3:Bucket: logs)
              no good
            - [advisory] [severity: medium]  p  (aws:s3:Bucket: logs)
              no good
            - [advisory] [severity: low]  p  (aws:s3:Bucket: logs)
              no good
            - [advisory]  p  (aws:s3:Bucket: logs)
              no good
    ");
}

#[test]
fn packs_tell_where_they_come_from_and_the_stack_is_not_named() {
    let events = [
        finding("advisory", "", "whole", Urn::root_stack("dev", "shop")),
        summary_with_packs(&[
            ("house|local|a", "1.2.3"),
            ("house|local|b", "1.2.3"),
            ("house", "1.2.3"),
            ("clean", "2.0.0"),
        ]),
    ];
    insta::assert_snapshot!(show(options(View::Progress), &events), @r"
    Updating (dev):
    Policies:
        ✅ clean@v2.0.0
        ⚠️ house@v1.2.3 (local: a; b) + (cloud)
            - [advisory]  whole
              no good

    Resources:

    Duration: 1m5s
    ");
    insta::assert_snapshot!(show(options(View::Diff), &events), @r"
    Updating (dev):
        house@v1.2.3 [advisory]  whole
          no good
    Resources:

    Policy Packs run:
        Name              Version
        clean             2.0.0
        house             1.2.3
        house (local: a)  1.2.3
        house (local: b)  1.2.3

    Duration: 1m5s
    ");
}

fn diff_options() -> Options {
    options(View::Diff)
}

#[test]
fn an_update_shows_details_and_then_new_outputs() {
    let stack = stack();
    let inputs = |size: &str| {
        PropertyMap::new()
            .with("size", size)
            .with("name", "n")
            .with("password", secret(size))
    };
    let outputs = |size: &str| inputs(size).with("endpoint", size).with("__meta", "x");
    let old = thing("aws:rds/instance:Instance", "db")
        .id("db-1")
        .inputs(inputs("s"))
        .outputs(outputs("s"));
    let new = thing("aws:rds/instance:Instance", "db")
        .id("db-1")
        .inputs(inputs("m"));
    let settled = Thing {
        state: new.state.clone(),
    }
    .outputs(outputs("m"));
    let events = [
        prelude(),
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::Update, Some(&old), Some(&new)),
        done(StepOp::Update, Some(&old), Some(&settled)),
        summary(
            &[(StepOp::Update, 1), (StepOp::Same, 1)],
            OperationResult::Succeeded,
        ),
    ];
    insta::assert_snapshot!(show(Options { show_config: true, ..diff_options() }, &events), @r#"
    Updating (dev):
    Configuration:
        shop:size: 3
      pulumi:pulumi:Stack: (same)
        [urn=urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev]
        ~ aws:rds/instance:Instance: (update)
            [id=db-1]
            [urn=urn:pulumi:dev::shop::aws:rds/instance:Instance::db]
            name    : "n"
            password: [secret]
          ~ size    : "s" => "m"
            --outputs:--
          ~ endpoint: "s" => "m"
    Resources:
        ~ 1 updated
        1 unchanged

    Duration: 1m5s
    "#);
}

#[test]
fn secrets_are_shown_on_request() {
    let old = thing("a:b:C", "x").inputs(PropertyMap::new().with("p", secret("one")));
    let new = thing("a:b:C", "x").inputs(PropertyMap::new().with("p", secret("two")));
    let events = [pre(StepOp::Update, Some(&old), Some(&new))];
    assert!(show(diff_options(), &events).contains("p: [secret]"));
    let shown = show(
        Options {
            show_secrets: true,
            ..diff_options()
        },
        &events,
    );
    assert!(shown.contains(r#"~ p: "one" => "two""#), "{shown}");
}

#[test]
fn reported_differences_are_the_only_ones_shown() {
    let env = |name: &str| PropertyMap::new().with("NAME", name).with("OTHER", "o");
    let inputs = |name: &str| {
        PropertyMap::new()
            .with("environment", env(name))
            .with("quiet", true)
    };
    let old = thing("a:b:C", "x")
        .id("1")
        .inputs(inputs("a"))
        .outputs(inputs("a"));
    let new = thing("a:b:C", "x").inputs(inputs("b"));
    let mut step = metadata(StepOp::Update, Some(&old), Some(&new));
    step.detailed_diff = Some(
        [(
            "environment.NAME".into(),
            PropertyDiff {
                kind: DiffKind::Update,
                input_diff: false,
            },
        )]
        .into(),
    );
    insta::assert_snapshot!(show(diff_options(), &[pre_of(step)]), @r#"
    Updating (dev):
    ~ a:b:C: (update)
        [id=1]
        [urn=urn:pulumi:dev::shop::a:b:C::x]
      ~ environment: {
          ~ NAME: "a" => "b"
        }
    "#);
}

#[test]
fn a_refresh_shows_what_became_of_the_outputs() {
    let outputs = |value: &str| PropertyMap::new().with("value", value).with("kept", 1.0);
    let stack = stack();
    let (old, new) = (
        thing("a:b:C", "x").id("1").outputs(outputs("a")),
        thing("a:b:C", "x").id("1").outputs(outputs("b")),
    );
    let events = [
        pre(StepOp::Refresh, Some(&stack), Some(&stack)),
        done(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::Refresh, Some(&old), Some(&old)),
        done(StepOp::Update, Some(&old), Some(&new)),
    ];
    insta::assert_snapshot!(show(diff_options(), &events), @r#"
    Updating (dev):
      pulumi:pulumi:Stack: (same)
        [urn=urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev]
        ~ a:b:C: (update)
            [id=1]
            [urn=urn:pulumi:dev::shop::a:b:C::x]
            kept : 1
          ~ value: "a" => "b"
    "#);
}

#[test]
fn marks_tell_protection_and_provider_changes() {
    let protected = |thing: Thing| Thing {
        state: ResourceState {
            protect: true,
            ..thing.state
        },
    };
    let plain = || thing("a:b:C", "x").id("1");
    let events = [
        pre(StepOp::Update, Some(&plain()), Some(&protected(plain()))),
        pre(StepOp::Update, Some(&protected(plain())), Some(&plain())),
        pre(
            StepOp::Delete,
            Some(&Thing {
                state: ResourceState {
                    retain_on_delete: true,
                    ..plain().state
                },
            }),
            None,
        ),
    ];
    insta::assert_snapshot!(show(diff_options(), &events), @r"
    Updating (dev):
    ~ a:b:C: (update) 🔒
        [id=1]
        [urn=urn:pulumi:dev::shop::a:b:C::x]
    ~ a:b:C: (update) 🔓
        [id=1]
        [urn=urn:pulumi:dev::shop::a:b:C::x]
    - a:b:C: (delete[retain])
        [id=1]
        [urn=urn:pulumi:dev::shop::a:b:C::x]
    ");
}

fn secret(text: &str) -> Value {
    Value::secret(text.into())
}

#[test]
fn a_refresh_before_an_update_compares_outputs() {
    let outputs = |value: &str| PropertyMap::new().with("value", value);
    let (old, new) = (
        thing("a:b:C", "x").id("1").outputs(outputs("a")),
        thing("a:b:C", "x").id("1").outputs(outputs("b")),
    );
    let events = [
        pre(StepOp::Refresh, Some(&old), Some(&old)),
        done(StepOp::Update, Some(&old), Some(&new)),
    ];
    let text = show(options(View::Progress), &events);
    assert!(text.contains(" ~  a:b:C x updated (1s) \n"), "{text}");
}

/// The third interrupt ends a run before its summary.
#[test]
fn a_run_that_is_cut_off_names_what_was_interrupted() {
    let mut display = Display::new(options(View::Progress));
    let thing = thing("a:b:C", "x");
    display.handle(&pre(StepOp::Create, None, Some(&thing)), Duration::ZERO);
    let text = display.finish(Duration::from_secs(1)).stdout;
    assert!(
        text.contains(" +  a:b:C x creating (interrupted) \n"),
        "{text}"
    );
}

#[test]
fn a_cancelled_operation_names_what_was_interrupted() {
    let thing = thing("a:b:C", "x");
    let events = [
        pre(StepOp::Create, None, Some(&thing)),
        summary(&[], OperationResult::Canceled),
    ];
    let text = show(options(View::Progress), &events);
    assert!(
        text.contains(" +  a:b:C x creating (interrupted) \n"),
        "{text}"
    );
}

/// HIDE-01, HIDE-02: with and without a detailed diff from the provider.
#[test]
fn hidden_differences_are_not_shown() {
    let inputs = |value: &str| {
        let list = Value::array([PropertyMap::new().with("key", value).into()]);
        PropertyMap::new()
            .with("seen", value)
            .with("secretive", PropertyMap::new().with("deep", value))
            .with("list", list)
            .with("quiet", "the same")
    };
    let hide = |thing: Thing| Thing {
        state: ResourceState {
            hide_diff: ["secretive", "list[*].key", "quiet"].map(Into::into).into(),
            ..thing.state
        },
    };
    let old = hide(thing("a:b:C", "x").id("1").inputs(inputs("old")));
    let new = hide(thing("a:b:C", "x").inputs(inputs("new")));
    let difference = |path: &str| {
        let update = PropertyDiff {
            kind: DiffKind::Update,
            input_diff: true,
        };
        (path.into(), update)
    };
    let detailed = ["seen", "secretive.deep", "list[0].key"].map(difference);
    let shown = [None, Some(detailed.into())].map(|detailed_diff| {
        let mut step = metadata(StepOp::Update, Some(&old), Some(&new));
        step.detailed_diff = detailed_diff;
        show(diff_options(), &[pre_of(step)])
    });
    insta::assert_snapshot!(shown[0], @r#"
    Updating (dev):
    ~ a:b:C: (update)
        [id=1]
        [urn=urn:pulumi:dev::shop::a:b:C::x]
      ~ list[*].key (hidden)
      ~ quiet (hidden)
      ~ secretive (hidden)
        list: [
            [0]: {
                key: "old"
            }
        ]
      ~ seen: "old" => "new"
    "#);
    // A detailed diff has only the reported paths; others are not compared.
    assert!(
        shown[1].contains("  ~ secretive (hidden)\n"),
        "{}",
        shown[1]
    );
    assert!(!shown[1].contains("deep"), "{}", shown[1]);
}

#[test]
fn a_watched_stack_says_what_happens_line_by_line() {
    let (before, after) = (
        stack(),
        stack().outputs(PropertyMap::new().with("url", "here")),
    );
    let (thing, other) = (
        thing("lab:index:Thing", "a-name-of-more-than-twenty"),
        thing("lab:index:Thing", "b"),
    );
    let events = [
        prelude(),
        pre(StepOp::Same, Some(&before), Some(&before)),
        pre(StepOp::Create, None, Some(&thing)),
        error(Some(&thing), "no room\nin there\n"),
        failed(StepOp::Create, None, Some(&thing)),
        done(StepOp::Update, Some(&other), Some(&other)),
        done(StepOp::Same, Some(&before), Some(&after)),
        done(StepOp::Same, Some(&before), Some(&before)),
        summary(&[(StepOp::Create, 1)], OperationResult::Failed),
    ];
    let options = options(View::Progress);
    let lines = WatchLines::new(&options);
    let all: String = events
        .iter()
        .map(|event| lines.event(event, "12:00:00.000"))
        .collect();
    insta::assert_snapshot!(all, @r#"
    12:00:00.000[ a-name-of-more-than- ] lab:index:Thing: create...
    12:00:00.000[ a-name-of-more-than- ] error: no room
    12:00:00.000[ a-name-of-more-than- ] in there
    12:00:00.000[ a-name-of-more-than- ] failed create lab:index:Thing
    12:00:00.000[ b                    ] lab:index:Thing: update... ✅
    12:00:00.000[                      ] --- Outputs ---
    12:00:00.000[                      ]   + url: "here"
    "#);
}
