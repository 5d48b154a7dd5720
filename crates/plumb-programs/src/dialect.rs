//! Differences between SDKs that decide how expressions are lowered.

use plumb_codegen::programs::ProgramLanguage;

/// What the SDK of a language can do with outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) language: ProgramLanguage,
    /// Whether functions of providers are always called in the form that gives outputs.
    pub(crate) invokes_are_outputs: bool,
    /// Whether a property of an output that may be missing, or of an unknown type, can be asked for without a callback.
    pub(crate) lifts_anything: bool,
    /// Names that outputs have themselves.
    own_members: &'static [&'static str],
}

impl Dialect {
    pub(crate) fn of(language: ProgramLanguage) -> Self {
        match language {
            ProgramLanguage::Python => Dialect {
                language,
                invokes_are_outputs: false,
                lifts_anything: true,
                own_members: &[
                    "all",
                    "apply",
                    "concat",
                    "format",
                    "from_input",
                    "future",
                    "get",
                    "is_known",
                    "is_secret",
                    "json_dumps",
                    "json_loads",
                    "recover",
                    "resources",
                    "secret",
                    "unsecret",
                ],
            },
            ProgramLanguage::Nodejs => Dialect {
                language,
                invokes_are_outputs: true,
                lifts_anything: false,
                own_members: &[
                    "allResources",
                    "apply",
                    "constructor",
                    "get",
                    "isKnown",
                    "isSecret",
                    "promise",
                    "resources",
                    "then",
                    "toJSON",
                    "toString",
                    "valueOf",
                ],
            },
        }
    }

    /// Whether the property `name` of an output can be asked for without a callback.
    pub(crate) fn lifts(&self, name: &str) -> bool {
        !name.starts_with("__") && !self.own_members.contains(&name)
    }
}
