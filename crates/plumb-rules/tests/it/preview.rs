//! Values that are not known in a preview.

use crate::harness::failures;

const CEL: &str = r#"
private:
  type: a:b:C
  check: "!has(props.acl) || props.acl != 'public'"
named:
  type: a:b:C
  check: resource.name.startsWith("t")
owned:
  type: a:b:C
  check: props["tags"].all(key, key != "bad")
rules:
  type: a:b:C
  check: props.rules.all(rule, rule.port != 22)
few:
  scope: stack
  check: resources.filter(r, r.type == "a:b:C").size() < 2
all-private:
  scope: stack
  check: resources.filter(r, r.type == "a:b:C").all(r, r.props.acl != "public")
"#;

const REGO: &str = r#"
package p

import rego.v1

deny_private contains "public" if {
    input.type == "a:b:C"
    input.acl == "public"
}

deny_named contains "name" if {
    input.type == "a:b:C"
    not startswith(input.__name, "t")
}

deny_owned contains "tag" if {
    input.type == "a:b:C"
    some key, _ in input.props.tags
    key == "bad"
}

deny_rules contains "port" if {
    input.type == "a:b:C"
    some rule in input.rules
    is_open(rule)
}

is_open(rule) if rule.port == 22

deny_indirect contains "helper" if {
    input.type == "a:b:C"
    has_acl
}

has_acl if input.acl

stack_deny_few contains "many" if {
    all := [r | some r in input.resources; r.type == "a:b:C"]
    count(all) > 1
}

stack_deny_all contains "public" if {
    some r in input.resources
    r.acl == "public"
}
"#;

fn tests(names: [&str; 6]) -> String {
    let [private, named, owned, rules, few, all] = names;
    let resource = |unknown: &str| {
        format!(
            "{{type: 'a:b:C', props: {{acl: private, tags: {{x: y}}, rules: [{{port: 80}}]}}, unknown: [{unknown}]}}"
        )
    };
    let one = |policy: &str, unknown: &str, expect: &str| {
        let resource = resource(unknown);
        format!(
            "- {{policy: {policy}, name: \"unknown {unknown}\", resource: {resource}, expect: {expect}}}\n"
        )
    };
    let stack = |policy: &str, unknown: &str, expect: &str| {
        let resource = resource(unknown);
        format!("- {{policy: {policy}, resources: [{resource}], expect: {expect}}}\n")
    };
    [
        one(private, "acl", "unknown"),
        one(private, "tags", "pass"),
        one(named, "acl, tags, rules", "pass"),
        one(owned, "tags", "unknown"),
        one(owned, "tags.x", "unknown"),
        one(owned, "acl", "pass"),
        one(rules, "'rules[0]'", "unknown"),
        one(rules, "'rules[0].port'", "unknown"),
        one(rules, "tags.x", "pass"),
        stack(few, "acl, tags, rules", "pass"),
        stack(all, "acl", "unknown"),
        stack(all, "tags", "pass"),
    ]
    .concat()
}

#[tokio::test]
async fn rules_in_cel_have_no_verdict_about_what_they_read_and_nobody_knows() {
    let tests = tests(["private", "named", "owned", "rules", "few", "all-private"]);
    assert_eq!(failures("cel", &[("it.yaml", CEL)], &tests).await, [""; 0]);
    // The port of a rule is all that is read of it.
    let tests = "- {policy: rules, resource: {type: 'a:b:C', props: {rules: [{port: 80}]}, unknown: ['rules[0].name']}, expect: pass}\n";
    assert_eq!(failures("cel", &[("it.yaml", CEL)], tests).await, [""; 0]);
}

#[tokio::test]
async fn rules_in_rego_have_no_verdict_about_what_they_read_and_nobody_knows() {
    let mut tests = tests([
        "deny_private",
        "deny_named",
        "deny_owned",
        "deny_rules",
        "stack_deny_few",
        "stack_deny_all",
    ]);
    tests.push_str(
        "- {policy: deny_indirect, resource: {type: 'a:b:C', unknown: [acl]}, expect: unknown}\n",
    );
    assert_eq!(
        failures("rego", &[("it.rego", REGO)], &tests).await,
        [""; 0]
    );
}
