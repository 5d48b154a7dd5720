//! Updates of small stacks in one process, as an embedding program makes them: their time, and whether memory grows.
//!
//! `plumb-bench-library [--updates N] [--stacks N] [--check] [--margin N]`: N updates in turn, then one update of each of N stacks at the same
//! time, with a program in YAML and with a function in Rust. With `--check` the exit code is 1 when a goal is missed; a margin is for machines that
//! do other things too.

#![allow(clippy::print_stdout, reason = "the figures are the result")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use plumb::prelude::*;
use plumb_automation::{Config, Error, Program, Stack, Workspace};

/// Most that one update of a small stack may take on average.
const GOAL: Duration = Duration::from_millis(3);
/// Most that memory may grow from the second half of the updates, in kilobytes.
const GROWTH: u64 = 8 * 1024;

const YAML: &str = "
configuration: { round: { type: integer } }
resources:
  stash: { type: 'pulumi:index:Stash', properties: { input: '${round}' } }
  pet: { type: 'random:RandomPet' }
outputs: { name: '${pet.id}', round: '${stash.input}' }
";

fn yaml() -> Program {
    Program::yaml(YAML)
}

fn inline() -> Program {
    Program::inline(|ctx: Ctx| async move {
        let round: i64 = ctx.config::<Round>()?.round;
        let stash = AnyResource::new(
            &ctx,
            "pulumi:index:Stash",
            "stash",
            value!({ "input": round }),
        );
        let pet = AnyResource::new(&ctx, "random:index/randomPet:RandomPet", "pet", value!({}));
        ctx.export("name", pet.id());
        ctx.export("round", stash.output::<i64>("input"));
        Ok(())
    })
}

#[derive(plumb::Config)]
struct Round {
    round: i64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|it| it == name);
        let text = at.and_then(|at| arguments.get(at + 1));
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (updates, stacks) = (number("--updates", 1000), number("--stacks", 100));
    let goal = GOAL * u32::try_from(number("--margin", 1)).unwrap_or(1);
    let mut misses = 0;
    for (language, program) in [("YAML", yaml()), ("Rust", inline())] {
        match measured(language, &program, updates, stacks, goal).await {
            Ok(met) => misses += usize::from(!met),
            Err(error) => {
                println!("{language}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let checks = arguments.iter().any(|it| it == "--check");
    ExitCode::from(u8::from(checks && misses > 0))
}

/// Prints the figures of one language; the answer is whether the goals are met.
async fn measured(
    language: &str,
    program: &Program,
    updates: usize,
    stacks: usize,
    goal: Duration,
) -> Result<bool, Error> {
    let workspace = Workspace::in_memory()?;
    let stack = workspace.create_stack("bench", "one").await?;
    let first = rounds(&stack, program, 0..updates / 2).await?;
    let before = resident();
    let second = rounds(&stack, program, updates / 2..updates).await?;
    let grown = resident().saturating_sub(before);
    let each = (first + second) / u32::try_from(updates.max(1)).unwrap_or(u32::MAX);
    let together = side_by_side(&workspace, program, stacks).await?;
    println!(
        "{language}: {updates} updates, {:.2} ms each (goal {} ms); memory grows by {grown} KB in the second half (goal {GROWTH} KB); \
         {stacks} stacks side by side take {:.0} ms, {:.2} ms each; {} MB in all",
        millis(each),
        goal.as_millis(),
        millis(together),
        millis(together) / stacks.max(1) as f64,
        resident() / 1024,
    );
    Ok(each <= goal && grown <= GROWTH)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Updates of one stack in turn, each of which changes a resource.
async fn rounds(
    stack: &Stack,
    program: &Program,
    rounds: std::ops::Range<usize>,
) -> Result<Duration, Error> {
    let began = Instant::now();
    for round in rounds {
        let config = Config::new().set("round", round.to_string());
        let report = stack.up(program.clone()).config(config).run().await?;
        assert_eq!(report.output("round"), Some(round.to_string()));
    }
    Ok(began.elapsed())
}

async fn side_by_side(
    workspace: &Workspace,
    program: &Program,
    stacks: usize,
) -> Result<Duration, Error> {
    let began = Instant::now();
    let mut running = Vec::new();
    for number in 0..stacks {
        let stack = workspace
            .create_stack("bench", &format!("stack{number}"))
            .await?;
        let config = Config::new().set("round", "1");
        running.push(tokio::spawn(stack.up(program.clone()).config(config).run()));
    }
    for one in running {
        one.await
            .map_err(|error| Error::Program(error.to_string()))??;
    }
    Ok(began.elapsed())
}

/// Resident memory of this process in kilobytes; zero where it is not known.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
