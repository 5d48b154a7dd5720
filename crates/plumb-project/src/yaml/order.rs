//! The order in which new keys of a map are written: natural order, in which `a2` comes before `a10`.
//!
//! Two keys are compared at their first differing character:
//!
//! 1. Letters compare by code point.
//! 2. Beside a letter, any other character comes first; behind a digit, the letter does.
//! 3. Digits compare by the whole numbers that they belong to, then by the length of these; anything else by code point.
//!
//! upstream: the reference writes maps with go-yaml, which has this order.

use std::cmp::Ordering;

/// Compares two keys in natural order.
pub fn compare_keys(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let pairs = left.iter().zip(&right);
    let shared = pairs.take_while(|(left, right)| left == right).count();
    let (Some(one), Some(other)) = (left.get(shared), right.get(shared)) else {
        return left.len().cmp(&right.len());
    };
    let is_behind_digit = shared > 0 && left[shared - 1].is_ascii_digit();
    match (one.is_alphabetic(), other.is_alphabetic()) {
        (true, true) => one.cmp(other),
        (true, false) if is_behind_digit => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if is_behind_digit => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let (number, other_number) = (digits_at(&left, shared), digits_at(&right, shared));
            value_order(number, other_number)
                .then(number.len().cmp(&other_number.len()))
                .then(one.cmp(other))
        }
    }
}

/// The digits that touch this place, from before it and from there on.
fn digits_at(text: &[char], place: usize) -> &[char] {
    let before = text[..place]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_digit());
    let from = text[place..].iter().take_while(|it| it.is_ascii_digit());
    let (start, end) = (place - before.count(), place + from.count());
    &text[start..end]
}

fn value_order(left: &[char], right: &[char]) -> Ordering {
    let [left, right] = [left, right].map(|digits| {
        let zeros = digits.iter().take_while(|it| **it == '0').count();
        &digits[zeros..]
    });
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_in_which_the_reference_writes_them() {
        let written = [
            "aws:x", "l:b", "lab-x:a", "lab:9", "lab:10", "lab:A", "lab:Z", "lab:a", "lab:a-b",
            "lab:a.b", "lab:a_b", "lab:a1", "lab:a1b", "lab:a01", "lab:a2", "lab:a10", "lab:aB",
            "lab:ab", "lab:aé", "lab2:x", "zz:a",
        ];
        let mut sorted = written.to_vec();
        sorted.reverse();
        sorted.sort_by(|left, right| compare_keys(left, right));
        assert_eq!(sorted, written);
    }
}
