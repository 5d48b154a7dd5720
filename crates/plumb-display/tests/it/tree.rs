//! Frames of the tree.

use std::time::Duration;

use plumb_display::{Display, Options, View};
use plumb_events::{Event, OperationResult, Progress, ProgressKind};
use plumb_resource::StepOp;
use plumb_value::PropertyMap;

use crate::support::{done, error, options, pre, show, stack, summary, thing, warning};

fn draw(events: &[Event], width: usize, height: usize) -> String {
    draw_with(options(View::Tree), events, width, height)
}

fn draw_with(options: Options, events: &[Event], width: usize, height: usize) -> String {
    let mut display = Display::new(options);
    for (at, event) in events.iter().enumerate() {
        display.handle(event, Duration::from_secs(at as u64));
    }
    let frame = display.frame(width, height, Duration::from_secs(events.len() as u64));
    assert!(frame.len() <= height);
    frame.join("\n")
}

fn running() -> Vec<Event> {
    let stack = stack();
    let site = thing("shop:index:Site", "site").component();
    let pet = thing("random:index/randomPet:RandomPet", "pet").under(&site);
    let tags = |value: &str| PropertyMap::new().with("tags", value);
    let (logs_old, logs_new) = (
        thing("aws:s3:Bucket", "logs").inputs(tags("a")),
        thing("aws:s3:Bucket", "logs").inputs(tags("b")),
    );
    let same = thing("aws:s3:Bucket", "same");
    vec![
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::Create, None, Some(&site)),
        pre(StepOp::Create, None, Some(&pet)),
        done(StepOp::Create, None, Some(&pet)),
        pre(StepOp::Same, Some(&same), Some(&same)),
        done(StepOp::Same, Some(&same), Some(&same)),
        pre(StepOp::Update, Some(&logs_old), Some(&logs_new)),
        warning(Some(&pet), "the pet looks hungry\n"),
    ]
}

#[test]
fn rows_are_a_tree_with_aligned_columns() {
    insta::assert_snapshot!(draw(&running(), 100, 20), @r#"
        Type                          Name      Status           Info
        pulumi:pulumi:Stack           shop-dev  running
    +   ├─ shop:index:Site            site      | creating (7s)
    +   │  └─ random:index:RandomPet  pet       created (1s)     warning: the pet looks hungry
    ~   └─ aws:s3:Bucket              logs      | updating (2s)  [diff: ~tags]
    "#);
}

#[test]
fn narrow_terminals_cut_lines() {
    insta::assert_snapshot!(draw(&running(), 50, 20), @r#"
        Type                          Name      Stat…
        pulumi:pulumi:Stack           shop-dev  runn…
    +   ├─ shop:index:Site            site      | cr…
    +   │  └─ random:index:RandomPet  pet       crea…
    ~   └─ aws:s3:Bucket              logs      | up…
    "#);
}

#[test]
fn low_terminals_drop_finished_rows_first() {
    let mut events = running();
    for name in ["a", "b", "c", "d", "e"] {
        let bucket = thing("aws:s3:Bucket", name);
        events.push(pre(StepOp::Create, None, Some(&bucket)));
        events.push(done(StepOp::Create, None, Some(&bucket)));
    }
    insta::assert_snapshot!(draw(&events, 80, 8), @r#"
        Type                 Name      Status            Info
        pulumi:pulumi:Stack  shop-dev  running
    +   ├─ shop:index:Site   site      | creating (17s)
    ~   ├─ aws:s3:Bucket     logs      | updating (12s)  [diff: ~tags]
    +   ├─ aws:s3:Bucket     c         created (1s)
    +   ├─ aws:s3:Bucket     d         created (1s)
    +   └─ aws:s3:Bucket     e         created (1s)
        … 3 more
    "#);
}

#[test]
fn urns_can_stand_in_place_of_types_and_names() {
    let options = Options {
        show_urns: true,
        ..options(View::Tree)
    };
    insta::assert_snapshot!(draw_with(options, &running(), 120, 20), @r#"
        URN                                                                                Status           Info
        urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev                                running
    +   ├─ urn:pulumi:dev::shop::shop:index:Site::site                                     | creating (7s)
    +   │  └─ urn:pulumi:dev::shop::shop:index:Site$random:index/randomPet:RandomPet::pet  created (1s)     warning: the p…
    ~   └─ urn:pulumi:dev::shop::aws:s3:Bucket::logs                                       | updating (2s)  [diff: ~tags]
    "#);
}

#[test]
fn replacements_are_one_row() {
    let stack = stack();
    let (old, new) = (
        thing("a:b:C", "x").inputs(PropertyMap::new().with("size", 1.0)),
        thing("a:b:C", "x").inputs(PropertyMap::new().with("size", 2.0)),
    );
    let events = [
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::CreateReplacement, Some(&old), Some(&new)),
        done(StepOp::CreateReplacement, Some(&old), Some(&new)),
        pre(StepOp::Replace, Some(&old), Some(&new)),
        done(StepOp::Replace, Some(&old), Some(&new)),
        pre(StepOp::DeleteReplaced, Some(&old), None),
    ];
    insta::assert_snapshot!(draw(&events, 100, 20), @r#"
        Type                 Name      Status            Info
        pulumi:pulumi:Stack  shop-dev  running
    +-  └─ a:b:C             x         | replacing (5s)  [diff: ~size]
    "#);
}

#[test]
fn the_last_frame_counts_messages_and_sections_follow() {
    let mut events = running();
    let broken = thing("a:b:C", "broken");
    events.push(pre(StepOp::Create, None, Some(&broken)));
    events.push(error(Some(&broken), "no room\n"));
    events.push(summary(
        &[(StepOp::Create, 1), (StepOp::Same, 2)],
        OperationResult::Failed,
    ));
    events.push(Event::Cancel);
    insta::assert_snapshot!(draw(&events, 100, 20), @r"
        Type                          Name      Status                  Info
        pulumi:pulumi:Stack           shop-dev
    +   ├─ shop:index:Site            site      created
    +   │  └─ random:index:RandomPet  pet       created (1s)            1 warning
    ~   ├─ aws:s3:Bucket              logs      updating (interrupted)  [diff: ~tags]
    +   └─ a:b:C                      broken    **creating failed**     1 error
    ");
    insta::assert_snapshot!(show(options(View::Tree), &events), @r#"
    Updating (dev):

    Resources:
        + 1 created
        2 unchanged
        1 errored

    Duration: 1m5s

    Diagnostics:
      random:index:RandomPet (pet):
        warning: the pet looks hungry

      a:b:C (broken):
        error: no room
    "#);
}

#[test]
fn downloads_are_below_the_rows_until_they_are_done() {
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
    let begin = pre(StepOp::Create, None, Some(&stack()));
    insta::assert_snapshot!(draw(&[begin.clone(), progress(1, false), progress(5, false)], 80, 20), @r"
         Type                 Name      Status
     +   pulumi:pulumi:Stack  shop-dev  - creating (3s)
    Downloads:
        Downloading plugin random [==========          ] 50%
    ");
    assert!(!draw(&[begin, progress(5, false), progress(10, true)], 80, 20).contains("Downloads"));
}
