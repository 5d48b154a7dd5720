//! Helpers that the classes of an SDK share (`codegen.md` 5.2, 8).

use plumb_schema::bound::Parameterization;

use super::names;
use super::sdk::Sdk;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, SourceFile};

const HELPERS: &str = r"foreach (var name in names)
{
    var value = global::System.Environment.GetEnvironmentVariable(name);
    if (value != null)
    {
        return value;
    }
}
return null;";

const BOOLEAN: &str = r#"switch (GetEnv(names))
{
    case "1": case "t": case "T": case "true": case "TRUE": case "True":
        return true;
    case "0": case "f": case "F": case "false": case "FALSE": case "False":
        return false;
    default:
        return null;
}"#;

impl Sdk<'_, '_> {
    /// Name of the attribute that marks resources.
    fn type_attribute_name(&self) -> String {
        let package = &self.root.package;
        let last = package.rsplit('.').next().unwrap_or(package);
        format!("{last}ResourceTypeAttribute")
    }

    /// Fully qualified attribute that marks resources.
    pub(super) fn type_attribute(&self) -> String {
        format!(
            "global::{}.{}",
            self.root.package,
            self.type_attribute_name()
        )
    }

    /// File of helpers.
    pub(super) fn utilities_file(&self) -> Result<SourceFile, GenerateError> {
        let mut members = vec![
            Member::method(
                "public static string? GetEnv(params string[] names)",
                lines(HELPERS),
            ),
            Member::method(
                "public static bool? GetEnvBoolean(params string[] names)",
                lines(BOOLEAN),
            ),
            Member::line(
                "public static int? GetEnvInt32(params string[] names) => int.TryParse(GetEnv(names), out int value) ? (int?)value : null;",
            ),
            Member::line(
                "public static double? GetEnvDouble(params string[] names) => double.TryParse(GetEnv(names), global::System.Globalization.NumberStyles.Float, global::System.Globalization.CultureInfo.InvariantCulture, out double value) ? (double?)value : null;",
            ),
        ];
        for options in ["InvokeOptions", "InvokeOutputOptions"] {
            members.push(self.with_defaults(options));
        }
        members.push(Member::line(
            "public static string Version { get; } = ReadVersion();",
        ));
        members.push(self.read_version());
        if let Some(parameterization) = &self.package.parameterization {
            members.push(self.package_request(parameterization));
        }
        let utilities = Class {
            doc: Doc::default(),
            attributes: Vec::new(),
            header: "static class Utilities".to_owned(),
            members,
        };
        let name = self.type_attribute_name();
        let attribute = Class {
            doc: Doc::default(),
            attributes: Vec::new(),
            header: format!("internal sealed class {name} : global::Pulumi.ResourceTypeAttribute"),
            members: vec![Member::method(
                format!("public {name}(string type) : base(type, Utilities.Version)"),
                Body::default(),
            )],
        };
        let path = crate::FilePath::new("Utilities.cs")?;
        Ok(Self::file(
            path,
            self.root.package.clone(),
            vec![utilities, attribute],
        ))
    }

    /// Extension method that fills in the package's version if the options have none.
    fn with_defaults(&self, class: &str) -> Member {
        let options = format!("global::Pulumi.{class}");
        let mut body = Body::of(format!("var result = options ?? new {options}();"));
        body.line("result.Version = options?.Version ?? Version;");
        if let Some(url) = self.package.download_url {
            let url = names::string(url);
            body.line(format!(
                "result.PluginDownloadURL = options?.PluginDownloadURL ?? {url};"
            ));
        }
        body.line("return result;");
        Member::method(
            format!("public static {options} WithDefaults(this {options}? options)"),
            body,
        )
    }

    /// Method that reads the version from the embedded `version.txt`. Older builds write the provider's name
    /// on a line before it.
    fn read_version(&self) -> Member {
        let name = names::string(&format!("{}.version.txt", self.root.package));
        let mut body = Body::default();
        body.line("var assembly = typeof(Utilities).Assembly;");
        body.line(format!(
            "using var stream = assembly.GetManifestResourceStream({name});"
        ));
        body.line("using var reader = new global::System.IO.StreamReader(stream ?? throw new global::System.NotSupportedException(\"Missing embedded version.txt file\"));");
        body.line("var parts = reader.ReadToEnd().Trim().Split('\\n');");
        body.line("return parts[parts.Length - 1].Trim();");
        Member::method("private static string ReadVersion()", body)
    }

    /// Member with the request that registers a parameterized package with the engine.
    fn package_request(&self, parameterization: &Parameterization<'_>) -> Member {
        let kind = if parameterization.is_extension {
            "extension"
        } else {
            "parameterization"
        };
        let url = names::string(self.package.download_url.unwrap_or_default());
        let request = "global::Pulumi.RegisterPackageRequest";
        let mut body = Body::of(format!("return new {request}("));
        body.deeper(|body| {
            body.line(format!(
                "name: {},",
                names::string(parameterization.base_name)
            ));
            body.line(format!(
                "version: {},",
                names::string(parameterization.base_version)
            ));
            body.line(format!("downloadUrl: {url},"));
            body.line(format!("{kind}: new {request}.PackageParameterization("));
            body.deeper(|body| {
                body.line(format!("name: {},", names::string(self.package.name)));
                body.line("version: Version,");
                let value = names::string(parameterization.parameter);
                body.line(format!(
                    "value: global::System.Convert.FromBase64String({value})"
                ));
            });
            body.line(")");
        });
        body.line(");");
        Member::method(
            format!("public static {request} PackageParameterization()"),
            body,
        )
    }
}

fn lines(text: &str) -> Body {
    let mut body = Body::default();
    for line in text.lines() {
        body.line(line);
    }
    body
}
