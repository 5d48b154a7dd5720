//! Rules in Rego.

use plumb_plugin::Analyzer;
use plumb_resource::policy::{EnforcementLevel, PolicySeverity, Remedy};
use plumb_value::{PropertyMap, Value};

use crate::harness::{failures, folder, loaded, refused, resource};

/// Rules in the syntax from before version 1 of the language.
const OLD: &str = r#"
package aws

# METADATA
# title: No Public Buckets
# custom:
#   severity: critical
deny_public[msg] {
    input.type == "aws:s3/bucket:Bucket"
    startswith(input.acl, "public")
    msg := sprintf("bucket '%s' must not be public", [input.__name])
}

deny_public[msg] {
    input.type == "aws:s3/bucket:Bucket"
    input.policy == "*"
    msg := "the policy is open"
}

fix_public = {"acl": "private", "tags.owner": "us"} {
    startswith(input.acl, "public")
}

labels { input.metadata.labels.app }

warn[msg] {
    input.kind == "Deployment"
    not labels
    msg = "a deployment has labels"
}

stack_deny_many[msg] {
    buckets := [r | r := input.resources[_]; r.type == "aws:s3/bucket:Bucket"]
    count(buckets) > data.config.stack_deny_many.most
    msg := sprintf("%d buckets", [count(buckets)])
}
"#;

/// Rules in the present syntax, with a helper in another package.
const PRESENT: &str = r#"
package aws

import data.lib

violation_type contains {"msg": msg} if {
    input.__type == "a:b:C"
    lib.is_bad(input.properties)
    msg := sprintf("%s is bad", [input.properties.type])
}

warn_flag := true if input.flag
"#;

const LIB: &str = "package lib\n\nis_bad(props) if props.type == \"bad\"\n";

const SCHEMA: &str =
    r#"{"stack_deny_many": {"properties": {"most": {"type": "integer", "default": 1}}}}"#;

const FILES: [(&str, &str); 4] = [
    ("old.rego", OLD),
    ("more/present.rego", PRESENT),
    ("lib.rego", LIB),
    ("config-schema.json", SCHEMA),
];

#[tokio::test]
async fn rules_of_both_syntaxes_judge_resources_and_stacks() {
    let tests = r#"
- policy: deny_public
  resource: {type: "aws:s3/bucket:Bucket", name: logs, props: {acl: public-read}}
  expect: violation
  message: bucket 'logs' must not be public
  fixed: {acl: private, tags: {owner: us}}
- policy: deny_public
  resource: {type: "aws:s3/bucket:Bucket", props: {policy: "*"}}
  expect: violation
  message: the policy is open
  fixed: {policy: "*"}
- policy: deny_public
  resource: {type: "aws:s3/object:Object", props: {acl: public-read}}
  expect: not-applicable
- policy: warn
  resource: {type: "kubernetes:apps/v1:Deployment", props: {kind: Deployment}}
  expect: violation
- policy: warn
  resource: {type: "kubernetes:apps/v1:Deployment", props: {kind: Deployment, metadata: {labels: {app: x}}}}
  expect: pass
- policy: stack_deny_many
  resources: [{type: "aws:s3/bucket:Bucket", name: a}, {type: "aws:s3/bucket:Bucket", name: b}]
  expect: violation
  message: 2 buckets
- policy: stack_deny_many
  config: {most: 2}
  resources: [{type: "aws:s3/bucket:Bucket", name: a}, {type: "aws:s3/bucket:Bucket", name: b}]
  expect: pass
- policy: violation_type
  resource: {type: "a:b:C", props: {type: bad}}
  expect: violation
  message: bad is bad
- policy: warn_flag
  resource: {type: "a:b:C", props: {flag: true}}
  expect: violation
  message: warn_flag
"#;
    assert_eq!(failures("rego", &FILES, tests).await, [""; 0]);
    let tests = "
- {policy: deny_public, resource: {type: 'aws:s3/bucket:Bucket', props: {acl: public}}, fixed: {acl: public}}
";
    // The public analyzer corrects nothing: there, the rule is a helper.
    assert_eq!(failures("opa", &FILES, tests).await, [""; 0]);
}

#[tokio::test]
async fn names_say_scope_and_level_and_annotations_the_rest() {
    let manifest = ("PulumiPolicy.yaml", "runtime: rego\n");
    let files: Vec<_> = FILES.into_iter().chain([manifest]).collect();
    let folder = folder(&files);
    let info = loaded(folder.path()).unwrap().info().await.unwrap();
    let policies: Vec<_> = info
        .policies
        .iter()
        .map(|it| (it.info.name.as_str(), it.info.level, it.info.severity))
        .collect();
    assert_eq!(
        policies,
        [
            (
                "deny_public",
                EnforcementLevel::Remediate,
                Some(PolicySeverity::Critical)
            ),
            ("stack_deny_many", EnforcementLevel::Mandatory, None),
            ("violation_type", EnforcementLevel::Mandatory, None),
            ("warn", EnforcementLevel::Advisory, None),
            ("warn_flag", EnforcementLevel::Advisory, None),
        ]
    );
}

