//! Helpers that the classes of an SDK share (`codegen.md` 6, 8).

use plumb_schema::bound::Parameterization;

use super::imports::Imports;
use super::names;
use super::sdk::{Sdk, split};
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, SourceFile};

/// Readers of environment variables: method suffix, type, and the core SDK's name for it.
const READERS: [(&str, &str, &str); 4] = [
    ("", "java.lang.String", ""),
    ("Boolean", "java.lang.Boolean", "Boolean"),
    ("Integer", "java.lang.Integer", "Integer"),
    ("Double", "java.lang.Double", "Double"),
];

impl Sdk<'_, '_> {
    /// Class of helpers.
    pub(super) fn utilities_file(&self) -> Result<SourceFile, GenerateError> {
        let class = self.utilities_class();
        let (package, name) = split(&class);
        let mut imports = Imports::of(package, name);
        let mut members: Vec<Member> = READERS
            .iter()
            .map(|(suffix, ty, word)| environment_reader(suffix, ty, word, &mut imports))
            .collect();
        members.push(self.with_version("InvokeOptions", "", &mut imports));
        let dependencies = "options == null ? null : options.getDependsOn()";
        members.push(self.with_version("InvokeOutputOptions", dependencies, &mut imports));
        members.push(Member::method(
            "public static java.lang.String getVersion()",
            Body::of("return version;"),
        ));
        members.push(Member::line(
            "private static final java.lang.String version = readVersion();",
        ));
        members.push(self.read_version(&mut imports));
        if let Some(parameterization) = &self.package.parameterization {
            members.extend(self.package_reference(parameterization, &mut imports));
        }
        Ok(SourceFile {
            path: Self::path(&class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: Doc::default(),
                attributes: Vec::new(),
                header: "public class Utilities".to_owned(),
                members,
            }],
        })
    }

    /// Method that fills in the package's version if the options have none.
    fn with_version(&self, class: &str, last: &str, imports: &mut Imports) -> Member {
        let options = imports.name(&format!("com.pulumi.deployment.{class}"));
        let nullable = imports.name("javax.annotation.Nullable");
        let mut body = Body::default();
        body.block(
            "if (options != null && options.getVersion().isPresent())",
            |body| body.line("return options;"),
        );
        let own = self.package.download_url.map(names::string);
        let own = own.as_deref().unwrap_or("null");
        body.line(format!("return new {options}("));
        body.deeper(|body| {
            body.line("options == null ? null : options.getParent().orElse(null),");
            body.line("options == null ? null : options.getProvider().orElse(null),");
            body.line("getVersion(),");
            let comma = if last.is_empty() { "" } else { "," };
            body.line(format!(
                "options == null ? {own} : options.getPluginDownloadURL().orElse({own}){comma}"
            ));
            if !last.is_empty() {
                body.line(last);
            }
        });
        body.line(");");
        Member::method(
            format!("public static {options} withVersion(@{nullable} {options} options)"),
            body,
        )
    }

    /// Method that reads the version from the resource file next to the classes.
    fn read_version(&self, imports: &mut Imports) -> Member {
        let path = names::string(&format!("{}/version.txt", self.root.replace('.', "/")));
        let exception = imports.name("java.io.IOException");
        let wrapped = imports.name("java.io.UncheckedIOException");
        let charsets = imports.name("java.nio.charset.StandardCharsets");
        let mut body = Body::default();
        body.line(format!("var path = {path};"));
        let open = "try (var file = Utilities.class.getClassLoader().getResourceAsStream(path))";
        body.block(open, |body| {
            body.block("if (file == null)", |body| {
                body.line(
                    "throw new java.lang.IllegalStateException(\"the resource '\" + path + \"' is not on the class path\");",
                );
            });
            body.line(format!(
                "return new java.lang.String(file.readAllBytes(), {charsets}.UTF_8).trim();"
            ));
        });
        body.block(format!("catch ({exception} problem)"), |body| {
            body.line(format!("throw new {wrapped}(problem);"));
        });
        Member::method("private static java.lang.String readVersion()", body)
    }

    /// Members that register the package with the engine once per deployment and return its
    /// reference.
    fn package_reference(
        &self,
        parameterization: &Parameterization<'_>,
        imports: &mut Imports,
    ) -> Vec<Member> {
        let future = imports.name("java.util.concurrent.CompletableFuture");
        let deployment = imports.name("com.pulumi.deployment.Deployment");
        let url = self.package.download_url.map(names::string);
        let mut arguments = vec![
            names::string(parameterization.base_name),
            names::string(parameterization.base_version),
            url.unwrap_or_else(|| "\"\"".to_owned()),
            names::string(self.package.name),
            "getVersion()".to_owned(),
            names::string(parameterization.parameter),
        ];
        if parameterization.is_extension {
            arguments.push("true".to_owned());
        }
        let arguments = arguments.join(", ");
        vec![Member::method(
            format!("public static {future}<java.lang.String> getPackageRef()"),
            Body::of(format!(
                "return {deployment}.getInstance().registerPackage({arguments});"
            )),
        )]
    }
}

fn environment_reader(suffix: &str, ty: &str, word: &str, imports: &mut Imports) -> Member {
    let optional = imports.name("java.util.Optional");
    let environment = imports.name("com.pulumi.core.internal.Environment");
    let mut body = Body::default();
    body.block("for (var name : names)", |body| {
        body.line(format!(
            "var value = {environment}.get{word}EnvironmentVariable(name);"
        ));
        body.block("if (value.isValue())", |body| {
            body.line(format!("return {optional}.of(value.value());"));
        });
    });
    body.line(format!("return {optional}.empty();"));
    Member::method(
        format!("public static {optional}<{ty}> getEnv{suffix}(java.lang.String... names)"),
        body,
    )
}
