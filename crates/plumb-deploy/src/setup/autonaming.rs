//! How resources are named that the program gives no name (`engine.md` 8.4).
//!
//! 1. The most specific rule decides: that of the resource's type, of its package, or the general one.
//! 2. It goes to the provider with Check. A pattern becomes a name first; its random parts come from the seed of the
//!    registration, so that a plan which keeps the seed keeps the name.
//! 3. A name without random parts cannot be given twice: such resources are deleted before they are replaced.

use std::collections::BTreeMap;

use chacha8rand::ChaCha8Rand;
use ecow::EcoString;
use plumb_resource::Urn;
use plumb_resource::provider::Autonaming;
use sha2::{Digest, Sha256};

/// The rules of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamingRules {
    /// For everything that has no rule of its own.
    pub general: Naming,
    /// By package.
    pub packages: BTreeMap<EcoString, PackageNaming>,
}

/// The rules of one package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageNaming {
    /// For types without a rule of their own; none if the general rule is good for them.
    pub general: Option<Naming>,
    /// By type token.
    pub types: BTreeMap<EcoString, Naming>,
}

/// One rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Naming {
    /// As the provider likes.
    #[default]
    Provider,
    /// The name that the program uses, to the letter.
    Verbatim,
    /// Not at all: the program must give a name.
    Disabled,
    /// After a pattern.
    Pattern {
        /// Text with parts like `${name}` and `${hex(4)}`; those about the stack have been filled in.
        pattern: EcoString,
        /// Whether the provider may choose another name.
        is_enforced: bool,
    },
}

/// Result of a naming rule for one resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) request: Autonaming,
    /// Whether every run would make the same name.
    pub(crate) is_fixed: bool,
    /// Whether the user must hear of it when the provider does not understand.
    pub(crate) must_be_heard: bool,
}

impl NamingRules {
    /// How the resource `urn` is to be named; `None` leaves it to the provider.
    pub(crate) fn name(&self, urn: &Urn, seed: &[u8]) -> Option<Named> {
        let special = self.special(urn);
        let mut named = special.unwrap_or(&self.general).name(urn, seed)?;
        named.must_be_heard |= special.is_some();
        Some(named)
    }

    /// The rule for the type of `urn`, or for its package.
    fn special(&self, urn: &Urn) -> Option<&Naming> {
        if self.packages.is_empty() {
            return None;
        }
        let token = urn.type_token();
        let package = self.packages.get(token.package())?;
        let by_type = package.types.get(token.as_str());
        by_type.or(package.general.as_ref())
    }
}

impl Naming {
    fn name(&self, urn: &Urn, seed: &[u8]) -> Option<Named> {
        let fixed = |request| Named {
            request,
            is_fixed: true,
            must_be_heard: false,
        };
        Some(match self {
            Naming::Provider => return None,
            Naming::Verbatim => fixed(Autonaming::Enforce(urn.name().into())),
            Naming::Disabled => fixed(Autonaming::Disabled),
            Naming::Pattern {
                pattern,
                is_enforced,
            } => {
                let with_name = pattern.replace("${name}", urn.name());
                let name: EcoString = filled(&with_name, seed).into();
                Named {
                    is_fixed: name == with_name,
                    must_be_heard: *is_enforced,
                    request: if *is_enforced {
                        Autonaming::Enforce(name)
                    } else {
                        Autonaming::Propose(name)
                    },
                }
            }
        })
    }
}

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The pattern with its random parts, one kind after the other.
fn filled(pattern: &str, seed: &[u8]) -> String {
    let mut dice = Dice::new(seed);
    let text = replaced(pattern, "${hex(", |n| dice.hex(n));
    let text = replaced(&text, "${alphanum(", |n| dice.text(LETTERS_AND_DIGITS, n));
    let text = replaced(&text, "${string(", |n| dice.text(LETTERS, n));
    let text = replaced(&text, "${num(", |n| dice.text(DIGITS, n));
    if text.contains("${uuid}") {
        text.replace("${uuid}", &dice.uuid())
    } else {
        text
    }
}

/// The text with every `opening` that is followed by a number and `)}` replaced by what `make` makes of the number.
fn replaced(text: &str, opening: &str, mut make: impl FnMut(usize) -> String) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(opening) {
        let (before, found) = rest.split_at(at);
        result.push_str(before);
        let inside = &found[opening.len()..];
        let count = inside
            .split_once(")}")
            .filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|(digits, after)| Some((digits.parse().ok()?, after)));
        if let Some((count, after)) = count {
            result.push_str(&make(count));
            rest = after;
        } else {
            result.push_str(opening);
            rest = inside;
        }
    }
    result.push_str(rest);
    result
}

/// Chance from a seed, drawn as the reference draws it: the same seed makes the same names there and here.
struct Dice {
    words: ChaCha8Rand,
    /// Unused bytes of the last word that was drawn.
    left: Vec<u8>,
}

