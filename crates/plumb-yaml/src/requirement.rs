//! `pulumi.requiredVersion`: version ranges such as `>=3.0.0 <4.0.0 || >=5.0.0`.

/// Error of a version check.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequirementError {
    /// The version range is invalid.
    #[error("invalid version range {range:?}")]
    Range {
        /// The range.
        range: String,
    },
    /// The version is not in the range.
    #[error("Pulumi CLI version {version} does not satisfy the version range {range:?}")]
    Unsatisfied {
        /// The version.
        version: semver::Version,
        /// The range.
        range: String,
    },
}

/// Checks that `version` is in `range`: alternatives are separated by `||`, conditions by spaces.
pub(crate) fn check(range: &str, version: &semver::Version) -> Result<(), RequirementError> {
    let invalid = || RequirementError::Range {
        range: range.to_owned(),
    };
    let mut matches = false;
    for alternative in range.split("||") {
        let mut all = !alternative.trim().is_empty();
        if !all {
            return Err(invalid());
        }
        for condition in alternative
            .split([' ', ','])
            .filter(|condition| !condition.is_empty())
        {
            let (negated, text) = match condition.strip_prefix('!') {
                Some(rest) => (true, rest.strip_prefix('=').unwrap_or(rest)),
                None => (false, condition),
            };
            let exact = text.starts_with(|char: char| char.is_ascii_digit());
            let text = if exact {
                format!("={text}")
            } else {
                text.replacen("==", "=", 1)
            };
            let wanted = semver::VersionReq::parse(&text).map_err(|_| invalid())?;
            all &= wanted.matches(version) != negated;
        }
        matches |= all;
    }
    if matches {
        return Ok(());
    }
    Err(RequirementError::Unsatisfied {
        version: version.clone(),
        range: range.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_compared() {
        let version = semver::Version::new(3, 260, 0);
        for range in [
            ">=3.0.0",
            ">=3.0.0 <4.0.0",
            "<2.0.0 || >3.1.0",
            "3.260.0",
            "!=3.1.0",
        ] {
            assert!(check(range, &version).is_ok(), "{range}");
        }
        assert!(matches!(
            check(">=4.0.0", &version),
            Err(RequirementError::Unsatisfied { .. })
        ));
        assert!(matches!(
            check("nonsense", &version),
            Err(RequirementError::Range { .. })
        ));
    }
}
