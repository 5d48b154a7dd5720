//! Differences between SDKs that affect lowering.

use plumb_codegen::programs::ProgramLanguage;

/// Outputs whose properties are accessible without a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifting {
    Nothing,
    /// Outputs of a known type that are certainly present.
    Known,
    /// All, even if the type is optional or unknown.
    All,
}

/// Operations on outputs that the SDK of a language supports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) language: ProgramLanguage,
    /// Whether calls of provider functions always use the variant that returns outputs.
    pub(crate) invokes_are_outputs: bool,
    /// Whether JSON can only be made of plain values.
    pub(crate) has_plain_json: bool,
    /// Outputs that support access to properties without a callback.
    pub(crate) lifting: Lifting,
    /// Whether an optional property of an output is an output, and not perhaps missing, as TypeScript has it.
    pub(crate) lifts_optional: bool,
    /// Names of members that outputs have themselves.
    own_members: &'static [&'static str],
}

impl Dialect {
    pub(crate) fn of(language: ProgramLanguage) -> Self {
        match language {
            ProgramLanguage::Python => Dialect {
                language,
                invokes_are_outputs: false,
                has_plain_json: false,
                lifting: Lifting::All,
                lifts_optional: true,
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
            ProgramLanguage::Go => Dialect {
                language,
                invokes_are_outputs: false,
                has_plain_json: false,
                lifting: Lifting::Known,
                lifts_optional: true,
                own_members: &[
                    "ApplyT",
                    "ApplyTWithContext",
                    "Elem",
                    "ElementType",
                    "IsSecret",
                    "OutputState",
                    "ToOutput",
                ],
            },
            ProgramLanguage::Java | ProgramLanguage::Csharp => Dialect {
                language,
                invokes_are_outputs: true,
                has_plain_json: true,
                lifting: Lifting::Nothing,
                lifts_optional: false,
                own_members: &[],
            },
            ProgramLanguage::Rust => Dialect {
                language,
                invokes_are_outputs: true,
                has_plain_json: false,
                lifting: Lifting::All,
                lifts_optional: true,
                own_members: &[],
            },
            ProgramLanguage::Nodejs => Dialect {
                language,
                invokes_are_outputs: true,
                has_plain_json: false,
                lifting: Lifting::Known,
                lifts_optional: false,
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

    /// Whether an output supports access to its property `name` without a callback.
    pub(crate) fn lifts(&self, name: &str) -> bool {
        !name.starts_with("__") && !self.own_members.contains(&name)
    }
}
