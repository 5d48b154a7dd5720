//! `differential --harness PROGRAM [--operations N] [--seed S]`: runs stories on the core and on the reference, and
//! counts the differences by kind; each kind is shown with its smallest story.
//! `--jobs J` runs that many processes of the reference in parallel (default: the number of processors).
//! `--shrink K` shrinks the stories of the K most frequent kinds (default: 3).
//! `--story FILE` runs one story, and shows every difference; `--keep FILE` writes it with the answers of the
//! reference.
#![expect(clippy::print_stdout, reason = "this program's output")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use plumb_simulate::differential::rules::rule_of;
use plumb_simulate::differential::{Both, Difference, Kept, Reference, admit, run};
use plumb_simulate::generate;
use plumb_simulate::shrink::{Effort, shrink_with};
use plumb_simulate::story::Story;
use serde_json::{Value as Json, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Both sides run in one fixed order of events.
const EFFORT: Effort = Effort {
    tries: 250,
    orders: 0,
};

const USAGE: &str = "usage: differential --harness PROGRAM [--operations N] [--seed S] [--jobs J] [--shrink K] | \
    --harness PROGRAM --story FILE [--keep FILE]";

/// Message of the harness for an operation that does not end.
const STUCK: &str = "the engine does not end";

/// Process with the reference, which answers each line with a line.
struct Harness {
    program: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Total time of its answers.
    taken: Duration,
}

impl Harness {
    fn start(program: &str) -> Result<Self, String> {
        let failed = |error| format!("{program}: {error}");
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or("the harness has no pipes")?;
        Ok(Harness {
            program: program.to_owned(),
            child,
            input,
            output: BufReader::new(output),
            taken: Duration::ZERO,
        })
    }

    fn ask(&mut self, case: &Json) -> Option<Json> {
        let begun = Instant::now();
        // Written at once, because the pipe has no buffer and JSON is written token by token.
        let asked = format!("{case}\n");
        self.input.write_all(asked.as_bytes()).ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        self.taken += begun.elapsed();
        serde_json::from_str(&line).ok()
    }

    fn restart(&mut self) -> Result<(), String> {
        let mut next = Harness::start(&self.program)?;
        next.taken = self.taken;
        *self = next;
        Ok(())
    }
}

impl Reference for Harness {
    /// Runs a case. A dead harness (for example after a panic in a goroutine) is a valid answer, and is replaced. So is
    /// one whose engine does not end, because it would keep memory and a processor busy.
    fn perform(&mut self, case: &Json) -> Json {
        let answer = self.ask(case);
        let is_spent = answer.as_ref().is_none_or(|it| it["panic"] == STUCK);
        if is_spent && let Err(message) = self.restart() {
            return json!({"panic": message});
        }
        answer.unwrap_or_else(|| json!({"panic": "the process ended"}))
    }

    fn perform_again(&mut self, case: &Json) -> Option<Json> {
        Some(self.perform(case))
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A kind of difference: its count and its first story.
struct Kind {
    count: u64,
    seed: u64,
    story: Story,
    operation: usize,
    difference: Difference,
}

#[derive(Default)]
struct Tally {
    stories: u64,
    operations: u64,
    same: u64,
    kinds: BTreeMap<String, Kind>,
    rules: BTreeMap<&'static str, u64>,
    without: BTreeMap<&'static str, u64>,
    violations: BTreeMap<String, (u64, u64)>,
    /// Total time of the reference in all processes.
    taken: Duration,
}

impl Tally {
    /// Merges two tallies; if both have a kind, the first story is kept.
    fn and(mut self, other: Tally) -> Tally {
        self.stories += other.stories;
        self.operations += other.operations;
        self.same += other.same;
        self.taken += other.taken;
        for (signature, kind) in other.kinds {
            let known = self.kinds.remove(&signature);
            let count = kind.count + known.as_ref().map_or(0, |it| it.count);
            let first = known.into_iter().chain([kind]).min_by_key(|it| it.seed);
            let merged = first.map(|first| Kind { count, ..first });
            self.kinds.extend(merged.map(|it| (signature, it)));
        }
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        for (reason, count) in other.without {
            *self.without.entry(reason).or_default() += count;
        }
        for (what, (count, seed)) in other.violations {
            let entry = self.violations.entry(what).or_insert((0, seed));
            *entry = (entry.0 + count, entry.1.min(seed));
        }
        self
    }
}

fn value<'a>(arguments: &'a [String], flag: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|it| it == flag)?;
    arguments.get(at + 1).map(String::as_str)
}

fn number(arguments: &[String], flag: &str, default: u64) -> Result<u64, String> {
    value(arguments, flag).map_or(Ok(default), |text| {
        text.parse().map_err(|_| USAGE.to_owned())
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match start(&arguments) {
        Ok(code) => code,
        Err(message) => {
            println!("{message}");
            ExitCode::from(2)
        }
    }
}

fn start(arguments: &[String]) -> Result<ExitCode, String> {
    let program = value(arguments, "--harness").ok_or(USAGE)?;
    if let Some(file) = value(arguments, "--story") {
        let mut harness = Harness::start(program)?;
        return show(&mut harness, file, value(arguments, "--keep"));
    }
    let processors = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
    let jobs = number(arguments, "--jobs", processors)?.max(1);
    let operations = number(arguments, "--operations", 10_000)?;
    let seed = number(arguments, "--seed", 0)?;
    let shrinks = number(arguments, "--shrink", 3)? as usize;
    let started = Instant::now();
    let (next, tally) = run_jobs(program, jobs, seed, operations)?;
    let seconds = started.elapsed().as_secs_f64();
    let speed = tally.operations as f64 / seconds;
    println!(
        "seeds {seed} to {}: {} stories, {} operations in {seconds:.0} s, {speed:.0} per second, \
         {:.2} ms of the reference for each; {} without a difference",
        next - 1,
        tally.stories,
        tally.operations,
        tally.taken.as_secs_f64() * 1000.0 / tally.operations as f64,
        tally.same
    );
    print(&tally);
    shrink_most(&mut Harness::start(program)?, &tally, shrinks);
    Ok(if tally.kinds.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs stories in several jobs until that many operations are done. Returns the seed after the last one, and the
/// tally.
fn run_jobs(program: &str, jobs: u64, seed: u64, operations: u64) -> Result<(u64, Tally), String> {
    let (next, done) = (AtomicU64::new(seed), AtomicU64::new(0));
    let job = || -> Result<Tally, String> {
        let mut harness = Harness::start(program)?;
        let mut tally = Tally::default();
        while done.load(Ordering::Relaxed) < operations {
            let before = tally.operations;
            let seed = next.fetch_add(1, Ordering::Relaxed);
            one(&mut harness, seed, &mut tally);
            done.fetch_add(tally.operations - before, Ordering::Relaxed);
        }
        tally.taken = harness.taken;
        Ok(tally)
    };
    let tally = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..jobs).map(|_| scope.spawn(job)).collect();
        let tallies = jobs.into_iter().map(ScopedJoinHandle::join);
        let tallies = tallies.map(|it| it.unwrap_or_else(|_| Err("a job panicked".to_owned())));
        tallies.reduce(|one, other| Ok(one?.and(other?)))
    });
    let tally = tally.unwrap_or_else(|| Ok(Tally::default()))?;
    Ok((next.into_inner(), tally))
}

fn one(harness: &mut Harness, seed: u64, tally: &mut Tally) {
    let mut story = generate::story(seed);
    for reason in admit(&mut story) {
        *tally.without.entry(reason).or_default() += 1;
    }
    tally.stories += 1;
    let result = run(&story, harness, |operation, both| {
        tally.operations += 1;
        let Some(difference) = both.difference() else {
            tally.same += 1;
            return true;
        };
        if let Some(rule) = rule_of(both, &difference) {
            *tally.rules.entry(rule).or_default() += 1;
            return true;
        }
        let signature = difference.signature.clone();
        let kind = tally.kinds.entry(signature).or_insert_with(|| Kind {
            count: 0,
            seed,
            story: story.clone(),
            operation,
            difference,
        });
        kind.count += 1;
        true
    });
    if let Err((_, violation)) = result {
        let entry = tally.violations.entry(violation.to_string());
        entry.or_insert((0, seed)).0 += 1;
    }
}

fn print(tally: &Tally) {
    println!("left out, by stories: {:?}", tally.without);
    println!("under a rule: {:?}", tally.rules);
    for (what, (count, seed)) in &tally.violations {
        println!("our own rules: {count} times, first in seed {seed}: {what}");
    }
    let mut kinds: Vec<_> = tally.kinds.iter().collect();
    kinds.sort_by_key(|(_, kind)| std::cmp::Reverse(kind.count));
    for (signature, kind) in kinds {
        println!(
            "{:>7}  {signature} (first in seed {}, operation {})",
            kind.count, kind.seed, kind.operation
        );
    }
}

fn shrink_most(harness: &mut Harness, tally: &Tally, count: usize) {
    let mut kinds: Vec<_> = tally.kinds.values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    for kind in kinds.into_iter().take(count) {
        if std::io::stdout().flush().is_err() {
            return;
        }
        let signature = kind.difference.signature.clone();
        let mut attempt = |story: &Story| find(harness, story, &signature);
        let (story, difference) = shrink_with(
            kind.story.clone(),
            kind.operation,
            kind.difference.clone(),
            EFFORT,
            &mut attempt,
        );
        println!(
            "\n{}\n  ours:   {}\n  theirs: {}\n\n{story}",
            difference.signature, difference.ours, difference.theirs
        );
    }
}

/// First operation of a story with a difference of this kind that no rule covers.
fn find(harness: &mut Harness, story: &Story, signature: &str) -> Option<(usize, Difference)> {
    let mut found = None;
    let result = run(story, harness, |operation, both: &Both| {
        let difference = both.difference();
        let difference = difference.filter(|it| it.signature == signature);
        let difference = difference.filter(|it| rule_of(both, it).is_none());
        found = difference.map(|it| (operation, it));
        found.is_none()
    });
    result.ok().and(found)
}

fn show(harness: &mut Harness, file: &str, keep: Option<&str>) -> Result<ExitCode, String> {
    let read = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut story: Story = read.parse().map_err(|error| format!("{file}: {error}"))?;
    admit(&mut story);
    let mut answers = Vec::new();
    let mut has_differences = false;
    let result = run(&story, harness, |operation, both| {
        answers.push(both.kept());
        let Some(difference) = both.difference() else {
            println!("operation {operation}: the same");
            return true;
        };
        let rule = rule_of(both, &difference);
        has_differences |= rule.is_none();
        println!(
            "operation {operation}: {} {}\n  ours:   {}\n  theirs: {}",
            difference.signature,
            rule.map(|rule| format!("(rule: {rule})"))
                .unwrap_or_default(),
            difference.ours,
            difference.theirs
        );
        if rule.is_none() {
            println!("  ours:   {}\n  theirs: {}", both.ours, both.theirs);
        }
        true
    });
    if let Err((operation, violation)) = result {
        return Err(format!("operation {operation}: {violation}"));
    }
    if let Some(file) = keep {
        let kept = Kept { story, answers };
        std::fs::write(file, kept.text()).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(if has_differences {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
