//! Helper functions for features that TypeScript lacks.

/// A helper function defined in the generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Can,
    Entries,
    NotImplemented,
    SingleOrNone,
    Try,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Can => "can",
            Helper::Entries => "entriesOf",
            Helper::NotImplemented => "notImplemented",
            Helper::SingleOrNone => "singleOrNone",
            Helper::Try => "firstOf",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::Can => {
                "function can(value: () => unknown): boolean {\n    try {\n        return value() !== undefined;\n    } catch {\n        return false;\n    }\n}\n"
            }
            Helper::Entries => {
                "function entriesOf(value: any): [any, any][] {\n    return Array.isArray(value) ? [...value.entries()] : Object.entries(value ?? {}).sort();\n}\n"
            }
            Helper::NotImplemented => {
                "function notImplemented(message: string): any {\n    throw new Error(message);\n}\n"
            }
            Helper::SingleOrNone => {
                "function singleOrNone<T>(elements: T[]): T | undefined {\n    if (elements.length > 1) {\n        throw new Error(\"there is more than one element\");\n    }\n    return elements[0];\n}\n"
            }
            Helper::Try => {
                "function firstOf(...values: (() => any)[]): any {\n    for (const value of values.slice(0, -1)) {\n        try {\n            const result = value();\n            if (result !== undefined) {\n                return result;\n            }\n        } catch {\n            continue;\n        }\n    }\n    return values[values.length - 1]();\n}\n"
            }
        }
    }
}
