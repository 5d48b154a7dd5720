//! Numbers as text, in the form that state files and string conversions use (`state.md` 1.6).

use ecow::EcoString;

/// The shortest text that reads back as `number`: plain digits from 1e-6 up to 1e21, an exponent otherwise.
///
/// Infinities and NaN, which JSON has no numbers for, become `+Inf`, `-Inf` and `NaN`.
pub fn format(number: f64) -> EcoString {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "+Inf".into()
        } else {
            "-Inf".into()
        };
    }
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return ecow::eco_format!("{number}");
    }
    let text = ecow::eco_format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => {
            ecow::eco_format!("{digits}e+{exponent}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_written_as_recorded() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/data/vectors/go-json.json")).unwrap();
        let numbers = vectors["numbers"].as_array().unwrap();
        assert_eq!(numbers.len(), 15);
        for vector in numbers {
            let bits = u64::from_str_radix(vector["bits"].as_str().unwrap(), 16).unwrap();
            assert_eq!(
                format(f64::from_bits(bits)),
                vector["json"].as_str().unwrap()
            );
        }
    }

    #[test]
    fn what_is_no_number_has_a_name() {
        assert_eq!(
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(format),
            ["+Inf", "-Inf", "NaN"]
        );
    }

    proptest! {
        #[test]
        fn text_reads_back_as_the_number(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            prop_assert_eq!(format(number).parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }
}