impl Dice {
    fn new(seed: &[u8]) -> Self {
        Dice {
            words: ChaCha8Rand::new(&Sha256::digest(seed).into()),
            left: Vec::new(),
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.left);
        while bytes.len() < count {
            bytes.extend(self.words.read_u64().to_le_bytes());
        }
        self.left = bytes.split_off(count);
        bytes
    }

    fn below(&mut self, limit: u64) -> u64 {
        // Numbers past the last multiple of the limit would favour some results.
        let end = u64::MAX - u64::MAX % limit;
        loop {
            let number = self.words.read_u64();
            if number < end {
                return number % limit;
            }
        }
    }

    fn hex(&mut self, count: usize) -> String {
        let mut text = hex::encode(self.bytes(count / 2 + 1));
        text.truncate(count);
        text
    }

    fn text(&mut self, characters: &[u8], count: usize) -> String {
        (0..count)
            .map(|_| char::from(characters[self.below(characters.len() as u64) as usize]))
            .collect()
    }

    fn uuid(&mut self) -> String {
        let text = self.hex(32);
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &text[range]);
        parts.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &[u8] = b"test seed";

    fn urn() -> Urn {
        Urn::new("dev", "proj", "", "aws:s3/bucket:Bucket", "res")
    }

    fn pattern(pattern: &str, is_enforced: bool) -> Naming {
        Naming::Pattern {
            pattern: pattern.into(),
            is_enforced,
        }
    }

    /// Names that the reference makes of this seed.
    #[test]
    fn patterns_are_filled_with_the_same_chance_as_elsewhere() {
        for (pattern, expected) in [
            ("res-${hex(4)}", "res-f93c"),
            ("res-${alphanum(5)}", "res-3ufv0"),
            ("res-${string(6)}", "res-xgtfme"),
            ("${num(7)}_res", "5657624_res"),
            ("${uuid}", "f93c359b-82a2-9def-ec84-776cd822c95a"),
        ] {
            assert_eq!(filled(pattern, SEED), expected);
        }
    }

    #[test]
    fn kinds_of_parts_take_turns_and_waste_nothing() {
        let made = filled("${uuid} ${hex(1)}${hex(2)}", SEED);
        assert!(made.starts_with("9b82a29d-efec-8477-6cd8-22c95a"), "{made}");
        assert!(made.ends_with(" f3c"), "{made}");
    }

    #[test]
    fn what_is_not_a_part_stays() {
        for text in [
            "${hex()x}",
            "${hex(a)}",
            "${hex(4}",
            "${random(4)}",
            "$",
            "${num(99999999999999999999)}",
        ] {
            assert_eq!(filled(text, SEED), text);
        }
    }

    #[test]
    fn the_most_specific_rule_decides() {
        let package = |general, token: &str, naming| PackageNaming {
            general,
            types: BTreeMap::from([(token.into(), naming)]),
        };
        let rules = |general, aws| NamingRules {
            general,
            packages: BTreeMap::from([("aws".into(), aws)]),
        };
        let bucket = "aws:s3/bucket:Bucket";
        let other = "aws:s3/object:Object";
        let named = |rules: NamingRules| {
            let named = rules.name(&urn(), SEED)?;
            Some((named.request, named.is_fixed, named.must_be_heard))
        };
        let verbatim = Autonaming::Enforce("res".into());
        assert_eq!(named(NamingRules::default()), None);
        assert_eq!(
            named(rules(
                Naming::Verbatim,
                package(None, other, Naming::Disabled)
            )),
            Some((verbatim.clone(), true, false)),
        );
        assert_eq!(
            named(rules(
                Naming::Disabled,
                package(Some(Naming::Verbatim), other, Naming::Disabled)
            )),
            Some((verbatim, true, true)),
        );
        assert_eq!(
            named(rules(
                Naming::Verbatim,
                package(Some(Naming::Verbatim), bucket, Naming::Disabled)
            )),
            Some((Autonaming::Disabled, true, true)),
        );
        assert_eq!(
            named(rules(
                Naming::Verbatim,
                package(Some(Naming::Provider), other, Naming::Disabled)
            )),
            None,
        );
    }

    #[test]
    fn a_name_with_chance_in_it_is_not_fixed() {
        let named = |naming: Naming| {
            let named = naming.name(&urn(), SEED).unwrap();
            (named.request, named.is_fixed, named.must_be_heard)
        };
        assert_eq!(
            named(pattern("x-${name}", false)),
            (Autonaming::Propose("x-res".into()), true, false)
        );
        assert_eq!(
            named(pattern("${name}-${hex(4)}", true)),
            (Autonaming::Enforce("res-f93c".into()), false, true)
        );
    }
}
