//! Helper package of an SDK (`codegen.md` 4.5).

use plumb_schema::bound::Parameterization;

use super::imports::PULUMI;
use super::layout;
use super::model::{Body, Doc, Function, Item, SourceFile};
use super::names;
use super::sdk::Sdk;
use super::settings::Generics;
use crate::{FilePath, GenerateError};

const HELPERS: &str = include_str!("helpers.go.txt");

const INPUTS: &str = include_str!("inputs.go.txt");

const RPC: &str = "github.com/pulumi/pulumi/sdk/v3/proto/go";

impl Sdk<'_, '_> {
    fn shared_path(&self, file: &str) -> Result<FilePath, GenerateError> {
        let folder = self.layout.shared_folder_of(self.settings.internal_module);
        FilePath::new(&layout::joined(&folder, file))
    }

    /// Helpers for generic types; `None` if the package has none.
    pub(super) fn inputs_file(&self) -> Result<Option<SourceFile>, GenerateError> {
        if self.settings.generics == Generics::None {
            return Ok(None);
        }
        let own = layout::joined(&self.layout.base, self.settings.internal_module);
        let mut imports = self.imports_at(own);
        for path in ["context", "reflect"] {
            imports.standard(path);
        }
        imports.pulumi();
        imports.plain(&format!("{PULUMI}x"));
        let lines = INPUTS.lines().map(ToOwned::to_owned).collect();
        Ok(Some(SourceFile {
            path: self.shared_path("pulumiInputs.go")?,
            doc: Doc::default(),
            package: self.internal_package(),
            imports: imports.lines(),
            items: vec![Item::Lines {
                doc: Doc::default(),
                lines,
            }],
        }))
    }

    fn internal_package(&self) -> String {
        names::package(self.settings.internal_module)
    }

    pub(super) fn utilities_file(&self) -> Result<SourceFile, GenerateError> {
        let own = layout::joined(&self.layout.base, self.settings.internal_module);
        let mut imports = self.imports_at(own);
        for path in ["fmt", "os", "reflect", "regexp", "strconv", "strings"] {
            imports.standard(path);
        }
        imports.plain("github.com/blang/semver");
        imports.pulumi();
        imports.plain("github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals");
        let mut items = vec![Item::Lines {
            doc: Doc::default(),
            lines: self.helpers().lines().map(ToOwned::to_owned).collect(),
        }];
        if let Some(parameterization) = &self.package.parameterization {
            imports.standard("encoding/base64");
            imports.named(RPC, "pulumirpc".to_owned());
            items.push(self.package_ref(parameterization));
        }
        items.push(self.default_options("Resource"));
        items.push(self.default_options("Invoke"));
        Ok(SourceFile {
            path: self.shared_path("pulumiUtilities.go")?,
            doc: Doc::default(),
            package: self.internal_package(),
            imports: imports.lines(),
            items,
        })
    }

    fn helpers(&self) -> String {
        let name: String = self.package.name.chars().map(escaped).collect();
        let pattern = format!("^.*/pulumi-{name}/sdk(/v\\d+)?");
        let call = if self.is_parameterized() {
            "\tref, err := PkgGetPackageRef(ctx)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\
             \tout, err := ctx.CallPackage(tok, args, output, self, ref, opts...)"
        } else {
            "\tout, err := ctx.Call(tok, args, output, self, opts...)"
        };
        HELPERS
            .replace("PATTERN", &names::string(&pattern))
            .replace("CALL", call)
    }

    /// Function that registers the package with the engine once, and returns its reference.
    fn package_ref(&self, parameterization: &Parameterization<'_>) -> Item {
        let version = self
            .package
            .version
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let key = names::string(&format!("{}:{version}", self.package.name));
        let kind = if parameterization.is_extension {
            "Extension"
        } else {
            "Parameterization"
        };
        let mut body = Body::default();
        let open = format!(
            "return ctx.GetOrRegisterPackageRef({key}, func() (*pulumirpc.RegisterPackageRequest, error) {{"
        );
        body.block(open, "})", |body| {
            let parameter = names::string(parameterization.parameter);
            body.line(format!(
                "parameter, err := base64.StdEncoding.DecodeString({parameter})"
            ));
            body.return_error("nil, err");
            body.blank();
            body.block(
                "return &pulumirpc.RegisterPackageRequest{",
                "}, nil",
                |body| {
                    let url = self.package.download_url.unwrap_or_default();
                    body.line(format!(
                        "Name:        {},",
                        names::string(parameterization.base_name)
                    ));
                    body.line(format!(
                        "Version:     {},",
                        names::string(parameterization.base_version)
                    ));
                    body.line(format!("DownloadUrl: {},", names::string(url)));
                    body.block(
                        format!("{kind}: &pulumirpc.Parameterization{{"),
                        "},",
                        |body| {
                            body.line(format!("Name:    {},", names::string(self.package.name)));
                            body.line(format!("Version: {},", names::string(&version)));
                            body.line("Value:   parameter,");
                        },
                    );
                },
            );
        });
        Item::Function(Function {
            doc: Doc::of(["PkgGetPackageRef gives what the engine calls this package.".to_owned()]),
            signature: vec![
                "func PkgGetPackageRef(ctx *pulumi.Context) (string, error)".to_owned(),
            ],
            body: body.lines,
        })
    }

    fn default_options(&self, what: &str) -> Item {
        let option = format!("pulumi.{what}Option");
        let mut body = Body::default();
        body.line(format!("defaults := []{option}{{}}"));
        let version = match &self.package.version {
            Some(version) if self.has_version() => {
                format!("semver.MustParse({})", names::string(&version.to_string()))
            }
            _ => "SdkVersion".to_owned(),
        };
        body.line(format!("version := {version}"));
        body.block("if !version.Equals(semver.Version{}) {", "}", |body| {
            body.line("defaults = append(defaults, pulumi.Version(version.String()))");
        });
        if let Some(url) = self.package.download_url {
            let url = names::string(url);
            body.line(format!(
                "defaults = append(defaults, pulumi.PluginDownloadURL({url}))"
            ));
        }
        body.line("return append(defaults, opts...)");
        Item::Function(Function {
            doc: Doc::of([format!(
                "Pkg{what}DefaultOpts puts the options of this package before those of users."
            )]),
            signature: vec![format!(
                "func Pkg{what}DefaultOpts(opts []{option}) []{option}"
            )],
            body: body.lines,
        })
    }

    /// Whether the version is part of the generated code.
    pub(super) fn has_version(&self) -> bool {
        self.is_whole || self.settings.respect_schema_version
    }

    pub(super) fn version_file(&self) -> Result<SourceFile, GenerateError> {
        let own = layout::joined(&self.layout.base, self.settings.internal_module);
        let mut imports = self.imports_at(own);
        imports.plain("github.com/blang/semver");
        let url = names::string(self.package.download_url.unwrap_or_default());
        Ok(SourceFile {
            path: self.shared_path("pulumiVersion.go")?,
            doc: Doc::default(),
            package: self.internal_package(),
            imports: imports.lines(),
            items: vec![Item::Lines {
                doc: Doc::default(),
                lines: vec![
                    "var SdkVersion semver.Version = semver.Version{}".to_owned(),
                    format!("var pluginDownloadURL string = {url}"),
                ],
            }],
        })
    }
}

/// A character that a regular expression matches literally.
fn escaped(char: char) -> char {
    if char.is_alphanumeric() || matches!(char, '-' | '_') {
        char
    } else {
        '.'
    }
}
