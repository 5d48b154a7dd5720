//! Differences between SDKs that affect lowering.

use plumb_codegen::programs::ProgramLanguage;

/// Operations on outputs that the SDK of a language supports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) language: ProgramLanguage,
    /// Whether calls of provider functions always use the variant that returns outputs.
    pub(crate) invokes_are_outputs: bool,
    /// Whether outputs have no access to properties and elements without a callback at all.
    pub(crate) lifts_nothing: bool,
    /// Whether JSON can only be made of plain values.
    pub(crate) has_plain_json: bool,
    /// Whether an output with an optional or unknown type supports property access without a callback.
    pub(crate) lifts_anything: bool,
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
                lifts_nothing: false,
                has_plain_json: false,
                lifts_anything: true,
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
                lifts_nothing: false,
                has_plain_json: false,
                lifts_anything: false,
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
                lifts_nothing: true,
                has_plain_json: true,
                lifts_anything: false,
                lifts_optional: false,
                own_members: &[],
            },
            ProgramLanguage::Nodejs => Dialect {
                language,
                invokes_are_outputs: true,
                lifts_nothing: false,
                has_plain_json: false,
                lifts_anything: false,
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
        !self.lifts_nothing && !name.starts_with("__") && !self.own_members.contains(&name)
    }
}
