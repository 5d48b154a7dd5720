//! The package `std`: functions of texts, numbers, lists, files and networks, as Terraform has them.
//!
//! Names, arguments and results are those of version 2.3 of the plugin `std`. Where the plugin differs from Terraform by
//! mistake, this package follows Terraform: `timecmp` returns 1 for a later time, `fileexists` returns false for a missing
//! file, and `csvdecode` accepts a line ending behind the last line. `rsadecrypt` is not built in.

mod addresses;
mod args;
mod encoding;
mod files;
mod format;
mod lists;
mod numbers;
mod text;
mod time;
mod values;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::Provider;
use plumb_resource::Urn;
use plumb_resource::provider::{
    CheckRequest, CheckResponse, CreateRequest, CreateResponse, DeleteRequest, DiffRequest,
    DiffResult, InvokeRequest, InvokeResponse, ProviderError, ReadRequest, ReadResponse,
    UpdateRequest, UpdateResponse,
};
use plumb_value::{PropertyMap, Value};

use self::args::{Answer, Args};
use crate::adapter::{Adapter, Package, invoked};
use crate::{Builtin, BuiltinContext};

#[derive(Clone)]
struct Std {
    folder: PathBuf,
    home: Option<PathBuf>,
}

pub(crate) fn start(builtin: &Builtin, context: &BuiltinContext) -> Arc<dyn Provider> {
    let variables = context.environment.as_deref().unwrap_or_default();
    let home = variables.iter().find(|(name, _)| name == "HOME");
    let package = Std {
        folder: context.working_dir.clone(),
        home: home.map(|(_, home)| PathBuf::from(home)),
    };
    Adapter::start(builtin, package)
}

