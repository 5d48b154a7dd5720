//! The report as Markdown: a comment on a change, or the summary of a pipeline.
//!
//! Everything that comes from programs and providers stands in code spans or fenced blocks, unless it is a few plain words, so that
//! it cannot mention people, add links or end the block that it is in.

use std::fmt::Write as _;

use plumb_events::strip_color;
use plumb_resource::{StepOp, Urn};

use super::{ChangeReport, Message, Step};
use crate::steps::OUTPUTS;
use crate::text::counted;
use crate::{ops, sections};

/// Maximum length of the text of one message, in bytes.
const MESSAGE: usize = 4_000;

pub(super) fn report(report: &ChangeReport, most: usize) -> String {
    let mut out = format!("### {}\n\n", prose(&report.title()));
    if let Some(note) = report.incompleteness() {
        let _ = write!(out, "**{note}**\n\n");
    }
    let changes = changes(report);
    let mut counts = counts(report);
    if changes.is_empty() {
        counts.insert_str(0, "No changes. ");
    }
    if !counts.is_empty() {
        let _ = write!(out, "{counts}\n\n");
    }
    let (problems, notes): (Vec<&Message>, Vec<&Message>) = report
        .messages
        .iter()
        .partition(|message| matches!(message.class, "error" | "policy"));
    let room = most / 2;
    push_messages(&problems, room, &mut out);
    push_table(&changes, most.saturating_sub(most / 4), &mut out);
    push_folded("Messages", &messages_block(&notes), most, &mut out);
    let outputs = diff_lines(&report.outputs).join("\n");
    push_folded("Outputs", &fenced("diff", &outputs), most, &mut out);
    push_details(&changes, most, &mut out);
    out
}

/// Resources with their steps, those first that lose an object.
fn changes(report: &ChangeReport) -> Vec<(&Urn, &Step)> {
    let mut changes: Vec<(&Urn, &Step)> = report
        .resources
        .iter()
        .flat_map(|(urn, resource)| resource.steps.iter().map(move |step| (urn, step)))
        .filter(|(_, step)| step.op != StepOp::Same)
        .collect();
    changes.sort_by_key(|(_, step)| !loses_an_object(step.op));
    changes
}

fn loses_an_object(op: StepOp) -> bool {
    matches!(
        op,
        StepOp::Delete | StepOp::Replace | StepOp::DeleteReplaced | StepOp::CreateReplacement
    )
}

/// Counts in one line, such as `+` 2 to create · 5 unchanged.
fn counts(report: &ChangeReport) -> String {
    let Some(summary) = &report.summary else {
        return String::new();
    };
    let changes = sections::changes(summary).into_iter();
    let mut counts: Vec<String> = changes
        .map(|(op, count, words)| format!("{} {count} {words}", code(ops::sign(op).trim())))
        .collect();
    match sections::unchanged(summary) {
        0 => {}
        same => counts.push(format!("{same} unchanged")),
    }
    match report.failed {
        0 => {}
        failed => counts.push(format!("**{failed} failed**")),
    }
    counts.join(" · ")
}

fn push_messages(messages: &[&Message], room: usize, out: &mut String) {
    for (at, message) in messages.iter().enumerate() {
        let block = message_block(message);
        if out.len() + block.len() > room {
            let left = counted(messages.len() - at, "more problem");
            let _ = write!(out, "{left}: see the log.\n\n");
            return;
        }
        out.push_str(&block);
    }
}

fn messages_block(messages: &[&Message]) -> String {
    messages.iter().map(|it| message_block(it)).collect()
}

fn message_block(message: &Message) -> String {
    let mark = match message.class {
        "error" => "❌ Error",
        "policy" => "🛡️ Policy",
        "warning" => "⚠️ Warning",
        _ => "Message",
    };
    let subject = message
        .urn
        .as_ref()
        .map_or(String::new(), |urn| format!(": {}", code(urn.name())));
    let text = fenced("text", cut(message.text.trim_end(), MESSAGE));
    format!("{mark}{subject}\n\n{text}\n")
}

fn push_table(changes: &[(&Urn, &Step)], room: usize, out: &mut String) {
    if changes.is_empty() {
        return;
    }
    out.push_str("| | Resource | Type | Because |\n|---|---|---|---|\n");
    for (at, (urn, step)) in changes.iter().enumerate() {
        let row = format!(
            "| {} | {}{} | {} | {} |\n",
            cell(format!("{} {}", ops::sign(step.op).trim(), step.op.as_str()).trim()),
            cell(urn.name()),
            if step.is_protected { " 🔒" } else { "" },
            cell(&step.type_name),
            prose(&because(step)),
        );
        if out.len() + row.len() > room {
            let left = counted(changes.len() - at, "more change");
            let _ = writeln!(out, "\n{left}: see the log.");
            break;
        }
        out.push_str(&row);
    }
    out.push('\n');
}

