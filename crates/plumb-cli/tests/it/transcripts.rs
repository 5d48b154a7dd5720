//! Every command of the built binary, with its output and its errors, as transcripts in `tests/transcripts`.
//!
//! A transcript is a script with its output. Lines that begin with `$ ` are commands, run in order in a project called
//! `proj` with its own home folder and store. After a command follow its stdout in lines with `| `, its stderr in lines with
//! `! `, and its exit code as `[n]` if it failed. A line with `< ` is its input, `@file PATH` with lines after four blanks a
//! file, `@script PATH` an executable one, `@env NAME=VALUE` a variable, and `$~ ` a command whose output depends on the
//! machine. `@double PATH` is a plugin, with methods and answers after four blanks; other methods are unimplemented. Lines
//! with `> ` are actions while a command runs: `wait TEXT` waits until the command prints the text (once more), `write PATH`
//! writes a text, `interrupt` sends a signal. Values that differ between runs are written as `<time>` and the like.
//!
//! `PLUMB_WRITE_TRANSCRIPTS=1 cargo test -p plumb-cli --test it transcripts` rewrites them: review the changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use plumb_cli::args::surface::{CommandSurface, surface};
use regex::Regex;
use serde_json::Value as Json;
use tokio::runtime::Runtime;
use tonic::Status;

use crate::context::{Ran, TestContext, system_user};
use crate::recordings::grpc::{self, Answer, Served};

/// Commands without a transcript. The list must only get shorter.
const OWED: &str = include_str!("../transcripts/owed.txt");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

fn transcripts() -> Vec<(PathBuf, String)> {
    let mut found: Vec<(PathBuf, String)> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "transcript"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    found
}

/// A line of a transcript, other than output.
enum Line<'t> {
    /// A command, with its input.
    Run {
        line: &'t str,
        words: Vec<String>,
        input: String,
        /// Actions while it runs.
        meanwhile: Vec<&'t str>,
        is_of_machine: bool,
    },
    /// A file.
    File {
        line: &'t str,
        path: &'t str,
        content: Vec<&'t str>,
        kind: FileKind,
    },
    /// A variable.
    Variable {
        line: &'t str,
        name: &'t str,
        value: &'t str,
    },
    /// A comment.
    Comment(&'t str),
}

/// Purpose of a file.
#[derive(Clone, Copy, PartialEq)]
enum FileKind {
    /// Data.
    Text,
    /// An executable.
    Script,
    /// An executable that is a plugin with these answers.
    Double,
}

const FILES: [(&str, FileKind); 3] = [
    ("@file ", FileKind::Text),
    ("@script ", FileKind::Script),
    ("@double ", FileKind::Double),
];

fn parse(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(read) = line.strip_prefix("< ") {
            let Some(Line::Run { input, .. }) = lines.last_mut() else {
                panic!("nobody reads `{read}`")
            };
            input.push_str(read);
            input.push('\n');
        } else if let Some(happening) = line.strip_prefix("> ") {
            let Some(Line::Run { meanwhile, .. }) = lines.last_mut() else {
                panic!("nothing runs during `{happening}`")
            };
            meanwhile.push(happening);
        } else if let Some(part) = line.strip_prefix("    ") {
            let Some(Line::File { content, .. }) = lines.last_mut() else {
                panic!("`{part}` is in no file")
            };
            content.push(part);
        } else if let Some(words) = line.strip_prefix("$ ").or(line.strip_prefix("$~ ")) {
            lines.push(Line::Run {
                line,
                words: split(words),
                input: String::new(),
                meanwhile: Vec::new(),
                is_of_machine: line.starts_with("$~"),
            });
        } else if let Some((path, kind)) = FILES
            .iter()
            .find_map(|(mark, kind)| Some((line.strip_prefix(mark)?, *kind)))
        {
            let content = Vec::new();
            lines.push(Line::File {
                line,
                path,
                content,
                kind,
            });
        } else if let Some((name, value)) = line
            .strip_prefix("@env ")
            .and_then(|rest| rest.split_once('='))
        {
            lines.push(Line::Variable { line, name, value });
        } else if line.starts_with('#') || line.is_empty() {
            lines.push(Line::Comment(line));
        } else {
            let is_output = ["| ", "! ", "["].iter().any(|it| line.starts_with(it));
            assert!(is_output || line == "|" || line == "!", "what is `{line}`?");
        }
    }
    lines
}

