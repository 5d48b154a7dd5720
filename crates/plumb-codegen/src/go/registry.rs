//! Registration of modules, so that the core SDK can construct resources from references: `init.go`
//! (`codegen.md` 4.5).

use std::collections::BTreeSet;

use plumb_schema::bound::runtime_module_of;

use super::forms::Declarations;
use super::model::{Body, Doc, Field, SourceFile, Struct};
use super::names;
use super::sdk::{Module, Sdk};
use crate::GenerateError;

const SEMVER: &str = "github.com/blang/semver";

impl Sdk<'_, '_> {
    pub(super) fn init_file(
        &self,
        module: &str,
        members: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        let has_provider = module.is_empty() && self.package.provider.is_some();
        if members.resources.is_empty() && !has_provider {
            return Ok(None);
        }
        let mut file = Declarations::new(self.imports(module), &self.settings);
        file.imports.standard("fmt");
        file.imports.plain(SEMVER);
        file.imports.pulumi();
        if module.is_empty() {
            // Packages that every program with this one must include.
            for path in &self.settings.internal_dependencies {
                file.imports.named(path, "_".to_owned());
            }
        }
        let internal = file.imports.internal();
        file.registrations
            .push(format!("version, err := {internal}.PkgVersion()"));
        file.registrations.extend(
            [
                "if err != nil {",
                "\tversion = semver.Version{Major: 1}",
                "}",
            ]
            .map(str::to_owned),
        );
        if !members.resources.is_empty() {
            self.module_type(members, &mut file);
        }
        if has_provider {
            self.package_type(&mut file);
        }
        Ok(Some(file.file(
            self.path(module, "init.go")?,
            self.layout.package_of(module),
        )))
    }

    fn module_type(&self, members: &Module, file: &mut Declarations<'_>) {
        versioned("module", "m", file);
        let mut body = Body::default();
        body.line("switch typ {");
        for &position in &members.resources {
            let token = names::string(&self.package.resources[position].token);
            body.line(format!("case {token}:"));
            let name = &self.naming.resources[position];
            body.indented(|body| body.line(format!("r = &{name}{{}}")));
        }
        body.line("default:");
        body.indented(|body| {
            body.line("return nil, fmt.Errorf(\"unknown resource type: %s\", typ)");
        });
        body.line("}");
        body.blank();
        body.line("err = ctx.RegisterResource(typ, name, nil, r, pulumi.URN_(urn))");
        body.line("return");
        let signature = "func (m *module) Construct(ctx *pulumi.Context, name, typ, urn string) (r pulumi.Resource, err error)";
        file.function(Doc::default(), signature.to_owned(), body);
        let resources = members
            .resources
            .iter()
            .map(|position| &self.package.resources[*position].token);
        let modules: BTreeSet<&str> = resources.map(|token| runtime_module_of(token)).collect();
        for module in modules {
            register("Module", &[self.package.name, module], "module", file);
        }
    }

    fn package_type(&self, file: &mut Declarations<'_>) {
        versioned("pkg", "p", file);
        let token = names::string(&self.package.provider_token());
        let mut body = Body::default();
        body.block(format!("if typ != {token} {{"), "}", |body| {
            body.line("return nil, fmt.Errorf(\"unknown provider type: %s\", typ)");
        });
        body.blank();
        body.line("r := &Provider{}");
        body.line("err := ctx.RegisterResource(typ, name, nil, r, pulumi.URN_(urn))");
        body.line("return r, err");
        let signature = "func (p *pkg) ConstructProvider(ctx *pulumi.Context, name, typ, urn string) (pulumi.ProviderResource, error)";
        file.function(Doc::default(), signature.to_owned(), body);
        register("Package", &[self.package.name], "pkg", file);
    }
}

/// A type with a method that returns the version of the package.
fn versioned(name: &str, receiver: &str, file: &mut Declarations<'_>) {
    file.structure(Struct {
        doc: Doc::default(),
        name: name.to_owned(),
        base: None,
        fields: vec![Field {
            doc: Doc::default(),
            name: "version".to_owned(),
            ty: "semver.Version".to_owned(),
            tag: String::new(),
        }],
    });
    file.returns(
        format!("func ({receiver} *{name}) Version() semver.Version"),
        format!("{receiver}.version"),
    );
}

fn register(what: &str, words: &[&str], ty: &str, file: &mut Declarations<'_>) {
    file.registrations
        .push(format!("pulumi.RegisterResource{what}("));
    for word in words {
        file.registrations
            .push(format!("\t{},", names::string(word)));
    }
    file.registrations.push(format!("\t&{ty}{{version}},"));
    file.registrations.push(")".to_owned());
}