impl Std {
    /// Calls the function `name`; `None` if there is none of that name.
    fn call(&self, name: &str, args: &Args<'_>) -> Option<Answer> {
        let folder: &Path = &self.folder;
        Some(match name {
            "abs" => numbers::of_one(args, f64::abs),
            "abspath" => files::abspath(args, folder),
            "alltrue" => lists::all(args),
            "anytrue" => lists::any(args),
            "base64decode" => encoding::base64decode(args),
            "base64encode" => encoding::of_text(args, encoding::base64),
            "base64gzip" => encoding::base64gzip(args),
            "base64sha256" => encoding::of_text(args, encoding::base64sha256),
            "base64sha512" => encoding::of_text(args, encoding::base64sha512),
            "basename" => text::of_one(args, files::basename),
            "bcrypt" => encoding::bcrypt(args),
            "ceil" => numbers::of_one(args, f64::ceil),
            "chomp" => text::of_one(args, |it| text::chomp(it).to_owned()),
            "chunklist" => lists::chunklist(args),
            "cidrhost" => addresses::host(args),
            "cidrnetmask" => addresses::netmask(args),
            "cidrsubnet" => addresses::subnet(args),
            "cidrsubnets" => addresses::subnets(args),
            "coalesce" => values::coalesce(args),
            "coalescelist" => lists::coalescelist(args),
            "compact" => lists::compact(args),
            "concat" => lists::concat(args),
            "contains" => lists::contains(args),
            "csvdecode" => text::csvdecode(args),
            "dirname" => text::of_one(args, files::dirname),
            "distinct" | "toset" => lists::distinct(args),
            "element" => lists::element(args),
            "endswith" => text::test(args, "suffix", |text, suffix| text.ends_with(suffix)),
            "file" => files::file(args, folder),
            "fileexists" => files::exists(args, folder),
            "filebase64" => files::of_file(args, folder, encoding::base64),
            "filebase64sha256" => files::of_file(args, folder, encoding::base64sha256),
            "filebase64sha512" => files::of_file(args, folder, encoding::base64sha512),
            "filemd5" => files::of_file(args, folder, encoding::md5),
            "filesha1" => files::of_file(args, folder, encoding::sha1),
            "filesha256" => files::of_file(args, folder, encoding::sha256),
            "filesha512" => files::of_file(args, folder, encoding::sha512),
            "flatten" => lists::flatten(args),
            "floor" => numbers::of_one(args, f64::floor),
            "format" => format::format(args),
            "formatlist" => format::formatlist(args),
            "indent" => text::indent(args),
            "index" => lists::index(args),
            "join" => text::join(args),
            "jsondecode" => values::jsondecode(args),
            "jsonencode" => values::jsonencode(args),
            "keys" => lists::keys(args),
            "length" => lists::length(args),
            "log" => numbers::log(args),
            "lookup" => lists::lookup(args),
            "lower" => text::of_one(args, str::to_lowercase),
            "map" => lists::map(args),
            "matchkeys" => lists::matchkeys(args),
            "max" => numbers::extreme(args, f64::max),
            "md5" => encoding::of_text(args, encoding::md5),
            "merge" => lists::merge(args),
            "min" => numbers::extreme(args, f64::min),
            "parseint" => numbers::parseint(args),
            "pathexpand" => files::pathexpand(args, self.home.as_deref()),
            "pow" => numbers::pow(args),
            "range" => numbers::range(args),
            "regex" => text::regex(args),
            "regexall" => text::regexall(args),
            "replace" => text::replace(args),
            "reverse" => lists::reverse(args),
            "rsadecrypt" => Err("rsadecrypt is not built into plumb".to_owned()),
            "setintersection" => lists::setintersection(args),
            "sha1" => encoding::of_text(args, encoding::sha1),
            "sha256" => encoding::of_text(args, encoding::sha256),
            "sha512" => encoding::of_text(args, encoding::sha512),
            "signum" => numbers::signum(args),
            "slice" => lists::slice(args),
            "sort" => lists::sort(args),
            "split" => text::split(args),
            "startswith" => text::test(args, "prefix", |text, prefix| text.starts_with(prefix)),
            "strrev" => text::of_one(args, text::reversed),
            "substr" => text::substr(args),
            "sum" => numbers::sum(args),
            "timeadd" => time::add(args),
            "timecmp" => time::compare(args),
            "timestamp" => Ok(time::now()),
            "title" => text::of_one(args, text::title),
            "tobool" => values::tobool(args),
            "tolist" => lists::tolist(args),
            "tonumber" => values::tonumber(args),
            "tostring" => values::tostring(args),
            "transpose" => lists::transpose(args),
            "trim" => text::trim(args),
            "trimprefix" => text::trim_prefix(args),
            "trimspace" => text::of_one(args, |it| it.trim().to_owned()),
            "trimsuffix" => text::trim_suffix(args),
            "upper" => text::of_one(args, str::to_uppercase),
            "urlencode" => text::of_one(args, encoding::urlencode),
            "uuid" => Ok(uuid::Uuid::new_v4().to_string().into()),
            "values" => lists::values(args),
            "zipmap" => lists::zipmap(args),
            _ => return None,
        })
    }
}

fn no_resources(urn: &Urn) -> ProviderError {
    let token = urn.type_text();
    ProviderError::clean(format!("unrecognized resource type: {token}"))
}

#[async_trait]
impl Package for Std {
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        Err(no_resources(&request.urn))
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        let token = request.token.clone();
        let name = token.as_str().rsplit(':').next().unwrap_or_default();
        let is_secret = request.args.contains_secrets();
        // Files may be slow, and bcrypt is meant to be.
        let (package, function) = (self.clone(), name.to_owned());
        let called = tokio::task::spawn_blocking(move || {
            let args = request.args.without_secrets();
            package.call(&function, &Args(&args))
        });
        let answer = called
            .await
            .map_err(|error| ProviderError::clean(format!("{name}: {error}")))?
            .ok_or_else(|| ProviderError::clean(format!("unrecognized function name: {token}")))?;
        let value = answer.map_err(|why| ProviderError::clean(format!("{name}: {why}")))?;
        let value = if is_secret {
            Value::secret(value)
        } else {
            value
        };
        Ok(invoked(PropertyMap::new().with("result", value)))
    }
}
