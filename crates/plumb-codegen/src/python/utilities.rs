//! Helpers used by generated code (`codegen.md` 3.2, 3.3, 3.6).

use plumb_schema::bound::Parameterization;

use super::model::{Body, Item, SourceFile};
use super::names;
use super::sdk::Sdk;
use crate::GenerateError;

const HEAD: &str = r#"_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


def get_env(*variables, default=None):
    """The first of these environment variables that is set."""
    for variable in variables:
        value = os.environ.get(variable)
        if value is not None:
            return value
    return default


def get_env_bool(*variables, default=None):
    """The same as a boolean; what is none counts as not set."""
    text = get_env(*variables)
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    return default


def _get_env_number(convert, variables, default):
    text = get_env(*variables)
    if text is None:
        return default
    try:
        return convert(text)
    except ValueError:
        return default


def get_env_int(*variables, default=None):
    """The same as a whole number; what is none counts as not set."""
    return _get_env_number(int, variables, default)


def get_env_float(*variables, default=None):
    """The same as a number; what is none counts as not set."""
    return _get_env_number(float, variables, default)


def get_resource_opts_defaults() -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(
        version=get_version(),
        plugin_download_url=get_plugin_download_url(),
    )


def get_invoke_opts_defaults() -> pulumi.InvokeOptions:
    return pulumi.InvokeOptions(
        version=get_version(),
        plugin_download_url=get_plugin_download_url(),
    )


def get_resource_args_opts(args_type, options_type, *args, **kwargs):
    """
    The arguments object and the options among what a constructor was called with. There is no arguments object when each
    argument was given by its own name.
    """
    rest = list(args)
    resource_args = kwargs.get("args")
    if rest and isinstance(rest[0], args_type):
        resource_args = rest.pop(0)
    elif rest and rest[0] is None and len(rest) > 1:
        rest.pop(0)
    if not isinstance(resource_args, args_type):
        resource_args = None
    opts = kwargs.get("opts")
    if rest and isinstance(rest[0], options_type):
        opts = rest[0]
    return resource_args, opts


def lazy_import(name):
    """A module that is loaded when something of it is used."""
    load = getattr(pulumi._utils, "lazy_import", importlib.import_module)
    return load(name)


deprecated = pulumi.deprecated


class _Package(pulumi.runtime.ResourcePackage):
    def __init__(self, info):
        super().__init__()
        self._info = info

    def version(self):
        return _SEMVER

    def construct_provider(self, name: str, typ: str, urn: str) -> pulumi.ProviderResource:
        if typ != self._info["token"]:
            raise ValueError(f"unknown provider type {typ}")
        provider = getattr(lazy_import(self._info["fqn"]), self._info["class"])
        return provider(name, pulumi.ResourceOptions(urn=urn))


class _Module(pulumi.runtime.ResourceModule):
    def __init__(self, info):
        super().__init__()
        self._info = info

    def version(self):
        return _SEMVER

    def construct(self, name: str, typ: str, urn: str) -> pulumi.Resource:
        class_name = self._info["classes"].get(typ)
        if class_name is None:
            raise ValueError(f"unknown resource type {typ}")
        resource = getattr(lazy_import(self._info["fqn"]), class_name)
        return resource(name, pulumi.ResourceOptions(urn=urn))


def register(resource_modules, resource_packages):
    """Tells the core SDK how to make instances of resources that programs get references to."""
    for info in resource_packages:
        pulumi.runtime.register_resource_package(info["pkg"], _Package(info))
    for info in resource_modules:
        pulumi.runtime.register_resource_module(info["pkg"], info["mod"], _Module(info))


def call_plain(
    tok: str,
    props: pulumi.Inputs,
    res: typing.Optional[pulumi.Resource] = None,
    typ: typing.Optional[type] = None,
    package_ref: typing.Optional[typing.Awaitable[typing.Optional[str]]] = None,
) -> typing.Any:
    """Calls a method and waits for its result, which must be known and no secret."""
    output = pulumi.runtime.call(tok, props, res, typ, package_ref)

    async def settle():
        value = await output.future(with_unknowns=True)
        return value, await output.is_known(), await output.is_secret()

    value, is_known, is_secret = _sync_await(asyncio.ensure_future(settle()))
    if not is_known:
        raise AssertionError(f"{tok} gave a value that is not known yet")
    if is_secret:
        raise AssertionError(f"{tok} gave a secret, which its plain result cannot be")
    return value
