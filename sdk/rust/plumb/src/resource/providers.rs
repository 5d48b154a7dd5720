//! Which provider a resource gets, and which its children inherit.
//!
//! 1. Start with the providers that the parent hands down, by package.
//! 2. Lay `providers` of the options over them, then `provider`.
//! 3. The resource itself gets `provider` if that is of its package, else the one of its package from the map. A provider
//!    of another package is not for the resource, but its children inherit it.

use std::collections::BTreeMap;

use super::{Handle, OptionData};
use crate::Error;

/// Providers of a resource.
pub(crate) struct Providers {
    pub(crate) handed_down: BTreeMap<String, Handle>,
    pub(crate) own: Option<Handle>,
}

/// Applies the rules.
pub(crate) fn choose(
    token: &str,
    parent: Option<&Handle>,
    options: &OptionData,
) -> Result<Providers, Error> {
    let mut handed_down = parent.map(|it| it.0.providers.clone()).unwrap_or_default();
    for provider in options.providers.iter().chain(&options.provider) {
        let Some(package) = provider.provided_package() else {
            return Err(Error::at(
                format!("{} is no provider", provider.label()),
                options.location,
            ));
        };
        handed_down.insert(package.to_owned(), provider.clone());
    }
    let own = package_of(token)
        .and_then(|package| handed_down.get(package))
        .cloned();
    Ok(Providers { handed_down, own })
}

/// The package of a token with three parts: `aws` of `aws:s3/bucket:Bucket`.
pub(crate) fn package_of(token: &str) -> Option<&str> {
    let mut parts = token.split(':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(package), Some(_), Some(_), None) => Some(package),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::package_of;

    #[test]
    fn only_tokens_of_three_parts_have_a_package() {
        assert_eq!(package_of("aws:s3/bucket:Bucket"), Some("aws"));
        assert_eq!(package_of("pulumi:providers:aws"), Some("pulumi"));
        assert_eq!(package_of("component"), None);
        assert_eq!(package_of("a:b:c:d"), None);
    }
}