/// Reasons for the step; none for new resources, which need no reason.
fn because(step: &Step) -> String {
    match step.op {
        StepOp::Create => String::new(),
        _ => step.causes.join("; "),
    }
}

/// Adds a folded section, if it is not empty and fits.
fn push_folded(title: &str, block: &str, most: usize, out: &mut String) {
    if block.is_empty() {
        return;
    }
    let section = format!("<details><summary>{title}</summary>\n\n{block}\n</details>\n\n");
    if out.len() + section.len() <= most {
        out.push_str(&section);
    }
}

/// Adds the differences of each resource, as many as fit.
fn push_details(changes: &[(&Urn, &Step)], most: usize, out: &mut String) {
    let mut text = String::new();
    // The fold, the fence, and the note about what is left out.
    let room = most.saturating_sub(out.len() + 200);
    for (at, (urn, step)) in changes.iter().enumerate() {
        let sign = diff_sign(ops::sign(step.op));
        let head = format!(
            "{sign} {} {} ({})",
            step.op.as_str(),
            urn.name(),
            step.type_name
        );
        let mut block = one_line(&head);
        for line in diff_lines(&step.text) {
            block.extend(["\n", &line]);
        }
        block.push('\n');
        if text.len() + block.len() > room {
            let left = counted(changes.len() - at, "more change");
            let _ = writeln!(text, "  {left}: see the log.");
            break;
        }
        text.push_str(&block);
    }
    let block = fenced("diff", text.trim_end());
    push_folded("Details", &block, most, out);
}

/// Lines of the diff view in the form that forges colour: the sign of a line stands in its first column.
fn diff_lines(text: &str) -> Vec<String> {
    let text = strip_color(text);
    let lines = text.trim_end().lines();
    lines
        .filter(|line| !line.trim_start().starts_with("[urn="))
        .map(diff_line)
        .collect()
}

fn diff_line(line: &str) -> String {
    let rest = line.trim_start();
    let indent = &line[..line.len() - rest.len()];
    let signs = ["+-", "++", "--", "+ ", "- ", "~ ", "= ", "=>", "< ", "<<"];
    match rest.get(..2).filter(|sign| signs.contains(sign)) {
        Some(sign) if !indent.is_empty() && !rest.starts_with(OUTPUTS) => {
            format!("{}{indent} {}", diff_sign(sign), &rest[2..])
        }
        _ => format!(" {line}"),
    }
}

/// First column of a line with this sign of the diff view.
fn diff_sign(sign: &str) -> char {
    match sign.trim() {
        "+" | "++" => '+',
        "-" | "--" => '-',
        "" => ' ',
        _ => '!',
    }
}

/// Block of code in Markdown that its text cannot end; empty for an empty text.
pub fn fenced(language: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_ticks(text).max(2) + 1);
    let text: String = text.chars().map(printable).collect();
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Code span inside a table.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Code span.
fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_ticks(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text whose only markup is its code spans. Text with anything that a forge could read as a mention, a reference, a link or other
/// markup becomes a code span as a whole: forges look for mentions in what is shown, so that escapes do not hide them.
fn prose(text: &str) -> String {
    let text = one_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    let is_balanced = !parts.len().is_multiple_of(2);
    if !is_balanced || !parts.iter().step_by(2).all(|part| is_harmless(part)) {
        return cell(&text);
    }
    let parts = parts.iter().enumerate();
    parts
        .map(|(at, part)| match at % 2 {
            0 => (*part).to_owned(),
            _ => cell(part),
        })
        .collect()
}

fn is_harmless(text: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || " .,:;'()/_-".contains(it);
    text.chars().all(is_plain) && !text.contains("://") && !text.contains("www.")
}

fn one_line(text: &str) -> String {
    let text = text.chars().map(|letter| match letter {
        '\n' | '\t' => ' ',
        letter => printable(letter),
    });
    text.collect()
}

fn printable(letter: char) -> char {
    if letter.is_control() && !matches!(letter, '\n' | '\t') {
        '\u{fffd}'
    } else {
        letter
    }
}

/// Length of the longest run of backticks.
fn longest_ticks(text: &str) -> usize {
    let runs = text.split(|letter| letter != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// The text up to `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
