//! Random text for strings and passwords.

use plumb_value::PropertyMap;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::plan::{boolean, count, text};

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

/// Text for planned inputs: the minimum number of each kind of character, then the rest, all
/// shuffled.
///
/// Minimums also apply to kinds that are disabled.
pub(super) fn make(plan: &PropertyMap) -> String {
    let special = text(plan, "overrideSpecial").unwrap_or_else(|| SPECIAL.to_owned());
    let kinds = [
        (UPPER, "upper", "minUpper"),
        (LOWER, "lower", "minLower"),
        (DIGITS, "numeric", "minNumeric"),
        (&special, "special", "minSpecial"),
    ];
    let mut characters = Vec::new();
    let mut allowed = Vec::new();
    for (alphabet, enabled, least) in kinds {
        let alphabet: Vec<char> = alphabet.chars().collect();
        pick(&alphabet, count(plan, least), &mut characters);
        if boolean(plan, enabled).unwrap_or_default() {
            allowed.extend(alphabet);
        }
    }
    let rest = count(plan, "length").saturating_sub(characters.len());
    pick(&allowed, rest, &mut characters);
    characters.shuffle(&mut rand::rng());
    characters.into_iter().collect()
}

fn pick(alphabet: &[char], count: usize, characters: &mut Vec<char>) {
    let mut rng = rand::rng();
    characters.extend((0..count).filter_map(|_| alphabet.choose(&mut rng).copied()));
}
