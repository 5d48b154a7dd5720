//! Known differences, with references to their explanation.
//!
//! **The test fails for a difference without an entry, and for an entry without a difference.**

use super::compare::Difference;
use super::program::Pace;
use super::stage::Providers;

/// An entry for differences of one kind.
struct Explained {
    /// Row of `docs/compatibility.md` that explains it.
    row: &'static str,
    /// Programs in which it must occur.
    programs: &'static [&'static str],
    /// Calls, with `*` for any text.
    call: &'static str,
    /// Fields, with `*` for any text.
    field: &'static str,
}

const ASKS_FOR_PACKAGES: &str = "`refresh` and `destroy` ask what packages the program needs only if it is written in Python, Node.js or YAML and the state has versions of plugins that are not built in";

const EXPLAINED: [Explained; 9] = [
    Explained {
        row: ASKS_FOR_PACKAGES,
        programs: &["command", "go", "random"],
        call: "LanguageRuntime/GetRequiredPackages",
        field: "call",
    },
    Explained {
        row: "Options that say nothing are left out of what transforms see",
        programs: &["python"],
        call: "Callbacks/Invoke",
        field: "request.request.options.hooks",
    },
    Explained {
        row: "Options that say nothing are left out of what transforms see",
        programs: &["python"],
        call: "Callbacks/Invoke",
        field: "request.request.options.aliases.0.spec.parentUrn",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["command"],
        call: "state",
        field: "resources.*::files.outputs.archive.assets",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["command"],
        call: "ResourceMonitor/RegisterResource",
        field: "reply.object.archive.assets",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["command"],
        call: "events",
        field: "*::files *.outputs.archive.assets",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["node"],
        call: "events",
        field: "*::files *.outputs.tree.assets.*",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["node"],
        call: "state",
        field: "resources.*::files.outputs.tree.assets.*",
    },
    Explained {
        row: "An archive that comes back from a provider as a hash alone",
        programs: &["node"],
        call: "ResourceMonitor/RegisterResource",
        field: "reply.object.tree.assets.*",
    },
];

/// Additional differences with built-in providers.
const OF_BUILT_IN: [Explained; 9] = [
    Explained {
        row: ASKS_FOR_PACKAGES,
        programs: &["node", "python"],
        call: "LanguageRuntime/GetRequiredPackages",
        field: "call",
    },
    Explained {
        row: "No id in previews",
        programs: &["command"],
        call: "ResourceMonitor/RegisterResource",
        field: "reply.id",
    },
    Explained {
        row: "No `__pulumi-go-provider-version`",
        programs: &["command"],
        call: "state",
        field: "resources.*::default.*puts",
    },
    Explained {
        row: "No `__pulumi-go-provider-version`",
        programs: &["command"],
        call: "events",
        field: "*.__pulumi-go-provider-version",
    },
    Explained {
        row: "Files that a command made keep their paths",
        programs: &["command"],
        call: "*",
        field: "*.archive.assets.made.txt",
    },
    Explained {
        row: "Files that a command made keep their paths",
        programs: &["command"],
        call: "*",
        field: "*.assets.made.txt.path",
    },
    Explained {
        row: "No `__pulumi_raw_state_delta`",
        programs: &["node", "python", "random"],
        call: "ResourceMonitor/RegisterResource",
        field: "reply.object.__pulumi_raw_state_delta",
    },
    Explained {
        row: "No `__pulumi_raw_state_delta`",
        programs: &["node", "python", "random"],
        call: "state",
        field: "*.outputs.__pulumi_raw_state_delta",
    },
    Explained {
        row: "No `__pulumi_raw_state_delta`",
        programs: &["node", "python", "random"],
        call: "events",
        field: "*.outputs.__pulumi_raw_state_delta",
    },
];

impl Explained {
    fn covers(&self, difference: &Difference) -> bool {
        let program = difference.step.split('/').next().unwrap();
        self.programs.contains(&program)
            && matches(self.call, &difference.call)
            && matches(self.field, &difference.field)
    }
}

/// Fails unless every difference is explained, and every explanation is needed.
pub(super) fn check(program: &str, pace: Pace, providers: Providers, differences: &[Difference]) {
    let (known, needed): (Vec<&Explained>, &[Explained]) = match providers {
        Providers::Doubles => (EXPLAINED.iter().collect(), &EXPLAINED),
        Providers::BuiltIn => (EXPLAINED.iter().chain(&OF_BUILT_IN).collect(), &OF_BUILT_IN),
    };
    let unknown: Vec<String> = differences
        .iter()
        .filter(|difference| !known.iter().any(|it| it.covers(difference)))
        .map(ToString::to_string)
        .collect();
    assert!(
        unknown.is_empty(),
        "{program} ({pace:?}, {providers:?}): {} differences\n{}",
        unknown.len(),
        unknown.join("\n")
    );
    for explained in needed {
        assert!(
            !explained.programs.contains(&program)
                || differences.iter().any(|it| explained.covers(it)),
            "{program} ({pace:?}, {providers:?}): {} {} does not differ any more",
            explained.call,
            explained.field
        );
    }
}

/// Whether the text matches a pattern with `*` for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[test]
fn every_difference_is_explained_to_readers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
    let document = std::fs::read_to_string(path).unwrap();
    for explained in EXPLAINED.iter().chain(&OF_BUILT_IN) {
        assert!(document.contains(explained.row), "{:?}", explained.row);
    }
}
