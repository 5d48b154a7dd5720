//! Tests beside rules.

use plumb_rules::testing::{cases, run_rules};

use crate::harness::{failures, folder};

const RULE: (&str, &str) = ("a.yaml", "small:\n  check: props.size < 10\n");

#[tokio::test]
async fn a_test_that_fails_says_what_was_expected_and_what_was_found() {
    let tests = "
- {policy: small, resource: {type: 'a:b:C', props: {size: 11}}, expect: pass}
- {policy: small, name: the small one, resource: {type: 'a:b:C', props: {size: 1}}, expect: violation}
- {policy: small, resource: {type: 'a:b:C', props: {size: 11}}, expect: violation, message: too large}
- {policy: little, resource: {type: 'a:b:C'}, expect: pass}
- {policy: small, resource: {type: 'a:b:C', props: {size: 11}}, fixed: {size: 9}}
- {policy: small, resources: [{type: 'a:b:C'}], expect: pass}
";
    assert_eq!(
        failures("cel", &[RULE], tests).await,
        [
            "small: test 1: expected no violation, found a violation: small",
            "small: the small one: expected a violation, found no violation",
            "small: test 3: expected a message with \"too large\", found \"small\"",
            "little: test 4: the pack has no policy `little`",
            "small: test 5: expected {\"size\":9} after the correction, found {\"size\":11}",
            "small: test 6: the policy is for one `resource`",
        ]
    );
}

#[test]
fn a_test_in_a_wrong_form_is_refused() {
    let refused = |text: &str| {
        let folder = folder(&[("it.test.yaml", text)]);
        let error = cases(folder.path()).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), ".")
    };
    let texts = [
        ("a: b\n", "./it.test.yaml: a file of tests is a list"),
        (
            "- {policy: a}\n",
            "./it.test.yaml: test 1: there is either a `resource`",
        ),
        (
            "- {policy: a, resource: {type: t}}\n",
            "`expect` is missing",
        ),
        (
            "- {policy: a, resource: {type: t}, expect: fail}\n",
            "unknown variant `fail`",
        ),
        (
            "- {policy: a, resource: {typ: t}, expect: pass}\n",
            "unknown field `typ`",
        ),
        (
            "- {policy: a, resource: {}, expect: pass}\n",
            "a resource has a `type`",
        ),
    ];
    for (text, expected) in texts {
        let found = refused(text);
        assert!(found.contains(expected), "{text:?} gives {found:?}");
    }
}

#[test]
fn tests_in_rego_are_rules() {
    let rules = "package a\n\ndeny contains \"x\" if input.x\n";
    let tests = "package a\n\ntest_it if deny with input as {\"x\": true}\n\ntest_not if count(deny) == 1 with input as {}\n";
    let folder = folder(&[("a.rego", rules), ("a_test.rego", tests)]);
    let outcomes = run_rules(folder.path(), "rego").unwrap();
    let found: Vec<_> = outcomes
        .iter()
        .map(|it| (it.name.as_str(), it.failure.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("test_it", None),
            ("test_not", Some("the rule is not true"))
        ]
    );
}
