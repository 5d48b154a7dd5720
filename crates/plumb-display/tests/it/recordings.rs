//! Recorded events produce the recorded text.

use std::time::Duration;

use plumb_display::{Action, Display, Options, View};
use pretty_assertions::assert_eq;

use crate::support::{recorded_events, recordings};

const PROGRAMS: [&str; 5] = ["random", "command", "python", "node", "go"];
const STEPS: [(&str, Action, bool, View); 7] = [
    ("1-preview", Action::Update, true, View::Progress),
    ("2-up", Action::Update, false, View::Progress),
    ("3-up-same", Action::Update, false, View::Progress),
    ("4-refresh", Action::Refresh, false, View::Progress),
    ("5-preview-diff", Action::Update, true, View::Diff),
    ("6-up-changed", Action::Update, false, View::Progress),
    ("7-destroy", Action::Destroy, false, View::Progress),
];

#[test]
fn recorded_events_give_recorded_texts() {
    for program in PROGRAMS {
        for (step, action, preview, view) in STEPS {
            let base = recordings().join(program);
            let events = recorded_events(&base.join(format!("{step}.events.jsonl")));
            let mut display = Display::new(Options {
                view,
                program: "pulumi".into(),
                ..Options::new(action, preview, "dev", "recording")
            });
            let (mut stdout, mut stderr) = (display.start(), String::new());
            for read in events {
                let now = Duration::from_secs(u64::try_from(read.timestamp).unwrap());
                let output = display.handle(&read.event, now);
                stdout.push_str(&output.stdout);
                stderr.push_str(&output.stderr);
            }
            let expected =
                std::fs::read_to_string(base.join(format!("{step}.stdout.txt"))).unwrap();
            assert_eq!(normal(&stdout), normal(&expected), "{program} {step}");
            if let Ok(expected) = std::fs::read_to_string(base.join(format!("{step}.stderr.txt"))) {
                assert_eq!(stderr, expected, "{program} {step}");
            }
        }
    }
}

/// The text without everything that varies between runs: times, progress indicators, the order of diagnostics and of
/// unfinished rows, and text added by the command itself.
fn normal(text: &str) -> String {
    let text = text
        .split("The resources in the stack have been deleted")
        .next()
        .unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("@ "))
        .map(without_times);
    let mut blocks: Vec<Vec<String>> = vec![Vec::new()];
    for line in lines {
        if line.starts_with("  ") && line.ends_with("):") && !line.starts_with("   ") {
            blocks.push(Vec::new());
        }
        if ["Outputs:", "Resources:", "Diagnostics:"].contains(&line.as_str()) {
            blocks.push(Vec::new());
        }
        blocks.last_mut().unwrap().push(line);
    }
    let is_row = |line: &&String| line.starts_with(' ') && line.contains("pulumi:pulumi:Stack");
    let n_last = blocks[0].iter().rev().take_while(is_row).count();
    let first = blocks[0].len() - n_last;
    blocks[0][first..].sort();
    if let Some(start) = blocks.iter().position(|block| block[0] == "Diagnostics:") {
        let n_diagnostics = blocks[start + 1..]
            .iter()
            .take_while(|block| block[0].starts_with("  "))
            .count();
        blocks[start + 1..=start + n_diagnostics].sort();
    }
    blocks.concat().join("\n")
}

/// The line with `(0.12s)` and `Duration: 5s` replaced by placeholders.
fn without_times(line: &str) -> String {
    if line.starts_with("Duration: ") {
        return "Duration: <t>".to_owned();
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('(') {
        let (before, after) = rest.split_at(start);
        out.push_str(before);
        let inner = after[1..].split(')').next().unwrap_or_default();
        let is_time = inner.ends_with('s') && inner[..inner.len() - 1].parse::<f64>().is_ok();
        if is_time {
            out.push_str("(<t>)");
            rest = &after[inner.len() + 2..];
        } else {
            out.push('(');
            rest = &after[1..];
        }
    }
    out.push_str(rest);
    out
}
