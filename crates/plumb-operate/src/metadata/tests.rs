use std::collections::BTreeMap;

use super::*;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter();
    Environment::for_tests(
        variables
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
    )
}

fn run(variables: &[(&str, &str)]) -> Facts {
    let mut facts = BTreeMap::new();
    add_run(&mut facts, ci::detect(&environment(variables)).unwrap());
    facts
}

fn facts<const N: usize>(facts: [(&str, &str); N]) -> Facts {
    facts
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn every_system_gives_itself_away() {
    for (variable, name) in [
        ("APPVEYOR", "AppVeyor"),
        ("CODEBUILD_BUILD_ARN", "AWS CodeBuild"),
        ("bamboo_planKey", "Atlassian Bamboo"),
        ("BITBUCKET_COMMIT", "Atlassian Bitbucket Pipelines"),
        ("TF_BUILD", "Azure Pipelines"),
        ("BUILDKITE", "Buildkite"),
        ("CIRCLECI", "CircleCI"),
        ("CF_BUILD_URL", "Codefresh"),
        ("DRONE", "Drone"),
        ("GITHUB_ACTIONS", "GitHub Actions"),
        ("GITLAB_CI", "GitLab CI/CD"),
        ("GO_PIPELINE_LABEL", "GoCD"),
        ("HUDSON_URL", "Hudson"),
        ("JENKINS_URL", "Jenkins"),
        ("MAGNUM", "Magnum CI"),
        ("SEMAPHORE", "Semaphore"),
        ("SPACELIFT_MAX_REQUESTS_BURST", "Spacelift"),
        ("TEAMCITY_VERSION", "TeamCity"),
        ("TRAVIS", "Travis CI"),
    ] {
        assert_eq!(run(&[(variable, "x")])["ci.system"], name);
    }
    assert_eq!(run(&[("CI_NAME", "codeship")])["ci.system"], "Codeship");
    let both = run(&[("TASK_ID", "1"), ("RUN_ID", "2")]);
    assert_eq!(both["ci.system"], "TaskCluster");
    assert!(!ci::is_present(&environment(&[("TASK_ID", "1")])));
    let off = [("TRAVIS", "x"), ("PULUMI_DISABLE_CI_DETECTION", "true")];
    assert!(!ci::is_present(&environment(&off)));
}

#[test]
fn what_users_say_of_their_own_system_comes_first() {
    let found = run(&[
        ("PULUMI_CI_SYSTEM", "Mine"),
        ("PULUMI_CI_BUILD_ID", "7"),
        ("PULUMI_PR_NUMBER", "12"),
        ("GITLAB_CI", "true"),
    ]);
    let wanted = [
        ("ci.system", "Mine"),
        ("ci.build.id", "7"),
        ("ci.pr.number", "12"),
    ];
    assert_eq!(found, facts(wanted));
}

#[test]
fn pull_requests_of_github_stand_in_the_event() {
    let folder = tempfile::tempdir().unwrap();
    let event = folder.path().join("event.json");
    let text = r#"{"number": 5, "pull_request": {"head": {"sha": "abc", "ref": "topic"}}}"#;
    std::fs::write(&event, text).unwrap();
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_RUN_ID", "99"),
        ("GITHUB_RUN_NUMBER", "3"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REPOSITORY", "us/shop"),
        ("GITHUB_SHA", "merged"),
        ("GITHUB_EVENT_PATH", event.to_str().unwrap()),
    ];
    let wanted = [
        ("ci.system", "GitHub Actions"),
        ("ci.build.id", "99"),
        ("ci.build.number", "3"),
        ("ci.build.type", "pull_request"),
        ("ci.build.url", "https://github.com/us/shop/actions/runs/99"),
        ("ci.pr.headSHA", "abc"),
        ("ci.pr.number", "5"),
    ];
    assert_eq!(run(&variables), facts(wanted));
    let branch = ci::detect(&environment(&variables)).unwrap().branch;
    assert_eq!(branch.as_deref(), Some("topic"));
}

#[test]
fn buildkite_and_travis_say_false_where_there_is_no_pull_request() {
    let found = run(&[("TRAVIS", "true"), ("TRAVIS_PULL_REQUEST", "false")]);
    assert_eq!(found, facts([("ci.system", "Travis CI")]));
    let found = run(&[("BUILDKITE", "true"), ("BUILDKITE_PULL_REQUEST", "8")]);
    assert_eq!(found["ci.pr.number"], "8");
    assert_eq!(found["ci.build.type"], "PullRequest");
}

#[test]
fn azure_names_the_build_by_its_page() {
    let found = run(&[
        ("TF_BUILD", "True"),
        ("BUILD_BUILDID", "4"),
        (
            "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI",
            "https://dev.azure.com/us/",
        ),
        ("SYSTEM_TEAMPROJECT", "shop"),
        ("BUILD_REPOSITORY_PROVIDER", "GitHub"),
        ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "6"),
        ("SYSTEM_PULLREQUEST_SOURCECOMMITID", "abc"),
    ]);
    let page = "https://dev.azure.com/us/shop/_build/results?buildId=4";
    assert_eq!(found["ci.build.url"], page);
    assert_eq!(found["ci.pr.number"], "6");
    assert_eq!(found["ci.pr.headSHA"], "abc");
}

