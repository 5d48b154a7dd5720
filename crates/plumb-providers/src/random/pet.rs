//! Pet names: adverbs, an adjective, and an animal.

use std::sync::LazyLock;

use rand::Rng;
use rand::seq::IndexedRandom as _;

static ADVERBS: LazyLock<Vec<&str>> = LazyLock::new(|| list(include_str!("words/adverbs.txt")));
static ADJECTIVES: LazyLock<Vec<&str>> =
    LazyLock::new(|| list(include_str!("words/adjectives.txt")));
static ANIMALS: LazyLock<Vec<&str>> = LazyLock::new(|| list(include_str!("words/animals.txt")));

fn list(words: &'static str) -> Vec<&'static str> {
    words.split_whitespace().collect()
}

/// Words of a pet name. A `count` below one counts as two.
pub(super) fn words(count: i64, rng: &mut impl Rng) -> Vec<&'static str> {
    let mut pick =
        |words: &[&'static str]| *words.choose(rng).expect("the word lists are not empty");
    if count == 1 {
        return vec![pick(&ANIMALS)];
    }
    let adverbs = (2..count).map(|_| pick(&ADVERBS)).collect::<Vec<_>>();
    let name = [pick(&ADJECTIVES), pick(&ANIMALS)];
    adverbs.into_iter().chain(name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn word_lists_are_long_plain_and_without_repeats() {
        for (words, least) in [(&*ADVERBS, 100), (&*ADJECTIVES, 250), (&*ANIMALS, 250)] {
            assert!(words.len() >= least, "{}", words.len());
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
            for word in words {
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            }
        }
    }

    #[test]
    fn the_number_of_words_is_the_length() {
        let mut rng = rand::rng();
        let lengths = [-1, 0, 1, 2, 3, 5].map(|count| words(count, &mut rng).len());
        assert_eq!(lengths, [2, 2, 1, 2, 3, 5]);
    }
}