#[tokio::test]
async fn rules_of_gatekeeper_see_requests_of_kubernetes() {
    let rules = r#"
package gatekeeper

import rego.v1

violation contains {"msg": msg} if {
    input.review.object.spec.replicas > input.parameters.most
    msg := sprintf("%s %s of %s", [input.review.kind.kind, input.review.name, input.review.object.apiVersion])
}
"#;
    let manifest = "runtime: opa\ninputFormat: kubernetes-admission\n";
    let tests = r#"
- policy: violation
  config: {most: 3}
  resource: {type: "kubernetes:apps/v1:Deployment", name: web, props: {spec: {replicas: 5}}}
  expect: violation
  message: Deployment web of apps/v1
- policy: violation
  config: {most: 5}
  resource: {type: "kubernetes:apps/v1:Deployment", name: web, props: {spec: {replicas: 5}}}
  expect: pass
- policy: violation
  config: {most: 0}
  resource: {type: "aws:s3/bucket:Bucket", props: {spec: {replicas: 5}}}
  expect: not-applicable
"#;
    let folder = folder(&[
        ("PulumiPolicy.yaml", manifest),
        ("rules.rego", rules),
        ("it.test.yaml", tests),
    ]);
    let pack = loaded(folder.path()).unwrap();
    let info = pack.info().await.unwrap();
    for case in plumb_rules::testing::cases(folder.path()).unwrap() {
        let outcome = case.run(&pack, &info).await;
        assert_eq!(outcome.failure, None, "{}", outcome.name);
    }
}

#[test]
fn mistakes_are_shown_with_their_lines() {
    let broken = refused(
        "rego",
        &[(
            "a.rego",
            "package a\n\ndeny contains msg if {\n    msg := \n}\n",
        )],
    );
    assert!(broken.contains("a.rego:"), "{broken}");
    let none = refused("rego", &[("a.rego", "package a\n\nallow := true\n")]);
    assert!(
        none.starts_with(". has no policies: a policy is a rule called"),
        "{none}"
    );
    let lonely = "package a\n\ndeny_this := true\n\nfix_that := {}\n";
    let lonely = refused("rego", &[("a.rego", lonely)]);
    assert_eq!(
        lonely,
        "./a.rego: `fix_that` corrects nothing, because there is no `deny_that` in its package"
    );
    let one = "package a\n\ndeny := true\n";
    let twice = refused(
        "rego",
        &[("a.rego", one), ("b.rego", "package b\n\ndeny := true\n")],
    );
    assert_eq!(
        twice,
        "the policy \"deny\" is declared in ./a.rego and in ./b.rego"
    );
}

#[tokio::test]
async fn a_rule_without_an_end_is_stopped() {
    let rules = "package a\n\ndeny contains x if {\n    some x in numbers.range(1, 9000)\n    some y in numbers.range(1, 9000)\n    x + y < 0\n}\n";
    let tests = "- {policy: deny, resource: {type: 'a:b:C'}, expect: pass}\n";
    let failures = failures("rego", &[("a.rego", rules)], tests).await;
    assert!(
        failures[0].contains("policy `deny` cannot be evaluated"),
        "{failures:?}"
    );
}

#[tokio::test]
async fn functions_of_older_versions_and_for_networks_are_there() {
    let rules = r#"
package a

deny[msg] { re_match("^a+$", input.text); msg := "matches" }
warn[msg] { any([input.flag, false]); not all([input.flag, false]); msg := "any" }
warn_net[msg] { net.cidr_intersects(input.block, "10.0.0.0/8"); msg := concat(",", sort(cast_array(set_diff({"a", "b"}, {"b"})))) }
"#;
    let tests = r#"
- {policy: deny, resource: {type: "a:b:C", props: {text: aaa}}, expect: violation, message: matches}
- {policy: deny, resource: {type: "a:b:C", props: {text: ab}}, expect: pass}
- {policy: warn, resource: {type: "a:b:C", props: {flag: true}}, expect: violation, message: any}
- {policy: warn_net, resource: {type: "a:b:C", props: {block: 10.1.0.0/16}}, expect: violation, message: a}
- {policy: warn_net, resource: {type: "a:b:C", props: {block: 11.1.0.0/16}}, expect: pass}
"#;
    assert_eq!(failures("opa", &[("a.rego", rules)], tests).await, [""; 0]);
    let unknown = "package a\n\ndeny contains msg if {\n    msg := crypto.nothing(input)\n}\n";
    let tests = "- {policy: deny, resource: {type: 'a:b:C'}, expect: pass}\n";
    let found = failures("rego", &[("a.rego", unknown)], tests).await;
    assert!(
        found[0].contains("could not find function crypto.nothing"),
        "{found:?}"
    );
}

/// A correction inside of a secret leaves it a secret.
#[tokio::test]
async fn what_was_secret_stays_secret_when_it_is_corrected() {
    let rules = "package a\n\ndeny := true if not input.tags.team\n\nfix := {\"tags.team\": \"us\"} if not input.tags.team\n";
    let folder = folder(&[("PulumiPolicy.yaml", "runtime: rego\n"), ("a.rego", rules)]);
    let pack = loaded(folder.path()).unwrap();
    let tags = Value::Object(PropertyMap::new().with("owner", "me").into());
    let properties = PropertyMap::new()
        .with("tags", Value::secret(tags))
        .with("name", "it");
    let remedies = pack.remediate(&resource(properties)).await.unwrap();
    let Remedy::Inputs(inputs) = &remedies.remediations[0].outcome else {
        panic!("{remedies:?}");
    };
    let tags = PropertyMap::new().with("owner", "me").with("team", "us");
    let expected = PropertyMap::new()
        .with("tags", Value::secret(Value::Object(tags.into())))
        .with("name", "it");
    assert_eq!(**inputs, expected);
}
