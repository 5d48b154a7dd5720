//! Helper functions for features that Python lacks.

/// A helper function defined in the generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Can,
    NotImplemented,
    SingleOrNone,
    Try,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Can => "can_",
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
