//! The browser of changes: what keys do, and what is on the screen.

use plumb_display::{Browser, BrowserKey, ChangeReport, Options, View};
use plumb_events::OperationResult;
use plumb_resource::StepOp;
use plumb_value::{PropertyMap, Value};

use crate::support::{options, pre, stack, summary, thing};

const KEYS: [BrowserKey; 11] = [
    BrowserKey::Up,
    BrowserKey::Down,
    BrowserKey::Left,
    BrowserKey::Right,
    BrowserKey::PageUp,
    BrowserKey::PageDown,
    BrowserKey::Home,
    BrowserKey::End,
    BrowserKey::Enter,
    BrowserKey::Escape,
    BrowserKey::Backspace,
];

/// `sites` components with two buckets each: one is created, the other one changes. And something that goes away.
fn report(sites: usize) -> ChangeReport {
    let mut report = ChangeReport::new(Options {
        preview: true,
        ..options(View::Tree)
    });
    report.handle(&pre(StepOp::Same, Some(&stack()), Some(&stack())));
    for nth in 0..sites {
        let site = thing("shop:index:Site", &format!("site-{nth}")).component();
        report.handle(&pre(StepOp::Same, Some(&site), Some(&site)));
        let made = thing("aws:s3:Bucket", &format!("logs-{nth}")).under(&site);
        report.handle(&pre(StepOp::Create, None, Some(&made)));
        let with = |text: &str, secret: &str| {
            let secret = Value::secret(secret.into());
            let inputs = PropertyMap::new().with("tags", text).with("key", secret);
            let bucket = thing("aws:s3:Bucket", &format!("data-{nth}")).under(&site);
            bucket.inputs(inputs)
        };
        let (old, new) = (
            with("old", "hidden-a"),
            with("a rather long new text", "hidden-b"),
        );
        report.handle(&pre(StepOp::Update, Some(&old), Some(&new)));
    }
    let gone = thing("aws:s3:Bucket", "gone").id("gone-1");
    report.handle(&pre(StepOp::Delete, Some(&gone), None));
    let counts = [(StepOp::Create, 1), (StepOp::Delete, 1)];
    report.handle(&summary(&counts, OperationResult::Succeeded));
    report
}

fn press(browser: &mut Browser<'_>, keys: &str) {
    for letter in keys.chars() {
        let key = match letter {
            '\n' => BrowserKey::Enter,
            '\u{1b}' => BrowserKey::Escape,
            letter => BrowserKey::Letter(letter),
        };
        assert!(browser.press(key), "{letter:?} ends it");
    }
}