"#;

const INSTALLED_VERSION: &str = r#"_PRE_RELEASES = {"a": "alpha", "b": "beta", "rc": "rc"}


def _installed_version() -> typing.Optional[SemVersion]:
    """The semantic version of the distribution that this package was installed from, if it was."""
    root = __name__.split(".")[0]
    try:
        version = DistributionVersion(importlib.metadata.version(root))
    except importlib.metadata.PackageNotFoundError:
        # Sources that were never installed know at best what the plugin's version is.
        plugin = os.path.join(os.path.dirname(__file__), "pulumi-plugin.json")
        with open(plugin, encoding="utf-8") as file:
            plugin_version = json.load(file).get("version")
        return SemVersion.parse(plugin_version) if plugin_version else None
    major, minor, patch = (*version.release, 0, 0)[:3]
    pre_release = None
    if version.pre is not None:
        kind, number = version.pre
        pre_release = f"{_PRE_RELEASES[kind]}.{number}"
    elif version.dev is not None:
        pre_release = f"dev.{version.dev}"
    elif version.post is not None:
        pre_release = f"post.{version.post}"
    elif version.local is not None:
        # Versions that distributions have no word for.
        pre_release = version.local
    return SemVersion(major, minor, patch, pre_release)


_SEMVER = _installed_version()
"#;

impl Sdk<'_, '_> {
    /// File of helpers.
    pub(super) fn utilities_file(&self) -> Result<SourceFile, GenerateError> {
        let mut imports = vec!["import asyncio", "import importlib"];
        let is_installed = !self.package.support_pack;
        if is_installed {
            imports.extend(["import importlib.metadata", "import json"]);
        }
        imports.extend([
            "import os",
            "import typing",
            "",
            "import pulumi",
            "import pulumi._utils",
            "import pulumi.runtime",
        ]);
        if is_installed {
            imports.push("from packaging.version import Version as DistributionVersion");
        }
        imports.extend([
            "from pulumi.runtime.sync_await import _sync_await",
            "from semver import VersionInfo as SemVersion",
        ]);
        let mut body = Body::default();
        for line in HEAD.lines() {
            body.line(line);
        }
        self.version_lines(&mut body);
        let url = self.package.download_url;
        body.line("");
        body.line("");
        body.block("def get_plugin_download_url():", |body| {
            body.line(format!(
                "return {}",
                url.map_or("None".to_owned(), names::string)
            ));
        });
        if let Some(parameterization) = &self.package.parameterization {
            self.get_package(parameterization, &mut body);
        }
        Ok(SourceFile {
            path: self.path("", "_utilities.py")?,
            imports: imports.into_iter().map(ToOwned::to_owned).collect(),
            exports: None,
            items: vec![Item::Lines(body.lines)],
        })
    }

    /// Functions for the version in requests: that of the schema, or that of the installed
    /// distribution.
    fn version_lines(&self, body: &mut Body) {
        body.line("");
        body.line("");
        if self.package.support_pack {
            let version = self.package.version.as_ref();
            let version = version.map_or_else(|| "0.0.0".to_owned(), ToString::to_string);
            let version = names::string(&version);
            body.line(format!("_SEMVER = SemVersion.parse({version})"));
        } else {
            for line in INSTALLED_VERSION.lines() {
                body.line(line);
            }
        }
        body.line("_VERSION = None if _SEMVER is None else str(_SEMVER)");
        body.line("");
        body.line("");
        body.block("def get_version():", |body| body.line("return _VERSION"));
    }

    /// Function that registers the package with the engine and returns its reference.
    fn get_package(&self, parameterization: &Parameterization<'_>, body: &mut Body) {
        let url = self.package.download_url.unwrap_or_default();
        body.line("");
        body.line("");
        body.block("async def get_package():", |body| {
            body.block("return await pulumi.runtime.register_package(", |body| {
                let arguments = [
                    ("base_provider_name", parameterization.base_name),
                    ("base_provider_version", parameterization.base_version),
                    ("base_provider_download_url", url),
                    ("package_name", self.package.name),
                ];
                for (name, value) in arguments {
                    body.line(format!("{name}={},", names::string(value)));
                }
                body.line("package_version=get_version(),");
                let parameter = names::string(parameterization.parameter);
                body.line(format!("base64_parameter={parameter},"));
                if parameterization.is_extension {
                    body.line("extension=True,");
                }
            });
            body.line(")");
        });
    }
}
