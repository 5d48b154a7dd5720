//! Continuous integration systems: detection, and metadata of the run (`cli.md` 17.6, 20).

use crate::Environment;

/// Metadata of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CiRun {
    /// Name of the system.
    pub system: String,
    /// Identity of the run.
    pub build_id: Option<String>,
    /// Number of the run, as people see it.
    pub build_number: Option<String>,
    /// Event that started the run.
    pub build_type: Option<String>,
    /// Address of the run.
    pub build_url: Option<String>,
    /// Commit that is built.
    pub commit: Option<String>,
    /// Branch that is built.
    pub branch: Option<String>,
    /// Message of the commit.
    pub commit_message: Option<String>,
    /// Number of the pull or merge request.
    pub pull_request: Option<String>,
}

/// A system, with the variables for its metadata; an empty name means that there is none.
struct System {
    name: &'static str,
    /// Variables any of which identifies the system.
    marks: &'static [&'static str],
    variables: Variables,
}

#[derive(Clone, Copy)]
struct Variables {
    build_id: &'static str,
    build_number: &'static str,
    build_type: &'static str,
    build_url: &'static str,
    commit: &'static str,
    branch: &'static str,
    commit_message: &'static str,
    pull_request: &'static str,
}

const SILENT: Variables = Variables {
    build_id: "",
    build_number: "",
    build_type: "",
    build_url: "",
    commit: "",
    branch: "",
    commit_message: "",
    pull_request: "",
};

