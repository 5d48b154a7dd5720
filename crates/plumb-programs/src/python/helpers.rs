//! Helper functions for features that Python lacks.

/// A helper function defined in the generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Can,
    Entries,
    LengthOfText,
    NotImplemented,
    SingleOrNone,
    Try,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Can => "can_",
            Helper::Entries => "entries_of",
            Helper::LengthOfText => "length_of_text",
            Helper::NotImplemented => "not_implemented",
            Helper::SingleOrNone => "single_or_none",
            Helper::Try => "try_",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::Can => {
                "def can_(value):\n    try:\n        value()\n        return True\n    except Exception:\n        return False\n"
            }
            Helper::Entries => {
                "def entries_of(value):\n    if isinstance(value, dict):\n        return sorted(value.items())\n    return list(enumerate(value or []))\n"
            }
            Helper::LengthOfText => {
                "def length_of_text(text):
    # Counts characters as people see them: accents and joined emoji belong to what precedes them.
    count, is_joined, is_half_flag = 0, False, False
    for character in text:
        is_flag = \"\\U0001f1e6\" <= character <= \"\\U0001f1ff\"
        is_mark = unicodedata.category(character) in (\"Mc\", \"Me\", \"Mn\")
        is_tone = \"\\U0001f3fb\" <= character <= \"\\U0001f3ff\"
        is_joiner = character == \"\\u200d\"
        belongs = is_joined or is_mark or is_tone or is_joiner or (is_flag and is_half_flag)
        if not belongs or count == 0:
            count += 1
        is_joined, is_half_flag = is_joiner, is_flag and not is_half_flag
    return count
"
            }
            Helper::NotImplemented => {
                "def not_implemented(message):\n    raise NotImplementedError(message)\n"
            }
            Helper::SingleOrNone => {
                "def single_or_none(elements):\n    if len(elements) > 1:\n        raise ValueError(\"there is more than one element\")\n    return elements[0] if elements else None\n"
            }
            Helper::Try => {
                "def try_(*values):\n    for value in values[:-1]:\n        try:\n            return value()\n        except Exception:\n            pass\n    return values[-1]()\n"
            }
        }
    }
}
