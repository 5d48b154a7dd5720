//! Name conversions shared by all languages.

/// Word for a name that is a single digit or asterisk, which no language accepts; other names are
/// unchanged.
pub(crate) fn spelled_out(name: &str) -> &str {
    match name {
        "*" => "Asterisk",
        "0" => "Zero",
        "1" => "One",
        "2" => "Two",
        "3" => "Three",
        "4" => "Four",
        "5" => "Five",
        "6" => "Six",
        "7" => "Seven",
        "8" => "Eight",
        "9" => "Nine",
        _ => name,
    }
}

/// The name with each run of `_` reduced to one.
pub(crate) fn single_underscores(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    for char in name.chars() {
        if char != '_' || !result.ends_with('_') {
            result.push(char);
        }
    }
    result
}

/// The only character of `name`; `None` if it has more or none.
pub(crate) fn only_char(name: &str) -> Option<char> {
    let mut chars = name.chars();
    chars.next().filter(|_| chars.next().is_none())
}