#[test]
fn addresses_of_remotes_tell_owner_repository_and_host() {
    let told = |address: &str| {
        remote::parse(address).map(|remote| {
            let remote::Remote {
                owner,
                repository,
                kind,
            } = remote;
            format!("{kind} {owner} {repository}")
        })
    };
    for (address, wanted) in [
        ("git@github.com:us/shop.git", "github.com us shop"),
        ("https://github.com/us/shop.git", "github.com us shop"),
        ("https://github.com/us/shop", "github.com us shop"),
        (
            "https://me:hush@github.com/us/shop.git",
            "github.com us shop",
        ),
        (
            "ssh://git@git.us.example:2222/us/shop.git",
            "git.us.example us shop",
        ),
        (
            "https://gitlab.com/us/group/shop.git",
            "gitlab.com us group/shop",
        ),
        ("git@bitbucket.org:us/shop.git", "bitbucket.org us shop"),
        (
            "https://dev.azure.com/us/proj/_git/shop",
            "dev.azure.com us proj/_git/shop",
        ),
        (
            "git@ssh.dev.azure.com:v3/us/proj/shop",
            "dev.azure.com us proj/_git/shop",
        ),
        (
            "https://us.visualstudio.com/proj/_git/shop",
            "dev.azure.com us proj/_git/shop",
        ),
    ] {
        assert_eq!(told(address).as_deref(), Some(wanted), "{address}");
    }
    for address in [
        "/srv/git/shop.git",
        "file:///srv/git/shop.git",
        "C:/shop",
        "https://github.com/shop",
    ] {
        assert_eq!(told(address), None, "{address}");
    }
}

#[test]
fn without_a_repository_variables_tell_what_there_is_to_tell() {
    let mut metadata = Metadata::default();
    let environment = environment(&[
        ("PULUMI_GIT_HEAD", "abc"),
        ("PULUMI_GIT_HEAD_NAME", "refs/heads/main"),
        ("PULUMI_VCS_REPO_OWNER", "us"),
        ("PULUMI_GIT_COMMIT_MESSAGE", "Add a shop\n\nIt sells."),
    ]);
    add_variables(&mut metadata, &environment, None);
    assert_eq!(metadata.message, "Add a shop");
    let wanted = [
        ("git.head", "abc"),
        ("git.headName", "refs/heads/main"),
        ("vcs.owner", "us"),
    ];
    assert_eq!(metadata.facts, facts(wanted));
}

#[test]
fn values_of_variables_are_not_recorded() {
    let mut found = Facts::new();
    let environment = environment(&[
        ("PULUMI_CONFIG_PASSPHRASE", "hush"),
        ("PULUMI_SKIP_UPDATE_CHECK", "1"),
        ("PULUMI_EXPERIMENTAL", "no"),
        ("HOME", "/home/us"),
    ]);
    add_ourselves(&mut found, &environment);
    let told = |name: &str| found[&format!("pulumi.env.{name}")].as_str();
    assert_eq!(told("PULUMI_CONFIG_PASSPHRASE"), "set");
    assert_eq!(told("PULUMI_SKIP_UPDATE_CHECK"), "true");
    assert_eq!(told("PULUMI_EXPERIMENTAL"), "false");
    assert!(!found.values().any(|value| value.contains("hush")));
    assert_eq!(found.len(), 6);
}