/// Splits a line at blanks; single quotes protect blanks.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut has_word) =
        (Vec::new(), String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '\'' => (is_quoted, has_word) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if std::mem::take(&mut has_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(letter);
                has_word = true;
            }
        }
    }
    if has_word {
        words.push(word);
    }
    words
}

/// Runs a transcript; returns it with the output of this run.
fn run(text: &str) -> String {
    let mut context = TestContext::new();
    let redactions = redactions();
    let mut doubles = Doubles::default();
    let mut out = String::new();
    for line in parse(text) {
        match line {
            Line::Comment(line) => out.extend([line, "\n"]),
            Line::Variable { line, name, value } => {
                let root = context.root().display().to_string();
                context.set(name, Some(&value.replace("<root>", &root)));
                out.extend([line, "\n"]);
            }
            Line::File {
                line,
                path,
                content,
                kind,
            } => {
                let text = match kind {
                    FileKind::Text | FileKind::Script => content.join("\n") + "\n",
                    FileKind::Double => doubles.serve(&content),
                };
                context.write(path, &text);
                if kind != FileKind::Text {
                    let path = context.project().join(path);
                    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
                }
                out.extend([line, "\n"]);
                for line in content {
                    out.extend(["    ", line, "\n"]);
                }
            }
            Line::Run {
                line,
                words,
                input,
                meanwhile,
                is_of_machine,
            } => {
                out.extend([line, "\n"]);
                input.lines().for_each(|it| out.extend(["< ", it, "\n"]));
                for happening in &meanwhile {
                    out.extend(["> ", happening, "\n"]);
                }
                let root = context.root().display().to_string();
                let words: Vec<String> =
                    words.iter().map(|it| it.replace("<root>", &root)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let ran = if meanwhile.is_empty() {
                    context.run_with(&words, &input)
                } else {
                    run_while(&context, &words, &meanwhile)
                };
                write_output(&mut out, &ran, is_of_machine, &redactions);
            }
        }
    }
    out
}

/// Plugins that the test serves.
#[derive(Default)]
struct Doubles {
    runtime: Option<Runtime>,
    served: Vec<Served>,
}

impl Doubles {
    /// Serves `answers`; returns a plugin script that prints the port.
    fn serve(&mut self, answers: &[&str]) -> String {
        let answers = answers.iter().map(|line| {
            let (method, answer) = line.split_once(' ').unwrap();
            (method.to_owned(), serde_json::from_str(answer).unwrap())
        });
        let answers = Arc::new(Answers(answers.collect()));
        let runtime = self.runtime.get_or_insert_with(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1).enable_all().build().unwrap()
        });
        let served = runtime.block_on(grpc::serve(answers));
        let script = format!("#!/bin/sh\necho {}\nexec /bin/sleep 1000\n", served.port);
        self.served.push(served);
        script
    }
}

/// Answers of a plugin by method, the same for every call.
struct Answers(BTreeMap<String, Json>);

#[async_trait]
impl Answer for Answers {
    async fn answer(&self, method: &str, _: Json) -> Result<Json, Status> {
        let name = method.rsplit('/').next().unwrap();
        let answer = self.0.get(name).cloned();
        answer.ok_or_else(|| Status::unimplemented(method))
    }
}

