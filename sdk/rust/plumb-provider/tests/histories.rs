//! Histories of resources that nobody wrote down: what the framework promises holds for all of them.
//!
//! - The same inputs again change nothing.
//! - A change replaces exactly where a property that replaces differs.
//! - What a preview knew comes true (the tester looks at each step).
//! - Outputs are those of a resource that is made with the inputs at once; after a step, secrets among the inputs are
//!   secrets among the outputs.

use std::collections::BTreeMap;

use plumb_provider::prelude::*;
use plumb_provider::testing::{Step, Tested, Tester};

#[derive(Clone, Debug, PartialEq, Properties)]
struct Part {
    #[property(replace)]
    kind: Option<String>,
    count: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct MachineArgs {
    #[property(replace)]
    zone: Option<String>,
    #[property(default = 1)]
    size: i64,
    parts: Option<Vec<Part>>,
    labels: Option<BTreeMap<String, String>>,
    #[property(secret)]
    key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct Machine {
    #[property(flatten)]
    args: MachineArgs,
    #[property(follows = ["size", "parts"])]
    weight: i64,
    #[property(follows = [])]
    serial: i64,
    summary: String,
}

struct MachineType;

fn made(args: MachineArgs) -> Machine {
    let parts = args.parts.iter().flatten().filter_map(|it| it.count);
    Machine {
        weight: args.size * 100 + parts.sum::<i64>(),
        serial: 7,
        summary: format!("{:?} {:?}", args.zone, args.labels),
        args,
    }
}

#[plumb_provider::resource(token = "index:Machine")]
impl Resource for MachineType {
    type Args = MachineArgs;
    type State = Machine;

    async fn create(cx: &Cx, args: MachineArgs) -> Result<Created<Machine>> {
        Ok(Created::new(cx.name(), made(args)))
    }

    async fn update(_: &Cx, update: Update<MachineType>) -> Result<Updated<Machine>> {
        Ok(made(update.args).into())
    }
}

/// Choices that follow from a seed.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn word(&mut self) -> Value {
        let word = ["a", "b", "a.b", ""][self.below(4) as usize];
        let word = Value::String(word.to_owned());
        if self.below(4) == 0 {
            return Value::Secret(Box::new(word));
        }
        word
    }

    fn number(&mut self) -> Value {
        Value::Number(self.below(3) as f64)
    }

    fn part(&mut self) -> Value {
        let mut part = BTreeMap::new();
        if self.below(2) == 0 {
            part.insert("kind".to_owned(), self.word());
        }
        if self.below(2) == 0 {
            part.insert("count".to_owned(), self.number());
        }
        Value::Map(part)
    }

    /// Inputs that differ from `old` in a place or two.
    fn inputs(&mut self, old: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        let mut inputs = old.clone();
        for _ in 0..=self.below(2) {
            let (name, value) = match self.below(5) {
                0 => ("zone", self.word()),
                1 => ("size", self.number()),
                2 => {
                    let parts = (0..self.below(3)).map(|_| self.part());
                    ("parts", Value::List(parts.collect()))
                }
                3 => {
                    let names = ["x", "x.y", "z"];
                    let labels =
                        (0..self.below(3)).map(|it| (names[it as usize].to_owned(), self.word()));
                    ("labels", Value::Map(labels.collect()))
                }
                _ => ("key", self.word()),
            };
            if self.below(5) == 0 {
                inputs.remove(name);
            } else {
                inputs.insert(name.to_owned(), value);
            }
        }
        inputs
    }
}

fn plain(value: &Value) -> Value {
    match value {
        Value::Secret(inner) => plain(inner),
        Value::List(items) => Value::List(items.iter().map(plain).collect()),
        Value::Map(members) => Value::Map(
            members
                .iter()
                .map(|(name, it)| (name.clone(), plain(it)))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// What replaces: the zone, and the kinds of parts by their places.
fn replacing(inputs: &BTreeMap<String, Value>) -> (Value, Vec<Value>) {
    let zone = inputs.get("zone").map(plain).unwrap_or_default();
    let parts = inputs
        .get("parts")
        .and_then(Value::as_list)
        .unwrap_or_default();
    let mut kinds: Vec<_> = parts
        .iter()
        .map(|it| it.get("kind").map(plain).unwrap_or_default())
        .collect();
    while kinds.last() == Some(&Value::Null) {
        kinds.pop();
    }
    (zone, kinds)
}

fn contains_secret(value: &Value) -> bool {
    match value {
        Value::Secret(_) => true,
        Value::List(items) => items.iter().any(contains_secret),
        Value::Map(members) => members.values().any(contains_secret),
        _ => false,
    }
}

fn check(
    (machine, step): (&Tested<'_>, Step),
    fresh: &Tested<'_>,
    inputs: &BTreeMap<String, Value>,
    seed: u64,
) {
    for output in [
        "zone", "size", "parts", "labels", "key", "weight", "serial", "summary",
    ] {
        let (is, expected) = (machine.output(output), fresh.output(output));
        assert_eq!(plain(is), plain(expected), "seed {seed}: {output}");
        let is_secret = inputs.get(output).is_some_and(contains_secret)
            || output == "key" && *is != Value::Null;
        assert!(
            !is_secret || step == Step::Same || contains_secret(is),
            "seed {seed}: {output} is no secret any more"
        );
    }
}

#[test]
fn promises_hold_for_histories_that_nobody_wrote_down() {
    let provider = || Provider::new("factory", "0.1.0").resource::<MachineType>();
    let tester = Tester::new(provider()).expect("the schema is valid");
    let mut steps = BTreeMap::new();
    for seed in 1..=300_u64 {
        let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut machine = tester.resource("index:Machine", "machine");
        let mut inputs = BTreeMap::new();
        machine
            .apply(Value::Map(BTreeMap::new()))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for _ in 0..8 {
            let next = choices.inputs(&inputs);
            let apply = |machine: &mut Tested<'_>, inputs: &BTreeMap<String, Value>| {
                let step = machine.apply(Value::Map(inputs.clone()));
                step.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
            };
            let step = apply(&mut machine, &next);
            *steps.entry(format!("{step:?}")).or_insert(0) += 1;
            if replacing(&inputs) == replacing(&next) {
                assert!(
                    step != Step::Replaced,
                    "seed {seed}: {inputs:?} to {next:?} replaces"
                );
            } else if replacing(&inputs).0 != replacing(&next).0 {
                assert_eq!(step, Step::Replaced, "seed {seed}: {inputs:?} to {next:?}");
            }
            assert_eq!(
                apply(&mut machine, &next),
                Step::Same,
                "seed {seed}: {next:?} again"
            );
            let mut fresh = tester.resource("index:Machine", "machine");
            apply(&mut fresh, &next);
            check((&machine, step), &fresh, &next, seed);
            inputs = next;
        }
    }
    assert!(
        steps.values().all(|count| *count > 50) && steps.len() == 3,
        "{steps:?}"
    );
}
