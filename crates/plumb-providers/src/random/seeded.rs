//! Random numbers from a seed in the inputs.
//!
//! A seed must give the same value as in the plugin, which uses the additive lagged Fibonacci generator of Go's
//! `math/rand`: `s[k] = s[k-607] + s[k-273]` modulo 2^64. Its initial state is the sum of two parts: one from the
//! seed by a small multiplicative generator, one fixed. The fixed part is the state of the same generator 7.8e12
//! steps after a start from seed 1. These steps are not executed one by one: with `x^607 = x^334 + 1`, step `n` is
//! the dot product of the initial state with the coefficients of `x^n`, which take 43 squarings.

use std::sync::OnceLock;

const LENGTH: usize = 607;
const LAG: usize = 273;
const FEED: usize = LENGTH - LAG;
const STEPS: u64 = 7_800_000_000_000;

type State = [u64; LENGTH];

/// Generator initialized from a seed.
pub(super) struct Seeded {
    state: State,
    tap: usize,
    feed: usize,
}

impl Seeded {
    /// Generator initialized from the CRC-64 of `seed`.
    pub(super) fn new(seed: &str) -> Self {
        Seeded::from_number(crc64(seed.as_bytes()).cast_signed())
    }

    fn from_number(seed: i64) -> Self {
        let fixed = fixed_state();
        let mut state = sown(Multiplicative::new(seed), [40, 20]);
        for (word, fixed) in state.iter_mut().zip(fixed) {
            *word ^= fixed;
        }
        Seeded {
            state,
            tap: 0,
            feed: FEED,
        }
    }

    /// A number from `min` to `max`, both included; `min` must not be greater.
    pub(super) fn between(&mut self, min: i64, max: i64) -> i64 {
        let width = max.wrapping_sub(min).wrapping_add(1);
        if width > 0 {
            return min.wrapping_add_unsigned(self.below(width.cast_unsigned()));
        }
        // The plugin does not support a range this large, so any uniform choice is compatible.
        loop {
            let number = self.next_u64().cast_signed();
            if (min..=max).contains(&number) {
                return number;
            }
        }
    }

    /// A permutation of the numbers below `length`.
    pub(super) fn order(&mut self, length: usize) -> Vec<usize> {
        let mut order = vec![0; length];
        for index in 0..length {
            let other = self.below(index as u64 + 1) as usize;
            order[index] = order[other];
            order[other] = index;
        }
        order
    }

    /// A number from zero to `limit`, excluded.
    fn below(&mut self, limit: u64) -> u64 {
        let bits = if limit < 1 << 31 { 31 } else { 63 };
        let mut draw = || (self.next_u64() & (u64::MAX >> 1)) >> (63 - bits);
        if limit.is_power_of_two() {
            return draw() & (limit - 1);
        }
        let last = (1_u64 << bits) - 1 - (1_u64 << bits) % limit;
        loop {
            let number = draw();
            if number <= last {
                return number % limit;
            }
        }
    }

    fn next_u64(&mut self) -> u64 {
        self.tap = (self.tap + LENGTH - 1) % LENGTH;
        self.feed = (self.feed + LENGTH - 1) % LENGTH;
        let number = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = number;
        number
    }
}

/// The generator `x -> 48271 x` modulo 2^31 - 1.
struct Multiplicative(u64);

impl Multiplicative {
    const MODULUS: i64 = (1 << 31) - 1;

    fn new(seed: i64) -> Self {
        match seed.rem_euclid(Self::MODULUS) {
            0 => Multiplicative(89_482_311),
            start => Multiplicative(start.cast_unsigned()),
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0 * 48_271 % Self::MODULUS as u64;
        self.0
    }
}

/// State with three numbers per word, the first two shifted left; the first twenty numbers are discarded.
fn sown(mut numbers: Multiplicative, shifts: [u32; 2]) -> State {
    for _ in 0..20 {
        numbers.next();
    }
    std::array::from_fn(|_| {
        let high = numbers.next() << shifts[0];
        let middle = numbers.next() << shifts[1];
        high ^ middle ^ numbers.next()
    })
}

/// Fixed part of every initial state.
fn fixed_state() -> &'static State {
    static FIXED: OnceLock<State> = OnceLock::new();
    FIXED.get_or_init(|| {
        let first = sown(Multiplicative::new(1), [20, 10]);
        // Step `k` writes to `(FEED - k) mod LENGTH`; the initial state consists of the steps -606 to 0.
        let place = |step: u64| (FEED + LENGTH - (step % LENGTH as u64) as usize) % LENGTH;
        let terms: State = std::array::from_fn(|index| first[place(index as u64 + 1)]);
        let mut power = power_of_x(STEPS);
        let mut state = [0; LENGTH];
        for step in STEPS - (LENGTH as u64 - 1)..=STEPS {
            let dot = |sum: u64, (coefficient, term): (&u64, &u64)| {
                sum.wrapping_add(coefficient.wrapping_mul(*term))
            };
            state[place(step)] = power.iter().zip(&terms).fold(0, dot);
            times_x(&mut power);
        }
        state
    })
}

/// Coefficients of `x^exponent`.
fn power_of_x(exponent: u64) -> State {
    let mut power = [0; LENGTH];
    power[0] = 1;
    for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
        power = squared(&power);
        if exponent >> bit & 1 == 1 {
            times_x(&mut power);
        }
    }
    power
}

fn times_x(power: &mut State) {
    power.rotate_right(1);
    power[FEED] = power[FEED].wrapping_add(power[0]);
}

fn squared(power: &State) -> State {
    let mut product = [0_u64; 2 * LENGTH];
    for (index, left) in power.iter().enumerate() {
        for (slot, right) in product[index..].iter_mut().zip(power) {
            *slot = slot.wrapping_add(left.wrapping_mul(*right));
        }
    }
    for index in (LENGTH..2 * LENGTH).rev() {
        let overflow = product[index];
        product[index - LENGTH] = product[index - LENGTH].wrapping_add(overflow);
        product[index - LAG] = product[index - LAG].wrapping_add(overflow);
    }
    let mut reduced = [0; LENGTH];
    reduced.copy_from_slice(&product[..LENGTH]);
    reduced
}

/// CRC-64 with the ISO polynomial.
fn crc64(bytes: &[u8]) -> u64 {
    const POLYNOMIAL: u64 = 0xD800_0000_0000_0000;
    let step = |crc: u64, _| {
        if crc & 1 == 1 {
            crc >> 1 ^ POLYNOMIAL
        } else {
            crc >> 1
        }
    };
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u64::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_state_is_that_of_go() {
        let fixed = fixed_state();
        assert_eq!(fixed[0].cast_signed(), -4_181_792_142_133_755_926);
        assert_eq!(fixed[1].cast_signed(), -4_576_982_950_128_230_565);
        assert_eq!(fixed[11].cast_signed(), -7_107_630_437_535_961_764);
    }

    #[test]
    fn seeds_give_what_the_plugin_gave() {
        assert_eq!(Seeded::new("s").between(1, 1000), 973);
        assert_eq!(Seeded::new("t").between(1, 1000), 780);
        assert_eq!(Seeded::new("x").order(3), [1, 2, 0]);
    }

    #[test]
    fn wide_ranges_are_served() {
        let number = Seeded::new("s").between(0, 1 << 40);
        assert!((0..=1 << 40).contains(&number));
        Seeded::new("s").between(i64::MIN, i64::MAX);
        assert_eq!(Seeded::new("s").between(5, 5), 5);
    }
}
