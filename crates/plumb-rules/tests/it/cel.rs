//! Rules in CEL.

use crate::harness::{failures, refused};

const RULES: &str = r#"
no-public-buckets:
  description: Buckets must not be public.
  level: mandatory
  severity: high
  type: aws:s3/bucket:Bucket
  check: "!has(props.acl) || !props.acl.startsWith('public')"
  messageExpression: "resource.name + ' is ' + props.acl"
  fix:
    acl: "'private'"
few-buckets:
  scope: stack
  check: resources.filter(r, r.type == "aws:s3/bucket:Bucket").size() <= config.most
  message: Split the stack.
  config:
    properties:
      most: {type: integer, default: 1}
orphans:
  scope: stack
  violations: >
    resources.filter(r, r.dependencies.size() == 0).map(r, {'message': r.name + ' stands alone', 'urn': r.urn})
protected:
  when: deployment.project == "shop" && resource.name.startsWith("db")
  check: resource.options.protect
any-database:
  type: ["aws:rds/*", "gcp:sql*"]
  check: "false"
"#;

#[tokio::test]
async fn rules_judge_resources_and_stacks() {
    let tests = r#"
- policy: no-public-buckets
  name: a public bucket
  resource: {type: "aws:s3/bucket:Bucket", name: logs, props: {acl: public-read, tags: {a: b}}}
  expect: violation
  message: logs is public-read
  fixed: {acl: private, tags: {a: b}}
- policy: no-public-buckets
  resource: {type: "aws:s3/bucket:Bucket"}
  expect: pass
  fixed: {}
- policy: no-public-buckets
  resource: {type: "aws:s3/bucketPolicy:BucketPolicy", props: {acl: public-read}}
  expect: not-applicable
- policy: few-buckets
  resources:
    - {type: "aws:s3/bucket:Bucket", name: one}
    - {type: "aws:s3/bucket:Bucket", name: two}
  expect: violation
  message: Split the stack.
- policy: few-buckets
  config: {most: 2}
  resources:
    - {type: "aws:s3/bucket:Bucket", name: one}
    - {type: "aws:s3/bucket:Bucket", name: two}
  expect: pass
- policy: orphans
  resources:
    - {type: "a:b:C", name: one}
    - {type: "a:b:C", name: two, dependencies: [one]}
  expect: violation
  message: one stands alone
- policy: protected
  resource: {type: "a:b:C", name: db}
  expect: violation
  message: protected
- policy: protected
  resource: {type: "a:b:C", name: db, options: {protect: true}}
  expect: pass
- policy: protected
  resource: {type: "a:b:C", name: web}
  expect: not-applicable
- policy: any-database
  resource: {type: "gcp:sql/databaseInstance:DatabaseInstance"}
  expect: violation
- policy: any-database
  resource: {type: "gcp:storage/bucket:Bucket"}
  expect: not-applicable
"#;
    assert_eq!(
        failures("cel", &[("rules.yaml", RULES)], tests).await,
        [""; 0]
    );
}

#[tokio::test]
async fn a_rule_that_cannot_be_evaluated_fails_the_call_and_says_why() {
    let rules = "owned:\n  check: props.tags.owner == 'me'\nsized:\n  check: props.size > 1\n";
    let tests = "
- {policy: owned, resource: {type: 'a:b:C', props: {tags: {}}}, expect: pass}
- {policy: sized, resource: {type: 'a:b:C', props: {size: hidden text}}, expect: pass}
";
    let failures = failures("cel", &[("rules.yaml", rules)], tests).await;
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[0].contains("policy `owned`"), "{}", failures[0]);
    assert!(
        failures[0].contains("there is no \"owner\"; test it with"),
        "{}",
        failures[0]
    );
    assert!(
        failures[1].contains("policy `sized` cannot be"),
        "{}",
        failures[1]
    );
    assert!(!failures[1].contains("hidden text"), "{}", failures[1]);
}

#[test]
fn mistakes_in_files_are_named_with_their_places() {
    let refused = |text: &str| refused("cel", &[("rules/it.yaml", text)]);
    let texts = [
        (
            "a:\n  chekc: 'true'\n",
            "./rules/it.yaml: policy \"a\": there is no field \"chekc\"",
        ),
        (
            "a:\n  check: 'props.'\n",
            "policy \"a\": `check` is no expression: 1:",
        ),
        (
            "a: {}\n",
            "policy \"a\": `check` or `violations` is missing",
        ),
        (
            "a: {check: 'true', level: fatal}\n",
            "the level \"fatal\" is not known",
        ),
        (
            "a: {check: 'true', scope: all}\n",
            "the scope \"all\" is not known",
        ),
        (
            "a: {check: 'true', scope: stack, type: 'a:b:C'}\n",
            "has no `type`",
        ),
        (
            "a: {check: 'true', fix: {'a[': '1'}}\n",
            "is no property path",
        ),
        ("[1]\n", "a file of rules is a mapping"),
        ("", ". has no policies: a policy is an entry of a YAML file"),
    ];
    for (text, expected) in texts {
        let found = refused(text);
        assert!(found.contains(expected), "{text:?} gives {found:?}");
    }
}

#[test]
fn a_name_stands_for_one_policy() {
    let text = "a: {check: 'true'}\n";
    let found = refused("cel", &[("one.yaml", text), ("two.yaml", text)]);
    assert_eq!(
        found,
        "the policy \"a\" is declared in ./one.yaml and in ./two.yaml"
    );
}
