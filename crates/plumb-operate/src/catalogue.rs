//! Errors that users encounter, with instructions.
//!
//! Errors of Plumb have a code, see [`crate::identity`]. Errors of plugins and programs have only text, so their entry is
//! found by words of the message. On a terminal, the hint of the entry follows the error; `docs/errors.md` is generated from
//! all entries.

use std::fmt::Write as _;

use crate::identity::Code;

/// A kind of error.
#[derive(Debug)]
pub struct Entry {
    /// Code of the error.
    pub code: Code,
    /// Explanation.
    pub meaning: &'static str,
    /// Phrases of its message, any of which identifies it.
    words: &'static [&'static str],
    /// Instruction in one line.
    pub hint: &'static str,
    /// Detailed instructions.
    pub details: &'static str,
}

/// All kinds, entries with more specific phrases first.
pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::NoProject,
        meaning: "The command needs a project, and there is no Pulumi.yaml here or in any folder above.",
        words: &["no Pulumi.yaml project file found", "no project file found"],
        hint: "go to the folder of the project (or use `--cwd DIR`), or run `plumb new` to make one",
        details: "A project is a folder with a `Pulumi.yaml`. Commands look for it from the working directory upwards.",
    },
    Entry {
        code: Code::BadProject,
        meaning: "A project or settings file cannot be understood.",
        words: &[
            "could not unmarshal '",
            "invalid YAML file",
            "could not validate '",
        ],
        hint: "fix the file at the place that the message names",
        details: "The message names file, line and column of what was not understood.",
    },
    Entry {
        code: Code::OldVersion,
        meaning: "The project wants another version of the command line.",
        words: &["does not satisfy the version range"],
        hint: "use a version in that range, or change `requiredPulumiVersion` in Pulumi.yaml",
        details: "The version that is compared is the one that `plumb version` prints.",
    },
    Entry {
        code: Code::NoStackSelected,
        meaning: "The command needs a stack, and none is selected.",
        words: &["no stack selected"],
        hint: "run `plumb stack select NAME`, or add `--stack NAME`",
        details: "`plumb stack ls` lists the stacks of the project; `plumb stack init NAME` makes one.",
    },
    Entry {
        code: Code::NoStack,
        meaning: "There is no stack of this name in the backend.",
        words: &["no stack named '"],
        hint: "run `plumb stack ls` to see which there are, or `plumb stack init NAME` to make it",
        details: "Stacks are looked for in the backend that `plumb whoami --verbose` names. A stack of another project is called \
                  `organization/PROJECT/STACK`.",
    },
    Entry {
        code: Code::StackExists,
        meaning: "A stack of this name exists already.",
        words: &["' already exists", "a stack named "],
        hint: "choose another name, or run `plumb stack select NAME` to use it",
        details: "Names are unique within a project.",
    },
    Entry {
        code: Code::StackHasResources,
        meaning: "A stack that still has resources is not removed.",
        words: &["still has resources; removal rejected"],
        hint: "run `plumb destroy` first, or `plumb stack rm --force` to forget the resources",
        details: "With `--force` the objects go on to exist, and nobody knows of them any more.",
    },
    Entry {
        code: Code::Locked,
        meaning: "Somebody else works on the stack.",
        words: &["the stack is currently locked by"],
        hint: "wait for that update to end; if nobody runs it any more, run `plumb cancel`",
        details: "The message names who has locked the stack, where, and since when. The lock of a process that is \
                  known to have ended is taken over without asking; that can be told on Linux, within one container or outside of \
                  all, until the machine is started again. `--lock-timeout 10m` waits. A person's lock, set by \
                  `plumb stack lock`, goes with `plumb stack unlock`.",
    },
    Entry {
        code: Code::TakenOver,
        meaning: "Another process took the stack over while this one worked on it, and nothing more is written.",
        words: &["another process took over the stack"],
        hint: "run `plumb refresh` to find out what this run had done, and then the update again",
        details: "That happens after `plumb cancel`, and when a machine was asleep for long.",
    },
    Entry {
        code: Code::InvalidState,
        meaning: "The state of the stack contradicts itself.",
        words: &[
            "the state of the stack is invalid",
            "is invalid and was not written",
            "refers to unknown provider",
            "duplicate resource ",
            "magic cookie mismatch",
        ],
        hint: "run `plumb state repair`, or `plumb state restore N` with a number of `plumb stack history`",
        details: "Repairing puts resources into order and drops references that lead nowhere; what it would change is shown first.",
    },
    Entry {
        code: Code::UnreadableState,
        meaning: "A state file cannot be read.",
        words: &["the checkpoint ", "cannot be unpacked", " is malformed"],
        hint: "run `plumb state restore N` with a number of `plumb stack history`",
        details: "Every update leaves a copy of the state; `plumb stack export --version N` shows one.",
    },
    Entry {
        code: Code::NoSuchUpdate,
        meaning: "The history has no update of this number.",
        words: &[" has no update ", "is not the number of an update"],
        hint: "run `plumb stack history` to see the numbers",
        details: "Updates are numbered from 1 for the oldest that the history has.",
    },
    Entry {
        code: Code::InterruptedJournal,
        meaning: "What an interrupted update had done cannot be put together.",
        words: &[
            "of an interrupted update cannot be replayed",
            "makes no snapshot",
        ],
        hint: "keep the file that the message names, run `plumb refresh`, and report the defect",
        details: "The journal holds what the interrupted update had done. It is never dropped without a word.",
    },
    Entry {
        code: Code::NoPassphrase,
        meaning: "The stack's secrets are encrypted with a passphrase, and there is none to be had.",
        words: &["passphrase must be set with PULUMI_CONFIG_PASSPHRASE"],
        hint: "set PULUMI_CONFIG_PASSPHRASE, or PULUMI_CONFIG_PASSPHRASE_FILE to a file that holds it",
        details: "On a terminal, you are asked for it.",
    },
    Entry {
        code: Code::WrongPassphrase,
        meaning: "The passphrase is not that of the stack.",
        words: &["incorrect passphrase"],
        hint: "give the passphrase that the stack was made with; `plumb doctor` tells whether it is right",
        details: "Without the passphrase, secrets cannot be read again. They can be set anew with \
                  `plumb config set --secret`.",
    },
    Entry {
        code: Code::Undecryptable,
        meaning: "A secret cannot be decrypted with the key at hand.",
        words: &[
            "message authentication failed",
            "failed to decrypt",
            "bad ciphertext",
        ],
        hint: "see whether the stack's settings file belongs to this stack: `encryptionsalt` and secrets go together",
        details: "That happens when settings are copied from one stack to another; `plumb config cp` encrypts them anew.",
    },
    Entry {
        code: Code::LockedSecrets,
        meaning: "The secrets provider of the stack cannot be used here.",
        words: &[
            "cannot encrypt or decrypt secrets of the `",
            "unknown secrets provider type",
        ],
        hint: "run `plumb stack change-secrets-provider passphrase` where the secrets can be decrypted",
        details: "Providers that are known and not built keep what is encrypted as it is.",
    },
    Entry {
        code: Code::KeyUnavailable,
        meaning: "The key of a cloud with which the secrets of the stack are encrypted cannot be used.",
        words: &[
            "could not encrypt the data key",
            "could not decrypt the data key",
            "invalid address of a key",
        ],
        hint: "do what the message says at its end; `plumb doctor` tells whether the key can be used",
        details: "`docs/secrets.md` lists the addresses of keys, the credentials that are looked for, and the permissions that are \
                  needed.",
    },
    Entry {
        code: Code::NoEnvironments,
        meaning: "The settings of the stack import environments, which only the cloud service has.",
        words: &["does not support environments"],
        hint: "take `environment` out of the settings file, and set the values with `plumb config set`",
        details: "What several stacks share can stand under `config` in `Pulumi.yaml`; secrets are set with `plumb config set --secret`.",
    },
    Entry {
        code: Code::MissingConfig,
        meaning: "The stack lacks settings that the project declares.",
        words: &["is missing configuration value", "configuration key '"],
        hint: "run `plumb config set KEY VALUE`, with `--secret` for secrets; `plumb config` shows what is set",
        details: "Settings are declared under `config` in Pulumi.yaml and kept in Pulumi.STACK.yaml.",
    },
    Entry {
        code: Code::LooksLikeSecret,
        meaning: "A setting that looks like a secret is not stored in the clear without being asked.",
        words: &["looks like a secret; rerun with --secret"],
        hint: "add `--secret`, or `--plaintext` if it is none",
        details: "Settings files are usually kept under version control.",
    },
    Entry {
        code: Code::NotConfirmed,
        meaning: "Nobody is there to confirm, and nothing says that it may go ahead.",
        words: &[
            "must be passed in to proceed when running in non-interactive mode",
            "non-interactive mode requires --yes",
            "the operation was not confirmed",
        ],
        hint: "add `--yes`, or look first with `plumb preview`",
        details: "Without a terminal, in continuous integration and with `--non-interactive`, no question is asked.",
    },
    Entry {
        code: Code::UnexpectedChanges,
        meaning: "There are changes, and `--expect-no-changes` says that there must be none.",
        words: &["no changes were expected for"],
        hint: "run `plumb preview --diff` to see them, and `plumb why RESOURCE` for the reason of one",
        details: "The exit code is 7.",
    },
    Entry {
        code: Code::Protected,
        meaning: "A resource is protected and would be deleted or replaced.",
        words: &[
            "as it is currently marked for protection",
            "because it is protected",
        ],
        hint: "remove the `protect` option and run `plumb up`, or run `plumb state unprotect URN`",
        details: "Protection is there to be removed by hand.",
    },
    Entry {
        code: Code::NotTargeted,
        meaning: "A run is limited to some resources, and one that is left out would have to change as well.",
        words: &["not specified in --target list"],
        hint: "add the resource with another `--target URN`, or all that depend on targets with `--target-dependents`",
        details: "A resource cannot be made without what it depends on, and what depends on it cannot outlive it.",
    },
    Entry {
        code: Code::DuplicateResource,
        meaning: "Two resources of the program have the same URN, or an alias of one is the URN of another.",
        words: &["Duplicate resource URN", "Duplicate resource alias"],
        hint: "give one of the two another name, or another parent",
        details: "A URN is made of the stack, the project, the types of the parents, the type and the name.",
    },
    Entry {
        code: Code::NotInPlan,
        meaning: "The update is held to a plan, and would do something else.",
        words: &["is not allowed by the plan", "violates plan: "],
        hint: "make a new plan with `plumb preview --save-plan FILE`, look at it, and run `plumb up --plan FILE`",
        details: "Between the plan and the update, the program, its settings or the state have changed. `plumb up --strict` makes \
                  the plan by its own preview.",
    },
    Entry {
        code: Code::PolicyViolated,
        meaning: "A policy that must be kept is violated.",
        words: &["mandatory policy violations were found"],
        hint: "change the resources that are named under `Policies`, or the level of the policy with `--policy-pack-config`",
        details: "What a pack demands is in its messages; its level is `advisory`, `mandatory`, `remediate` or `disabled`.",
    },
    Entry {
        code: Code::NoResource,
        meaning: "The state has no such resource.",
        words: &[
            "No such resource ",
            "No resource named ",
            "is not a valid resource URN",
            "did not look at a resource",
        ],
        hint: "run `plumb stack --show-urns` to list the resources of the stack",
        details: "A URN contains `::` and `$`: put it in single quotes on the command line.",
    },
    Entry {
        code: Code::NoRun,
        meaning: "`plumb why` tells of the last preview or update on this machine, and there was none.",
        words: &["is known on this machine; run `plumb preview` first"],
        hint: "run `plumb preview`",
        details: "What runs did is written down in the folder `plumb/runs` below PULUMI_HOME, without secrets.",
    },
    Entry {
        code: Code::PluginNotFound,
        meaning: "A plugin is neither installed nor on the PATH.",
        words: &["found in the workspace", "there is no plugin at "],
        hint: "run `plumb install` for all that the project needs, or `plumb plugin install resource NAME VERSION`",
        details: "With PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION, plugins are not downloaded when they are missing.",
    },
    Entry {
        code: Code::PluginFailed,
        meaning: "A plugin was found, and could not be started.",
        words: &[
            "ended before it wrote its port",
            "write its port to stdout within",
            "did not come alive within",
            "failed to handshake",
            "ended right after its start",
            "could not be started: ",
        ],
        hint: "run the executable that the message names by itself to see what it lacks; `plumb plugin install --reinstall` gets it anew",
        details: "What the plugin said last stands behind the message. Plugins are made for one system and processor.",
    },
    Entry {
        code: Code::PluginDownload,
        meaning: "A plugin could not be downloaded.",
        words: &[
            "could not download the ",
            "could not set up downloads",
            "could not install the ",
        ],
        hint: "see whether the address in the message can be reached; `--server URL` and `--file FILE` name other sources",
        details: "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES sends downloads to a mirror; GITHUB_TOKEN raises limits.",
    },
    Entry {
        code: Code::PluginChecksum,
        meaning: "A plugin is not the one that plumb.lock names.",
        words: &[
            "invalid checksum of ",
            "is not the one that ",
            "must not be used",
            "does not name ",
        ],
        hint: "if the change is intended, remove its line from plumb.lock and run `plumb install`",
        details: "The lock file keeps everybody on the same plugins. A change that nobody intended is a reason to look closer.",
    },
    Entry {
        code: Code::NoInterpreter,
        meaning: "A tool of the program's language is missing.",
        words: &[
            "could not find a Python interpreter",
            "on the PATH; install",
            "` on the PATH",
        ],
        hint: "install it; `plumb doctor` shows which tools are found",
        details: "What a language needs is said in its part of the README.",
    },
    Entry {
        code: Code::DependenciesMissing,
        meaning: "The dependencies of the program are not installed.",
        words: &[
            "run `plumb install`",
            "run `pulumi install`",
            "Have you run `pulumi install`",
        ],
        hint: "run `plumb install`",
        details: "It makes virtual environments, installs packages and gets plugins.",
    },
    Entry {
        code: Code::UnknownBackend,
        meaning: "The address of the backend is of an unknown kind, or leads nowhere.",
        words: &[
            "unknown backend cloudUrl format",
            "unable to open bucket",
            "no stores of type `",
            "the backend address",
            "the service backend at",
        ],
        hint: "run `plumb login URL` with another address, such as `file://~`",
        details: "PULUMI_BACKEND_URL and `backend.url` of the project go before the login.",
    },
    Entry {
        code: Code::LegacyStore,
        meaning: "The state store has the old layout.",
        words: &["has the legacy layout", "state store unsupported"],
        hint: "run `plumb state upgrade`",
        details: "Older versions of the command line cannot read the store then.",
    },
    Entry {
        code: Code::UnknownCommand,
        meaning: "There is no such command or flag.",
        words: &[
            "unknown command ",
            "unknown flag: ",
            "unknown shorthand flag",
        ],
        hint: "run the command with `--help`",
        details: "`plumb --help` lists the commands.",
    },
    Entry {
        code: Code::ProgramFailed,
        meaning: "The program of the project stopped with an error of its own.",
        words: &[
            "failed with an unhandled exception",
            "an unhandled error occurred",
        ],
        hint: "fix the program where the message says; `plumb preview` runs it again and changes nothing",
        details: "What the program had registered before it failed may have been done; the next update goes on from there.",
    },
    Entry {
        code: Code::NotSupported,
        meaning: "That is known and not built.",
        words: &["is not supported yet", "requires the cloud service"],
        hint: "docs/compatibility.md says what there is and what there is not",
        details: "Flags and commands that are not built fail before anything happens.",
    },
];