const fn silent(name: &'static str, marks: &'static [&'static str]) -> System {
    System {
        name,
        marks,
        variables: SILENT,
    }
}

/// Known systems. The user's own variables take precedence.
const SYSTEMS: [System; 21] = [
    System {
        name: "",
        marks: &["PULUMI_CI_SYSTEM"],
        variables: Variables {
            build_id: "PULUMI_CI_BUILD_ID",
            build_number: "PULUMI_CI_BUILD_NUMBER",
            build_type: "PULUMI_CI_BUILD_TYPE",
            build_url: "PULUMI_CI_BUILD_URL",
            commit: "PULUMI_CI_PULL_REQUEST_SHA",
            branch: "PULUMI_CI_BRANCH_NAME",
            commit_message: "PULUMI_COMMIT_MESSAGE",
            pull_request: "PULUMI_PR_NUMBER",
        },
    },
    silent("AppVeyor", &["APPVEYOR"]),
    silent("AWS CodeBuild", &["CODEBUILD_BUILD_ARN"]),
    silent("Atlassian Bamboo", &["bamboo_planKey"]),
    System {
        name: "Atlassian Bitbucket Pipelines",
        marks: &["BITBUCKET_COMMIT"],
        variables: Variables {
            build_id: "BITBUCKET_BUILD_NUMBER",
            commit: "BITBUCKET_COMMIT",
            branch: "BITBUCKET_BRANCH",
            pull_request: "BITBUCKET_PR_ID",
            ..SILENT
        },
    },
    System {
        name: "Azure Pipelines",
        marks: &["TF_BUILD"],
        variables: Variables {
            build_id: "BUILD_BUILDID",
            build_type: "BUILD_REASON",
            commit: "BUILD_SOURCEVERSION",
            commit_message: "BUILD_SOURCEVERSIONMESSAGE",
            pull_request: "SYSTEM_PULLREQUEST_PULLREQUESTID",
            branch: "BUILD_SOURCEBRANCHNAME",
            ..SILENT
        },
    },
    System {
        name: "Buildkite",
        marks: &["BUILDKITE"],
        variables: Variables {
            build_id: "BUILDKITE_BUILD_ID",
            build_number: "BUILDKITE_BUILD_NUMBER",
            build_type: "BUILDKITE_SOURCE",
            build_url: "BUILDKITE_BUILD_URL",
            commit: "BUILDKITE_COMMIT",
            branch: "BUILDKITE_BRANCH",
            commit_message: "BUILDKITE_MESSAGE",
            pull_request: "BUILDKITE_PULL_REQUEST",
        },
    },
    System {
        name: "CircleCI",
        marks: &["CIRCLECI"],
        variables: Variables {
            build_id: "CIRCLE_BUILD_NUM",
            build_url: "CIRCLE_BUILD_URL",
            commit: "CIRCLE_SHA1",
            branch: "CIRCLE_BRANCH",
            ..SILENT
        },
    },
    System {
        name: "Codefresh",
        marks: &["CF_BUILD_URL"],
        variables: Variables {
            build_id: "CF_BUILD_ID",
            build_url: "CF_BUILD_URL",
            commit: "CF_REVISION",
            branch: "CF_BRANCH",
            commit_message: "CF_COMMIT_MESSAGE",
            pull_request: "CF_PULL_REQUEST_NUMBER",
            ..SILENT
        },
    },
    silent("Drone", &["DRONE"]),
    System {
        name: "GitHub Actions",
        marks: &["GITHUB_ACTIONS"],
        variables: Variables {
            build_id: "GITHUB_RUN_ID",
            build_number: "GITHUB_RUN_NUMBER",
            build_type: "GITHUB_EVENT_NAME",
            commit: "GITHUB_SHA",
            branch: "GITHUB_REF",
            ..SILENT
        },
    },
    System {
        name: "GitLab CI/CD",
        marks: &["GITLAB_CI"],
        variables: Variables {
            build_id: "CI_PIPELINE_ID",
            build_number: "CI_PIPELINE_IID",
            build_type: "CI_PIPELINE_SOURCE",
            build_url: "CI_JOB_URL",
            commit: "CI_COMMIT_SHA",
            branch: "CI_COMMIT_REF_NAME",
            commit_message: "CI_COMMIT_MESSAGE",
            pull_request: "CI_MERGE_REQUEST_IID",
        },
    },
    silent("GoCD", &["GO_PIPELINE_LABEL"]),
    silent("Hudson", &["HUDSON_URL"]),
    System {
        name: "Jenkins",
        marks: &["JENKINS_URL"],
        variables: Variables {
            build_id: "BUILD_NUMBER",
            build_url: "BUILD_URL",
            commit: "GIT_COMMIT",
            branch: "GIT_BRANCH",
            ..SILENT
        },
    },
    silent("Magnum CI", &["MAGNUM"]),
    silent("Semaphore", &["SEMAPHORE"]),
    silent(
        "Spacelift",
        &[
            "SPACELIFT_RUN_ID",
            "SPACELIFT_MAX_REQUESTS_BURST",
            "SPACELIFT_STORE_HOOKS_ENV_VARS",
            "SPACELIFT_WORKER_TRACING_ENABLED",
            "TF_VAR_spacelift_run_trigger",
            "TF_VAR_spacelift_commit_branch",
        ],
    ),
    silent("TeamCity", &["TEAMCITY_VERSION"]),
    System {
        name: "Travis CI",
        marks: &["TRAVIS"],
        variables: Variables {
            build_id: "TRAVIS_JOB_ID",
            build_number: "TRAVIS_JOB_NUMBER",
            build_type: "TRAVIS_EVENT_TYPE",
            build_url: "TRAVIS_BUILD_WEB_URL",
            commit: "TRAVIS_PULL_REQUEST_SHA",
            branch: "TRAVIS_BRANCH",
            commit_message: "TRAVIS_COMMIT_MESSAGE",
            pull_request: "TRAVIS_PULL_REQUEST",
        },
    },
    silent("Codeship", &[]),
];

const TASKCLUSTER: System = silent("TaskCluster", &[]);

/// Whether the process runs in a continuous integration system.
pub fn is_present(environment: &Environment) -> bool {
    system(environment).is_some()
}

/// Metadata from the current system.
pub fn detect(environment: &Environment) -> Option<CiRun> {
    let system = system(environment)?;
    let get = |name: &str| environment.non_empty(name).map(ToOwned::to_owned);
    let variables = system.variables;
    let name = match system.name {
        "" => environment.non_empty(system.marks[0]).unwrap_or_default(),
        name => name,
    };
    let run = CiRun {
        system: name.to_owned(),
        build_id: get(variables.build_id),
        build_number: get(variables.build_number),
        build_type: get(variables.build_type),
        build_url: get(variables.build_url),
        commit: get(variables.commit),
        branch: get(variables.branch),
        commit_message: get(variables.commit_message),
        pull_request: get(variables.pull_request),
    };
    Some(completed(run, environment))
}

fn system(environment: &Environment) -> Option<&'static System> {
    if environment.is_on("PULUMI_DISABLE_CI_DETECTION") {
        return None;
    }
    let is_set = |name: &&str| environment.non_empty(name).is_some();
    let is_here = |system: &&System| {
        system.marks.iter().any(is_set)
            || (system.name == "Codeship" && environment.get("CI_NAME") == Some("codeship"))
    };
    let taskcluster = || (is_set(&"TASK_ID") && is_set(&"RUN_ID")).then_some(&TASKCLUSTER);
    SYSTEMS.iter().find(is_here).or_else(taskcluster)
}

