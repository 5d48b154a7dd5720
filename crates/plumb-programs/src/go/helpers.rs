//! Functions that generated programs define for operations that Go has no function for.

/// A helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    AnyMap,
    Anys,
    Find,
    Item,
    LengthOfText,
    Lookup,
    Member,
    NotImplemented,
    Resources,
    SingleOrNone,
    ValueOf,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::AnyMap => "anyMap",
            Helper::Anys => "anys",
            Helper::Find => "find",
            Helper::Item => "itemAt",
            Helper::LengthOfText => "lengthOfText",
            Helper::Lookup => "lookup",
            Helper::Member => "memberOf",
            Helper::NotImplemented => "notImplemented",
            Helper::Resources => "asResources",
            Helper::SingleOrNone => "singleOrNone",
            Helper::ValueOf => "valueOf",
        }
    }

    /// Packages that the helper uses.
    pub(super) fn imports(self) -> &'static [&'static str] {
        match self {
            Helper::Find | Helper::Item | Helper::Member | Helper::SingleOrNone => &["fmt"],
            Helper::LengthOfText => &["unicode"],
            Helper::AnyMap
            | Helper::Anys
            | Helper::Lookup
            | Helper::NotImplemented
            | Helper::Resources
            | Helper::ValueOf => &[],
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::AnyMap => {
                "// anyMap returns a map of values of any type.
func anyMap[T any](values map[string]T) map[string]interface{} {
	result := make(map[string]interface{}, len(values))
	for key, value := range values {
		result[key] = value
	}
	return result
}
"
            }
            Helper::LengthOfText => {
                "// lengthOfText counts characters as people see them: accents and joined emoji belong to what precedes them.
func lengthOfText(text string) int {
	count, isJoined, isHalfFlag := 0, false, false
	for _, character := range text {
		isFlag := character >= 0x1f1e6 && character <= 0x1f1ff
		isTone := character >= 0x1f3fb && character <= 0x1f3ff
		isJoiner := character == 0x200d
		belongs := isJoined || unicode.IsMark(character) || isTone || isJoiner || (isFlag && isHalfFlag)
		if !belongs || count == 0 {
			count++
		}
		isJoined, isHalfFlag = isJoiner, isFlag && !isHalfFlag
	}
	return count
}
"
            }
            Helper::Anys => {
                "// anys returns a list of items of any type.
func anys[T any](items []T) []interface{} {
	result := make([]interface{}, len(items))
	for index, item := range items {
		result[index] = item
	}
	return result
}
"
            }
            Helper::Resources => {
                "// asResources returns a list of resources of any type.
func asResources[R pulumi.Resource](items []R) []pulumi.Resource {
	result := make([]pulumi.Resource, len(items))
	for index, item := range items {
		result[index] = item
	}
	return result
}
"
            }
            Helper::NotImplemented => {
                "// notImplemented stands for what could not be converted.
func notImplemented(message string) interface{} {
	panic(message)
}
"
            }
            Helper::Find => {
                "// find returns the member of a map or the item of a list.
func find(value interface{}, key interface{}) (interface{}, error) {
	switch value := value.(type) {
	case map[string]interface{}:
		if member, ok := value[fmt.Sprint(key)]; ok {
			return member, nil
		}
	case []interface{}:
		if index, ok := key.(int); ok && index >= 0 && index < len(value) {
			return value[index], nil
		}
	}
	return nil, fmt.Errorf(\"the value has no member %v\", key)
}
"
            }
            Helper::Item => {
                "// itemAt returns an item of a list, or an error if the list is too short.
func itemAt[T any](items []T, index int) (T, error) {
	if index < 0 || index >= len(items) {
		var zero T
		return zero, fmt.Errorf(\"the list has no item %d\", index)
	}
	return items[index], nil
}
"
            }
            Helper::Member => {
                "// memberOf returns the value of a key, or an error if there is none.
func memberOf[T any](values map[string]T, key string) (T, error) {
	value, ok := values[key]
	if !ok {
		return value, fmt.Errorf(\"the map has no key %q\", key)
	}
	return value, nil
}
"
            }
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