/// Runs a command, with actions meanwhile.
fn run_while(context: &TestContext, words: &[&str], meanwhile: &[&str]) -> Ran {
    let mut child = context.start(words);
    let said = Arc::new(Mutex::new(String::new()));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let heard = said.clone();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            heard.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
    for happening in meanwhile {
        match happening.split_once(' ').unwrap_or((happening, "")) {
            ("wait", text) => {
                let times = waits.entry(text).or_default();
                *times += 1;
                let began = Instant::now();
                while said.lock().unwrap().matches(text).count() < *times {
                    assert!(
                        began.elapsed() < Duration::from_mins(2),
                        "{text} never came"
                    );
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            ("write", rest) => {
                let (path, text) = rest.split_once(' ').unwrap();
                context.write(path, &text.replace("\\n", "\n"));
            }
            ("interrupt", _) => {
                let id = child.id().to_string();
                Command::new("kill").args(["-INT", &id]).status().unwrap();
            }
            _ => panic!("what is `{happening}`?"),
        }
    }
    let mut ran = context.ended(child);
    reader.join().unwrap();
    let root = context.root().display().to_string();
    ran.stdout = said.lock().unwrap().replace(&root, "<root>");
    ran
}

fn write_output(out: &mut String, ran: &Ran, is_of_machine: bool, redactions: &[(Regex, &str)]) {
    for (mark, text) in [("|", &ran.stdout), ("!", &ran.stderr)] {
        if is_of_machine {
            continue;
        }
        let mut text = text.clone();
        for (found, instead) in redactions {
            text = found.replace_all(&text, *instead).into_owned();
        }
        for line in text.lines() {
            let _ = writeln!(out, "{}", format!("{mark} {line}").trim_end());
        }
    }
    if ran.code != 0 {
        let _ = writeln!(out, "[{}]", ran.code);
    }
}

/// Patterns for values that differ between runs and machines, with their replacements.
fn redactions() -> Vec<(Regex, &'static str)> {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = format!(r"\b{}\b", regex::escape(machine.trim()));
    let user = regex::escape(&system_user());
    let named = format!(r#"(?m)(^|"user": "| as ){user}($|"| \()"#);
    let at = format!(r"\b{user}@[\w.-]+");
    let all = [
        (machine.as_str(), "<machine>"),
        (named.as_str(), "${1}<user>${2}"),
        (at.as_str(), "<user>@<machine>"),
        (
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
            "<time>",
        ),
        (
            r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4} \w+",
            "<time>",
        ),
        (r"\b(\d+|a|an) \w+ ago\b|\bjust now\b|\bnow\b", "<ago>"),
        // The width of the column depends on its longest time.
        (r"<ago> {2,}", "<ago>  "),
        (r"LAST UPDATE +RESOURCE", "LAST UPDATE  RESOURCE"),
        (r"\(\d+(\.\d+)?s\)", "(<took>)"),
        (r"(Duration:|took) \d+s", "$1 <took>"),
        (r#""duration": ?\d+"#, "\"duration\": <took>"),
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "<uuid>",
        ),
        (r"v1:[A-Za-z0-9+/=]{10,}(:[A-Za-z0-9+/=]+)*", "<ciphertext>"),
        (r"\bpid \d+", "pid <pid>"),
        (r"Managed by .+", "Managed by <machine>"),
        (r#"(pulumi\.(?:arch|os)"?: "?)\w+"#, "${1}<machine>"),
        (r"\b[0-9a-f]{64}\b", "<digest>"),
        (r"@ [a-z ]+\.{4,}\n", ""),
        (r" \d\d:\d\d:\d\d\.\d{3}\[", " <time>["),
    ];
    all.map(|(pattern, instead)| (Regex::new(pattern).unwrap(), instead))
        .into()
}

#[test]
fn commands_do_and_say_what_the_transcripts_have() {
    let writes = std::env::var_os("PLUMB_WRITE_TRANSCRIPTS").is_some();
    let mut differing = Vec::new();
    std::thread::scope(|scope| {
        let running: Vec<_> = transcripts()
            .into_iter()
            .map(|(path, text)| scope.spawn(move || (run(&text), path, text)))
            .collect();
        for one in running {
            let (now, path, text) = one.join().unwrap();
            if writes {
                fs::write(&path, &now).unwrap();
            } else if now != text {
                differing.push(format!("{}:\n{}", path.display(), difference(&text, &now)));
            }
        }
    });
    assert!(
        differing.is_empty(),
        "other output than before; PLUMB_WRITE_TRANSCRIPTS=1 writes it down\n{}",
        differing.join("\n")
    );
}

/// The first differing lines, with the lines before them.
fn difference(before: &str, now: &str) -> String {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let same = before.iter().zip(&now).take_while(|(old, new)| old == new);
    let at = same.count();
    let part = |lines: &[&str], sign: &str| -> String {
        let end = lines.len().min(at + 8);
        let lines = lines[at.min(end)..end].iter();
        lines.flat_map(|line| ["  ", sign, *line, "\n"]).collect()
    };
    let context = before[at.saturating_sub(4)..at.min(before.len())].iter();
    let context: String = context.flat_map(|line| ["   ", *line, "\n"]).collect();
    context + &part(&before, "-") + &part(&now, "+")
}

/// Finds the command that the arguments name.
fn command<'s>(declared: &'s [CommandSurface], words: &[String]) -> Option<&'s CommandSurface> {
    let mut found = declared.iter().find(|it| it.path.is_empty());
    let mut path: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let below = declared.iter().find(|it| {
            it.path.len() == path.len() + 1
                && it.path.starts_with(&path)
                && (it.path.last() == Some(word) || it.aliases.contains(word))
        });
        let Some(below) = below else { break };
        path.clone_from(&below.path);
        found = Some(below);
    }
    found
}

