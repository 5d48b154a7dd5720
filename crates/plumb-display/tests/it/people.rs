//! Features for people only: moved elements, documents in strings, reasons, waits, groups, terminal frames.

use std::time::Duration;

use plumb_display::{CiSystem, Display, Explanations, Options, Painter, ScreenSize, Scroll, View};
use plumb_events::{Event, OperationResult, Wait, WaitSubject};
use plumb_resource::{DiffKind, PropertyDiff, StepOp};
use plumb_value::{PropertyMap, Value};

use crate::support::{
    done, error, failed, metadata, options, pre, pre_of, show, stack, summary, thing,
};

fn updated(old: PropertyMap, new: PropertyMap) -> String {
    let (old, new) = (
        thing("a:b:C", "x").inputs(old),
        thing("a:b:C", "x").inputs(new),
    );
    let options = Options {
        explain: true,
        ..options(View::Diff)
    };
    let text = show(options, &[pre(StepOp::Update, Some(&old), Some(&new))]);
    text.lines().skip(3).collect::<Vec<_>>().join("\n")
}

#[test]
fn elements_that_move_are_not_changes_of_all_that_stand_behind() {
    let list = |text: &str| Value::array(text.split(' ').map(Value::from));
    let text = updated(
        PropertyMap::new().with("l", list("a b c d")),
        PropertyMap::new().with("l", list("d a b x c")),
    );
    insta::assert_snapshot!(text, @r#"
      ~ l: [
          ~ [3] => [0]: "d"
            [1]: "a"
            [2]: "b"
          + [3]: "x"
            [4]: "c"
        ]
    "#);
}

#[test]
fn documents_in_texts_are_compared_as_what_they_are() {
    let text = updated(
        PropertyMap::new().with("y", "kind: Pod\nspec:\n  - name: a\n    port: 1\n"),
        PropertyMap::new().with("y", "kind: Pod\nspec:\n  - name: a\n    port: 2\n"),
    );
    insta::assert_snapshot!(text, @r#"
    ~ y: (yaml) {
          kind: "Pod"
        ~ spec: [
            ~ [0]: {
                      name: "a"
                    ~ port: 1 => 2
                  }
          ]
      }
    "#);
}

#[test]
fn what_forces_a_replacement_is_said_at_any_depth() {
    let map = |value: f64| {
        let inner = PropertyMap::new().with("size", value).with("kept", true);
        PropertyMap::new().with("disk", inner)
    };
    let (old, new) = (
        thing("a:b:C", "x").inputs(map(1.0)),
        thing("a:b:C", "x").inputs(map(2.0)),
    );
    let mut step = metadata(StepOp::Replace, Some(&old), Some(&new));
    step.keys = vec!["disk".into()];
    let difference = PropertyDiff {
        kind: DiffKind::UpdateReplace,
        input_diff: true,
    };
    step.detailed_diff = Some([("disk.size".into(), difference)].into());
    let options = Options {
        explain: true,
        ..options(View::Diff)
    };
    let text = show(options.clone(), &[pre_of(step.clone())]);
    assert!(
        text.contains("~ size (forces replacement): 1 => 2"),
        "{text}"
    );
    let mut explanations = Explanations::new(&options);
    explanations.handle(&pre_of(step));
    insta::assert_snapshot!(explanations.destructive(&options), @"
    Replaced or deleted, and why:
        +- a:b:C x: `disk.size` changes, which its provider cannot do in place; `disk` changes, which its provider cannot do in place
    ");
}

#[test]
fn every_cause_of_a_replacement_has_words() {
    let causes = |key: &str| {
        let (old, new) = (thing("a:b:C", "x"), thing("a:b:C", "x"));
        let mut step = metadata(StepOp::Replace, Some(&old), Some(&new));
        step.keys = vec![key.into()];
        let mut explanations = Explanations::new(&options(View::Progress));
        explanations.handle(&pre_of(step));
        explanations.run().resources[0].because.join("; ")
    };
    for (key, words) in [
        ("provider", "its provider changes"),
        ("id", "`--replace`"),
        ("replaceWith", "option `replaceWith`"),
        ("deletedWith", "option `deletedWith`"),
        ("size", "`size` changes"),
    ] {
        assert!(causes(key).contains(words), "{key}: {}", causes(key));
    }
}

#[test]
fn a_run_is_explained_resource_by_resource() {
    let (stack, same) = (stack(), thing("a:b:C", "same"));
    let (made, broken) = (thing("a:b:C", "made"), thing("a:b:C", "broken"));
    let gone = thing("a:b:C", "gone");
    let mut kept = thing("a:b:C", "kept");
    kept.state.snippet_id = Some("uuid".into());
    let mut explanations = Explanations::new(&options(View::Progress));
    for event in [
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::Same, Some(&same), Some(&same)),
        pre(StepOp::Create, None, Some(&made)),
        done(StepOp::Create, None, Some(&made)),
        pre(StepOp::Create, None, Some(&broken)),
        error(Some(&broken), "no room\n"),
        failed(StepOp::Create, None, Some(&broken)),
        pre(StepOp::Delete, Some(&gone), None),
        pre(StepOp::Delete, Some(&kept), None),
        summary(&[(StepOp::Create, 1)], OperationResult::Failed),
    ] {
        explanations.handle(&event);
    }
    let run = explanations.run();
    assert_eq!(run.unchanged.len(), 2);
    assert_eq!(run.result.as_deref(), Some("failed"));
    assert_eq!(run.counts(), [("create", 2), ("delete", 2)].into());
    assert_eq!(run.resources[1].errors, ["no room"]);
    assert_eq!(
        run.resources[2].because,
        ["the program does not have it any more"]
    );
    assert_eq!(
        run.resources[3].because,
        ["the stack is not to keep it any more"]
    );
}

#[test]
fn long_waits_are_named_once_and_then_once_a_minute() {
    let slow = thing("aws:rds:Instance", "db");
    let options = Options {
        ci: Some(CiSystem::GitHub),
        ..options(View::Progress)
    };
    let mut display = Display::new(options);
    display.handle(&pre(StepOp::Create, None, Some(&slow)), Duration::ZERO);
    let said: Vec<(u64, String)> = (1..=140)
        .map(|second| (second, display.tick(Duration::from_secs(second)).stdout))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let line = |took: &str| {
        format!(
            "    waiting for aws:rds:Instance db: creating for {took} (call Create to its provider)\n"
        )
    };
    assert_eq!(
        said,
        [
            (1, " +  aws:rds:Instance db creating (1s) \n".to_owned()),
            (10, line("10s")),
            (70, line("1m10s")),
            (130, line("2m10s"))
        ]
    );
    let end = done(StepOp::Create, None, Some(&slow));
    display.handle(&end, Duration::from_secs(150));
    let quiet: String = (151..=170)
        .map(|second| display.tick(Duration::from_secs(second)).stdout)
        .collect();
    assert_eq!(
        quiet,
        "    waiting for the program: no resource has been under way for 10s\n"
    );
}

fn wait(call: &'static str, took: u64, over: bool) -> Event {
    Event::Wait(Wait {
        id: 7,
        subject: WaitSubject::Resource(thing("aws:rds:Instance", "db").state.urn),
        call,
        took: Duration::from_secs(took),
        over,
    })
}

fn said(display: &mut Display, seconds: std::ops::RangeInclusive<u64>) -> Vec<String> {
    let ticks = seconds.map(|second| display.tick(Duration::from_secs(second)).stdout);
    ticks.filter(|text| !text.is_empty()).collect()
}

#[test]
fn a_store_that_does_not_answer_is_named_once_a_minute_and_instead_of_the_program() {
    let options = Options {
        ci: Some(CiSystem::GitHub),
        ..options(View::Progress)
    };
    let mut display = Display::new(options);
    let line = "waiting for the store s3://states: no answer for 10 s";
    display.set_store_wait(Some(line.to_owned()));
    let shown = format!("    {line}\n");
    assert_eq!(said(&mut display, 1..=30), [shown.as_str()]);
    // A step that has ended is news, but not about the store.
    let made = thing("aws:rds:Instance", "db");
    let end = done(StepOp::Create, None, Some(&made));
    display.handle(&end, Duration::from_secs(30));
    assert_eq!(said(&mut display, 31..=60), [""; 0]);
    assert_eq!(said(&mut display, 61..=62), [shown.as_str()]);
    display.set_store_wait(None);
    let program = "    waiting for the program: no resource has been under way for 33s\n";
    assert_eq!(said(&mut display, 63..=64), [program]);
}

#[test]
fn calls_that_belong_to_no_step_are_named_like_steps_and_not_blamed_on_the_program() {
    let options = Options {
        ci: Some(CiSystem::GitHub),
        ..options(View::Progress)
    };
    let mut display = Display::new(options);
    display.handle(&wait("Check", 5, false), Duration::from_secs(6));
    assert_eq!(
        said(&mut display, 7..=60),
        ["    waiting for aws:rds:Instance db: checking for 10s (call Check to its provider)\n"]
    );
    display.handle(&wait("Check", 59, true), Duration::from_mins(1));
    assert!(said(&mut display, 61..=61)[0].starts_with("    waiting for the program:"));
}

/// For example the configuration of its provider.
#[test]
fn a_step_names_the_call_that_it_really_waits_for() {
    let slow = thing("aws:rds:Instance", "db");
    let options = Options {
        ci: Some(CiSystem::GitHub),
        ..options(View::Progress)
    };
    let mut display = Display::new(options);
    display.handle(&pre(StepOp::Create, None, Some(&slow)), Duration::ZERO);
    display.handle(&wait(Wait::STARTING, 5, false), Duration::from_secs(5));
    assert_eq!(
        said(&mut display, 6..=20),
        [
            " +  aws:rds:Instance db creating (6s) \n",
            "    waiting for aws:rds:Instance db: creating for 10s (start of its provider)\n"
        ]
    );
}

#[test]
fn the_tree_has_calls_of_no_row_below_it() {
    let mut display = Display::new(options(View::Tree));
    display.handle(&pre(StepOp::Same, None, Some(&stack())), Duration::ZERO);
    display.handle(&wait("Diff", 5, false), Duration::from_secs(5));
    let frame = |display: &Display, second| display.frame(120, 20, Duration::from_secs(second));
    assert_eq!(frame(&display, 9).len(), 2);
    assert_eq!(
        frame(&display, 12).last().map(String::as_str),
        Some("     waiting for aws:rds:Instance db: comparing for 12s (call Diff to its provider)")
    );
    assert!(frame(&display, 12).len() > frame(&display, 9).len());
}

#[test]
fn groups_hold_the_steps_and_annotations_come_last() {
    let broken = thing("a:b:C", "x");
    let options = Options {
        ci: Some(CiSystem::GitHub),
        ..options(View::Progress)
    };
    let text = show(
        options,
        &[
            pre(StepOp::Create, None, Some(&broken)),
            error(Some(&broken), "no room\n"),
            error(Some(&broken), "no room\n"),
            failed(StepOp::Create, None, Some(&broken)),
            summary(&[], OperationResult::Failed),
            Event::Cancel,
        ],
    );
    assert!(
        text.starts_with("::group::Updating (dev)\nUpdating (dev):\n"),
        "{text}"
    );
    let end = text.find("::endgroup::\n").unwrap();
    assert!(end < text.find("Diagnostics:").unwrap());
    assert!(
        text.ends_with("::error title=a%3Ab%3AC (x)::no room\n"),
        "{text}"
    );
    assert_eq!(text.matches("::error").count(), 1);
}

#[test]
fn a_long_tree_can_be_looked_at_piece_by_piece() {
    let mut display = Display::new(options(View::Tree));
    let root = stack();
    display.handle(&pre(StepOp::Same, Some(&root), Some(&root)), Duration::ZERO);
    for n in 0..40 {
        let it = thing("a:b:C", &format!("n{n:02}"));
        display.handle(&pre(StepOp::Create, None, Some(&it)), Duration::ZERO);
    }
    let frame = |display: &Display| display.frame(80, 10, Duration::ZERO);
    let last = |display: &Display| frame(display).last().unwrap().trim().to_owned();
    assert_eq!(last(&display), "… 33 more");
    display.scroll(Scroll::First, 10);
    assert_eq!(
        last(&display),
        "rows 1 to 8 of 41 (q: back to what goes on)"
    );
    display.scroll(Scroll::Down(5), 10);
    assert_eq!(
        last(&display),
        "rows 6 to 13 of 41 (q: back to what goes on)"
    );
    assert!(frame(&display)[1].contains("n04"));
    display.scroll(Scroll::Up(100), 10);
    assert!(last(&display).starts_with("rows 1 to 8"));
    display.scroll(Scroll::Last, 10);
    assert!(last(&display).starts_with("rows 34 to 41"));
    display.scroll(Scroll::Follow, 10);
    assert_eq!(last(&display), "… 33 more");
}

/// A terminal that keeps lines that have scrolled off.
struct Terminal {
    parser: vt100::Parser,
    painter: Painter,
    size: ScreenSize,
}

impl Terminal {
    fn new(width: u16, height: u16) -> Self {
        Terminal {
            parser: vt100::Parser::new(height, width, 1000),
            painter: Painter::new(),
            size: ScreenSize {
                width: width.into(),
                height: height.into(),
            },
        }
    }

    fn paint(&mut self, lines: &[&str]) -> usize {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        let mut out = Vec::new();
        self.painter.repaint(&mut out, lines, self.size).unwrap();
        self.parser.process(&out);
        out.len()
    }

    fn print(&mut self, text: &str) {
        let mut out = Vec::new();
        self.painter.clear(&mut out, self.size).unwrap();
        out.extend_from_slice(text.as_bytes());
        self.parser.process(&out);
    }

    fn resize(&mut self, width: u16, height: u16) {
        self.parser.screen_mut().set_size(height, width);
        self.size = ScreenSize {
            width: width.into(),
            height: height.into(),
        };
    }

    fn shown(&self) -> String {
        self.parser.screen().contents()
    }
}

#[test]
fn frames_replace_each_other_and_text_goes_above_them() {
    let mut terminal = Terminal::new(20, 10);
    terminal.print("before\r\n");
    terminal.paint(&["one", "two", "three"]);
    terminal.paint(&["one", "2"]);
    assert_eq!(terminal.shown(), "before\none\n2");
    terminal.print("said\r\n");
    terminal.paint(&["one", "2", "3"]);
    assert_eq!(terminal.shown(), "before\nsaid\none\n2\n3");
    let full = "x".repeat(20);
    terminal.paint(&[&full, "2"]);
    terminal.paint(&[&full, "2", "3"]);
    assert_eq!(terminal.shown(), format!("before\nsaid\n{full}\n2\n3"));
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let mut terminal = Terminal::new(80, 24);
    let rows: Vec<String> = (0..20).map(|n| format!("row {n} of a long tree")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let first = terminal.paint(&rows);
    let again = terminal.paint(&rows);
    assert!(again < first / 4, "{again} of {first}");
}

#[test]
fn a_terminal_that_becomes_narrower_shows_one_frame_and_keeps_what_was_before() {
    let mut terminal = Terminal::new(40, 8);
    terminal.print("before\r\n");
    terminal.paint(&["a line of more than twenty columns", "two"]);
    terminal.resize(20, 8);
    terminal.paint(&["a line of more t…", "two"]);
    assert_eq!(terminal.shown(), "a line of more t…\ntwo");
    terminal.parser.screen_mut().set_scrollback(8);
    assert!(
        terminal.shown().starts_with("before\n"),
        "{}",
        terminal.shown()
    );
}
