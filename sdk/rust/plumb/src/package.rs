//! Packages that are made from another one by parameters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use crate::Error;
use crate::program::{Program, lock};
use crate::protocol as pb;
use crate::resource::monitor_error;

/// A package that a plugin makes from parameters, such as one for any Terraform provider.
///
/// Generated code has one; every resource of the package gets it as an option.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// let package = plumb::Package::parameterized(("notes", "1.0.0"), "notes-sales", "2.0.0", b"sales".to_vec());
/// AnyResource::with(ctx, "notes-sales:index:Note", "note", value!({}), opts().package(&package));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Package {
    plugin: String,
    plugin_version: String,
    download_url: String,
    name: String,
    version: String,
    parameter: Vec<u8>,
    is_extension: bool,
}

impl Package {
    /// The package `name` that `plugin` makes from `parameter`.
    pub fn parameterized(
        plugin: (&str, &str),
        name: &str,
        version: &str,
        parameter: impl Into<Vec<u8>>,
    ) -> Self {
        Package {
            plugin: plugin.0.to_owned(),
            plugin_version: plugin.1.to_owned(),
            download_url: String::new(),
            name: name.to_owned(),
            version: version.to_owned(),
            parameter: parameter.into(),
            is_extension: false,
        }
    }

    /// This package as an extension: the plugin has its own resources, too, and the same provider serves both.
    #[must_use]
    pub fn extension(self) -> Self {
        Package {
            is_extension: true,
            ..self
        }
    }

    /// A package with its parameter in base64, as schemas have it: for generated code.
    #[doc(hidden)]
    pub fn from_base64(plugin: (&str, &str), name: &str, version: &str, parameter: &str) -> Self {
        Package::parameterized(plugin, name, version, decode(parameter))
    }

    /// Where the plugin is downloaded from.
    #[must_use]
    pub fn download_url(self, url: &str) -> Self {
        Package {
            download_url: url.to_owned(),
            ..self
        }
    }

    /// The engine's name for the package; it is registered once for a program.
    pub(crate) async fn reference(&self, program: &Program) -> Result<String, Error> {
        let registration = {
            let mut known = lock(&program.packages.0);
            let known = known.entry(self.clone());
            let registration = known.or_insert_with(|| {
                let (package, program) = (self.clone(), program.clone());
                async move { package.register(&program).await }
                    .boxed()
                    .shared()
            });
            registration.clone()
        };
        registration.await
    }

    async fn register(&self, program: &Program) -> Result<String, Error> {
        if !program.features.parameterization {
            return Err(Error::at(
                format!(
                    "this version of the engine has no parameterized packages, and `{}` is one",
                    self.name
                ),
                None,
            ));
        }
        let parameterization = Some(pb::Parameterization {
            name: self.name.clone(),
            version: self.version.clone(),
            value: self.parameter.clone(),
        });
        let (extension, parameterization) = if self.is_extension {
            (parameterization, None)
        } else {
            (None, parameterization)
        };
        let request = pb::RegisterPackageRequest {
            name: self.plugin.clone(),
            version: self.plugin_version.clone(),
            download_url: self.download_url.clone(),
            parameterization,
            extension,
            ..pb::RegisterPackageRequest::default()
        };
        let sent = program.engine().register_package(request).await;
        let what = format!("cannot register the package `{}`", self.name);
        sent.map_err(|status| monitor_error(&status, &what, None))
    }
}

type Reference = Shared<BoxFuture<'static, Result<String, Error>>>;

/// Packages that were registered.
#[derive(Default)]
pub(crate) struct Packages(Arc<Mutex<HashMap<Package, Reference>>>);

/// The bytes that base64 stands for; other characters are skipped.
fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes() {
        let Some(value) = ALPHABET.iter().position(|it| *it == letter) else {
            continue;
        };
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decode("aGVsbG8gd29ybGQ="), b"hello world");
        assert_eq!(decode("/+8="), [0xff, 0xef]);
        assert!(decode("").is_empty());
    }
}