/// Adds metadata that systems do not provide in a single variable.
fn completed(mut run: CiRun, environment: &Environment) -> CiRun {
    let get = |name: &str| environment.non_empty(name).map(ToOwned::to_owned);
    match run.system.as_str() {
        "Atlassian Bitbucket Pipelines" => {
            let origin = get("BITBUCKET_GIT_HTTP_ORIGIN").zip(run.build_id.clone());
            run.build_url =
                origin.map(|(origin, id)| format!("{origin}/addon/pipelines/home#!/results/{id}"));
        }
        "Azure Pipelines" => azure(&mut run, environment),
        "Buildkite" | "Travis CI" => {
            // These systems set `false` outside of pull requests.
            run.pull_request = run.pull_request.filter(|number| number != "false");
            if run.system == "Buildkite" && run.pull_request.is_some() {
                run.build_type = Some("PullRequest".to_owned());
            }
        }
        "Codefresh" => {
            let is_request = run.pull_request.is_some();
            let kind = if is_request { "PullRequest" } else { "Push" };
            run.build_type = Some(kind.to_owned());
        }
        "GitHub Actions" => github(&mut run, environment),
        "Jenkins" => run.build_id = run.build_id.or_else(|| get("BUILD_ID")),
        _ => {}
    }
    run
}

fn azure(run: &mut CiRun, environment: &Environment) {
    let get = |name: &str| environment.non_empty(name).map(ToOwned::to_owned);
    if let (Some(server), Some(project), Some(id)) = (
        get("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"),
        get("SYSTEM_TEAMPROJECT"),
        &run.build_id,
    ) {
        let server = server.trim_end_matches('/');
        run.build_url = Some(format!("{server}/{project}/_build/results?buildId={id}"));
    }
    if environment.get("BUILD_REPOSITORY_PROVIDER") == Some("GitHub") {
        run.pull_request = get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER");
        run.commit = get("SYSTEM_PULLREQUEST_SOURCECOMMITID").or(run.commit.take());
    }
    if run.pull_request.is_some() {
        // For pull requests, the build's own branch is `merge`.
        run.branch = get("SYSTEM_PULLREQUEST_SOURCEBRANCH");
    }
}

/// Adds the number and the head commit of a pull request, which are in the event file of the workflow.
fn github(run: &mut CiRun, environment: &Environment) {
    let repository = environment.non_empty("GITHUB_REPOSITORY");
    if let (Some(repository), Some(id)) = (repository, &run.build_id) {
        let server = environment.non_empty("GITHUB_SERVER_URL");
        let server = server.unwrap_or("https://github.com");
        run.build_url = Some(format!("{server}/{repository}/actions/runs/{id}"));
    }
    if run.build_type.as_deref() != Some("pull_request") {
        return;
    }
    let Some(event) = github_event(environment) else {
        return;
    };
    let head = &event["pull_request"]["head"];
    let text = |value: &serde_json::Value| value.as_str().map(ToOwned::to_owned);
    run.pull_request = event["number"].as_i64().map(|number| number.to_string());
    run.commit = text(&head["sha"]).or(run.commit.take());
    run.branch = text(&head["ref"]).or(run.branch.take());
}

/// The event that a workflow of GitHub runs for.
pub fn github_event(environment: &Environment) -> Option<serde_json::Value> {
    let path = environment.non_empty("GITHUB_EVENT_PATH")?;
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