/// Entry of an error code.
pub fn entry(code: Code) -> &'static Entry {
    let found = ENTRIES.iter().find(|entry| entry.code == code);
    found.expect("every code has an entry, see the tests")
}

/// Entry for a message, for errors without a code.
pub fn find(message: &str) -> Option<&'static Entry> {
    ENTRIES
        .iter()
        .find(|entry| entry.words.iter().any(|words| message.contains(words)))
}

/// The page about all of them.
pub fn page() -> String {
    let mut out = String::from(
        "# Errors\n\n\
         <!-- Made of crates/plumb-operate/src/catalogue.rs; PLUMB_WRITE_DOCS=1 cargo test -p plumb-operate catalogue writes it. -->\n\n\
         What the messages mean, and how to fix their causes. On a terminal, an error is followed by a line `hint[CODE]: …`; its code \
         is the heading here.\n",
    );
    for entry in ENTRIES {
        let Entry {
            code,
            meaning,
            words,
            hint,
            details,
        } = entry;
        let _ = write!(out, "\n## {}\n\n{meaning}\n\n", code.name());
        let messages: Vec<String> = words.iter().map(|it| format!("`{}`", shown(it))).collect();
        let _ = writeln!(out, "- Message: {}", messages.join(", "));
        let _ = writeln!(out, "- Fix: {hint}.");
        let _ = write!(out, "\n{details}\n");
    }
    out
}

/// Words of a message between backquotes, which must have none inside.
fn shown(words: &str) -> String {
    format!("… {} …", words.trim().replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn codes_are_names_of_their_own() {
        let mut codes: Vec<&str> = ENTRIES.iter().map(|entry| entry.code.name()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ENTRIES.len());
        assert_eq!(codes.len(), Code::ALL.len());
        for code in codes {
            assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        }
    }

    #[test]
    fn messages_find_their_entries() {
        for (message, code) in [
            ("no stack named 'x' found", "no-stack"),
            (
                "the state of the stack is invalid: duplicate resource x",
                "invalid-state",
            ),
            (
                "no resource plugin 'pulumi-resource-x' found in the workspace",
                "plugin-not-found",
            ),
        ] {
            assert_eq!(
                find(message).map(|entry| entry.code.name()),
                Some(code),
                "{message}"
            );
        }
        assert!(find("something else").is_none());
    }

    #[test]
    fn the_page_about_errors_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
        if std::env::var_os("PLUMB_WRITE_DOCS").is_some() {
            std::fs::write(&path, page()).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == page(),
            "docs/errors.md is out of date; PLUMB_WRITE_DOCS=1 cargo test -p plumb-operate catalogue writes it"
        );
    }
}
