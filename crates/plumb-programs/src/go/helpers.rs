//! Functions that generated programs define for operations that Go has no function for.

/// A helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Lookup,
    SingleOrNone,
    ValueOf,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Lookup => "lookup",
            Helper::SingleOrNone => "singleOrNone",
            Helper::ValueOf => "valueOf",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::Lookup => {
                "// lookup returns the value of a key, or the fallback if there is none.
func lookup[T any](values map[string]T, key string, fallback T) T {
	if value, ok := values[key]; ok {
		return value
	}
	return fallback
}
"
            }
            Helper::SingleOrNone => {
                "// singleOrNone returns the only item of a list, or nil if the list is empty.
func singleOrNone[T any](items []T) (*T, error) {
	switch len(items) {
	case 0:
		return nil, nil
	case 1:
		return &items[0], nil
	}
	return nil, fmt.Errorf(\"the list has %d items instead of at most one\", len(items))
}
"
            }
            Helper::ValueOf => {
                "// valueOf returns the value that a pointer refers to, or the zero value.
func valueOf[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
"
            }
        }
    }
}