fn shown(browser: &Browser<'_>) -> String {
    let lines = browser.frame();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

#[test]
fn few_changes_are_unfolded() {
    let report = report(1);
    let browser = Browser::new(&report, 60, 18);
    insta::assert_snapshot!(shown(&browser), @r#"
    Previewing update (shop/dev): 3 changes
    > ▾ pulumi:pulumi:Stack shop-dev  (3 changes below)
        ▾ shop:index:Site site-0  (2 changes below)
          ▾ aws:s3:Bucket logs-0  + create
                because the program has it and the state does no
                  t
                [urn=urn:pulumi:dev::shop::shop:index:Site$aws:s
                  3:Bucket::logs-0]
          ▾ aws:s3:Bucket data-0  ~ update
                because its provider says that it differs, and n
                  ot in what
                [urn=urn:pulumi:dev::shop::shop:index:Site$aws:s
                  3:Bucket::data-0]
                key : [secret]
              ~ tags: "old" => "a rather long new text"
        ▾ aws:s3:Bucket gone  - delete
              because the program does not have it any more
    enter: fold, a: fold all, c: by kind, /: filter, q: ba… 1/18
    "#);
}

#[test]
fn many_changes_are_a_list_and_each_opens() {
    let report = report(20);
    let mut browser = Browser::new(&report, 70, 10);
    press(&mut browser, "jjj\n");
    insta::assert_snapshot!(shown(&browser), @r#"
    Previewing update (shop/dev): 41 changes
      ▾ pulumi:pulumi:Stack shop-dev  (41 changes below)
        ▾ shop:index:Site site-0  (2 changes below)
          ▸ aws:s3:Bucket logs-0  + create
    >     ▾ aws:s3:Bucket data-0  ~ update
                because its provider says that it differs, and not in what
                [urn=urn:pulumi:dev::shop::shop:index:Site$aws:s3:Bucket::
                  data-0]
                key : [secret]
    enter: fold, a: fold all, c: by kind, /: filter, q: back          4/67
    "#);
    // Enter on any line of an open resource closes it.
    press(&mut browser, "jj\n");
    let closed = shown(&browser);
    assert!(!closed.contains("a rather long"), "{closed}");
    assert!(
        closed.contains("> ") && closed.contains("data-0"),
        "{closed}"
    );
}

#[test]
fn changes_are_folded_by_kind_too_and_what_goes_away_is_first() {
    let report = report(20);
    let mut browser = Browser::new(&report, 70, 9);
    press(&mut browser, "c\n");
    insta::assert_snapshot!(shown(&browser), @r#"
    Previewing update (shop/dev): 41 changes
    > ▾ - delete  (1 resource)
        ▸ aws:s3:Bucket gone  - delete
      ▸ ~ update  (20 resources)
      ▸ + create  (20 resources)



    enter: fold, a: fold all, c: by component, /: filter, q: back      1/4
    "#);
}

#[test]
fn a_filter_finds_names_types_operations_and_values() {
    let report = report(20);
    let matching = |text: &str| {
        let mut browser = Browser::new(&report, 100, 10);
        press(&mut browser, &format!("/{text}\n"));
        let frame = shown(&browser);
        let title = frame.lines().next().unwrap_or_default();
        let (_, rest) = title.rsplit_once("changes, ").unwrap_or_default();
        rest.split(' ').next().unwrap_or_default().parse::<usize>()
    };
    assert_eq!(matching("logs-7"), Ok(1));
    assert_eq!(matching("BUCKET"), Ok(41));
    assert_eq!(matching("delete"), Ok(1));
    assert_eq!(matching("rather long"), Ok(20));
    assert_eq!(
        matching("hidden"),
        Ok(0),
        "secrets are not there to be found"
    );
    let mut browser = Browser::new(&report, 100, 10);
    press(&mut browser, "/data-7");
    insta::assert_snapshot!(shown(&browser), @r#"
    Previewing update (shop/dev): 41 changes, 1 with `data-7`
    > ▾ pulumi:pulumi:Stack shop-dev  (41 changes below)
        ▾ shop:index:Site site-7  (2 changes below)
          ▸ aws:s3:Bucket data-7  ~ update





    /data-7_  (enter: look around, esc: all)
    "#);
    // The first escape shows all again, the second one leaves.
    press(&mut browser, "\n\u{1b}");
    assert!(!shown(&browser).contains("data-7"));
    assert!(!browser.press(BrowserKey::Escape));
}

#[test]
fn any_keys_on_any_size_leave_a_screen_of_that_size() {
    for seed in 0..100_u64 {
        let report = report((seed % 30) as usize);
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let mut size = (20 + next(80), 3 + next(20));
        let mut browser = Browser::new(&report, size.0, size.1);
        for _ in 0..100 {
            match next(12) {
                0 => {
                    size = (20 + next(80), 3 + next(20));
                    browser.resize(size.0, size.1);
                }
                at @ 1..5 => {
                    let letters = ['/', 'a', 'c', 's', '-', '1', ' ', 'G'];
                    browser.press(BrowserKey::Letter(letters[next(8)]));
                    assert!(at > 0);
                }
                _ => drop(browser.press(KEYS[next(KEYS.len())])),
            }
            let frame = browser.frame();
            assert_eq!(frame.len(), size.1, "seed {seed}");
            let widest = frame.iter().map(|line| line.chars().count()).max();
            assert!(widest <= Some(size.0), "seed {seed}");
            let cursors = frame.iter().filter(|line| line.starts_with("> ")).count();
            let is_empty = frame.iter().any(|line| line.ends_with("nothing matches"));
            assert_eq!(cursors, usize::from(!is_empty), "seed {seed}: {frame:#?}");
        }
    }
}
