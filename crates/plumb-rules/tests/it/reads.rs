//! A rule whose verdict depends on a value has none while the value is unknown: shown with generated rules.

use std::sync::LazyLock;

use plumb_plugin::Analyzer;
use plumb_value::{PropertyMap, PropertyPath, Value};
use proptest::prelude::*;
use tokio::runtime::Runtime;

use crate::harness::{folder, loaded, resource};

/// Paths of the numbers in the resource that the rules judge.
const LEAVES: [&str; 8] = [
    "a", "b", "m.x", "m.y", "l[0].p", "l[0].q", "l[1].p", "l[1].q",
];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.build().unwrap()
});

/// Answer of a pack about a resource with these values of [`LEAVES`]; `None` is an unknown value.
fn said(pack: &dyn Analyzer, values: &[Option<u8>; 8]) -> Said {
    let mut properties = PropertyMap::new();
    for (path, value) in LEAVES.iter().zip(values) {
        let value = value.map_or(Value::UNKNOWN, |value| Value::Number(value.into()));
        let path = PropertyPath::parse(path).unwrap();
        path.set(&mut properties, value).unwrap();
    }
    let analysis = RUNTIME.block_on(pack.analyze(&resource(properties)));
    let analysis = analysis.unwrap();
    match analysis.diagnostics.first() {
        None => Said::Passed,
        Some(it) if it.message.contains("cannot be looked at") => Said::Nothing,
        Some(_) => Said::Violation,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Passed,
    Violation,
    /// There is no verdict.
    Nothing,
}

/// Changes each value in turn: where the verdict changes, there must be none while the value is unknown.
fn check(runtime: &str, file: &str, rules: &str, values: [u8; 8]) -> Result<(), TestCaseError> {
    let manifest = format!("runtime: {runtime}\n");
    let folder = folder(&[("PulumiPolicy.yaml", &manifest), (file, rules)]);
    let pack = loaded(folder.path()).unwrap();
    let known = values.map(Some);
    let first = said(&pack, &known);
    for leaf in 0..LEAVES.len() {
        let with = |value: Option<u8>| {
            let mut values = known;
            values[leaf] = value;
            said(&pack, &values)
        };
        let depends = (0..3).any(|value| with(Some(value)) != first);
        if depends {
            let path = LEAVES[leaf];
            prop_assert_eq!(
                with(None),
                Said::Nothing,
                "{} decides about\n{}",
                path,
                rules
            );
        }
    }
    Ok(())
}

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(texts).prop_map(ToOwned::to_owned)
}

fn cel_expression() -> impl Strategy<Value = String> {
    let place = || {
        one_of(&[
            "props.a",
            "props['b']",
            "props.m.x",
            "props.m['y']",
            "props.l[0].p",
            "props.l[1]['q']",
            "resource.props.a",
            "resource.props.m.y",
            "props.l[props.a > 1 ? 0 : 1].p",
        ])
    };
    let number = || 0..3u8;
    let leaf = prop_oneof![
        (place(), number()).prop_map(|(place, number)| format!("{place} == {number}")),
        (place(), place()).prop_map(|(one, two)| format!("{one} < {two}")),
        number().prop_map(|it| format!("props.l.exists(e, e.p == {it})")),
        number().prop_map(|it| format!("props.l.all(e, e.q > e.p || e.p == {it})")),
        number().prop_map(|it| format!("props.l.filter(e, e.p == {it}).size() == 1")),
        number().prop_map(|it| format!("size(props.l.filter(e, e.q == {it})) > 0")),
        number().prop_map(|it| format!("props.l.filter(e, e.p == {it}).exists(e, e.q == 1)")),
        number().prop_map(|it| format!("props.l.map(e, e.q).exists(v, v == {it})")),
        number().prop_map(|it| format!("{it} in props.l.map(e, e.p)")),
        number().prop_map(|it| format!("props.m.exists(key, props.m[key] == {it})")),
        number().prop_map(|it| format!("[props.m].exists(m, m.x == {it})")),
        number().prop_map(|it| format!("{{'k': props.l[0]}}.k.q == {it}")),
        Just("props.m == {'x': 1, 'y': 2}".to_owned()),
        Just("has(props.m.x) && props.m.x == props.b".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) && ({two})")),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) || ({two})")),
            inner.clone().prop_map(|it| format!("!({it})")),
            (inner.clone(), inner).prop_map(|(one, two)| format!("({one}) ? ({two}) : true")),
        ]
    })
}

fn rego_statement() -> impl Strategy<Value = String> {
    let place = || {
        one_of(&[
            "input.a",
            "input[\"b\"]",
            "input.m.x",
            "input.props.m.y",
            "input.l[0].p",
            "input.l[1][\"q\"]",
            "input.__properties.a",
        ])
    };
    let number = || 0..3u8;
    prop_oneof![
        (place(), number()).prop_map(|(place, number)| format!("{place} == {number}")),
        (place(), number()).prop_map(|(place, number)| format!("not {place} == {number}")),
        (place(), place()).prop_map(|(one, two)| format!("{one} < {two}")),
        number().prop_map(|it| format!("some e in input.l; e.p == {it}")),
        number().prop_map(|it| format!("every e in input.l {{ e.q != {it} }}")),
        number().prop_map(|it| format!("some key, v in input.m; key != \"y\"; v == {it}")),
        number().prop_map(|it| format!("e := input.l[_]; e.q == {it}; e.p > 0")),
        number().prop_map(|it| format!("m := input.m; m.x == {it}")),
        number()
            .prop_map(|it| format!("all := [e | some e in input.l; e.p == {it}]; count(all) == 1")),
        number()
            .prop_map(|it| format!("all := [e | some e in input.l; e.p == {it}]; all[_].q == 1")),
        number().prop_map(|it| format!("count([1 | some e in input.l; e.q == {it}]) > 0")),
        number().prop_map(|it| format!("{it} in {{e.p | some e in input.l}}")),
        number().prop_map(|it| format!("key := [\"x\", \"y\"][_]; input.m[key] == {it}")),
        Just("helper".to_owned()),
        Just("not helper".to_owned()),
        Just("same(input.m)".to_owned()),
        Just("same({\"x\": input.a, \"y\": input.b})".to_owned()),
        Just("largest > 1".to_owned()),
    ]
}

const HELPERS: &str = "
helper if input.l[0].q == input.m.y
same(pair) if pair.x == pair.y
largest := max([e.p | some e in input.l])
";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn rules_in_cel_say_nothing_about_what_they_cannot_know(
        check_of in cel_expression(),
        values in prop::array::uniform8(0..3u8),
    ) {
        let rules = format!("it:\n  check: >\n    {check_of}\n");
        check("cel", "rules.yaml", &rules, values)?;
    }

    #[test]
    fn rules_in_rego_say_nothing_about_what_they_cannot_know(
        bodies in prop::collection::vec(prop::collection::vec(rego_statement(), 1..3), 1..3),
        values in prop::array::uniform8(0..3u8),
    ) {
        let mut rules = format!("package it\n{HELPERS}\n");
        for (index, body) in bodies.iter().enumerate() {
            // Statements of one body may declare the same variable: each gets a rule of its own.
            let names: Vec<_> = (0..body.len()).map(|at| format!("part_{index}_{at}")).collect();
            let parts = names.iter().zip(body);
            rules.extend(parts.map(|(name, statement)| format!("{name} if {{ {statement} }}\n")));
            let all = names.join("; ");
            rules.extend([format!("deny contains \"{index}\" if {{ {all} }}\n")]);
        }
        check("rego", "rules.rego", &rules, values)?;
    }
}