/// Results of each command in the transcripts, by path: true for success, false for failure.
fn covered(declared: &[CommandSurface]) -> BTreeMap<String, BTreeSet<bool>> {
    let mut covered: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    for (_, text) in transcripts() {
        let mut last = None;
        let mut note = |last: Option<&CommandSurface>, succeeds| {
            if let Some(command) = last {
                covered
                    .entry(command.path.join(" "))
                    .or_default()
                    .insert(succeeds);
            }
        };
        for line in text.lines() {
            if let Some(words) = line.strip_prefix("$ ").or(line.strip_prefix("$~ ")) {
                note(last.take(), true);
                last = command(declared, &split(words));
            } else if line.starts_with('[') {
                note(last.take(), false);
            }
        }
        note(last.take(), true);
    }
    covered
}

/// Results that no transcript covers: `COMMAND succeeds`, `COMMAND fails`.
fn missing() -> BTreeSet<String> {
    let declared = surface(&plumb_cli::args::command_tree());
    let covered = covered(&declared);
    let mut missing = BTreeSet::new();
    for command in &declared {
        let path = command.path.join(" ");
        let seen = covered.get(&path).cloned().unwrap_or_default();
        // Groups and refused commands can only fail; the program itself and completion requests can only succeed.
        let is_built = !command.is_refused && !command.about.ends_with("(not supported yet)");
        let can_succeed = is_built && !command.is_group;
        let can_fail = !path.is_empty() && path != "__complete";
        if can_succeed && !seen.contains(&true) {
            missing.insert(format!("{path} succeeds"));
        }
        if can_fail && !seen.contains(&false) {
            missing.insert(format!("{path} fails"));
        }
    }
    missing
}

#[test]
fn every_command_succeeds_and_fails_in_a_transcript() {
    let owed = OWED.lines().filter(|line| !line.starts_with('#'));
    let owed: BTreeSet<String> = owed.map(ToOwned::to_owned).collect();
    let missing = missing();
    let new: Vec<&String> = missing.difference(&owed).collect();
    assert!(
        new.is_empty(),
        "a transcript in {} has to run these commands:\n{new:#?}",
        folder().display()
    );
    let paid: Vec<&String> = owed.difference(&missing).collect();
    assert!(
        paid.is_empty(),
        "these are there now, so they leave owed.txt:\n{paid:#?}"
    );
}
