//! Index of a module: its exports, and its registration for resource references (`codegen.md` 2.3).

use std::collections::BTreeMap;

use plumb_schema::bound::{Resource, runtime_module_of};

use super::imports::Imports;
use super::model::{Body, Item, SourceFile};
use super::nested::{Child, export_namespaces, import_namespaces};
use super::sdk::{Module, Sdk, quoted};
use crate::{GenerateError, modules};

impl<'p> Sdk<'p, '_> {
    /// Index of the module at `path`.
    pub(super) fn index_file(
        &self,
        path: &str,
        module: &'p Module,
    ) -> Result<SourceFile, GenerateError>
    where
        Self: 'p,
    {
        let folder = Self::folder_of(path);
        let root = Imports::in_folder(&folder).root;
        let mut members = Vec::new();
        let mut body = Body::default();
        self.export_members(path, module, &mut members, &mut body);
        let is_lazy = body
            .lines
            .iter()
            .any(|line| line.text.starts_with("utilities."));
        if !module.enums.is_empty() {
            let below = if folder.is_empty() {
                String::new()
            } else {
                format!("/{folder}")
            };
            body.line(format!("export * from \"{root}types/enums{below}\";"));
        }
        let registration = self.registration(path, module);
        let mut imports = Vec::new();
        if !registration.is_empty() {
            imports.push("import * as pulumi from \"@pulumi/pulumi\";".to_owned());
        }
        if is_lazy || !registration.is_empty() {
            imports.push(format!("import * as utilities from \"{root}utilities\";"));
        }
        let children = self.children(path, module);
        imports.extend(members);
        imports.extend(import_namespaces(&children));
        let namespaces = if children.is_empty() {
            Vec::new()
        } else {
            export_namespaces(&children).lines
        };
        let parts = [body.lines, namespaces, registration].into_iter();
        Ok(SourceFile {
            path: Self::path(&folder, "index.ts")?,
            imports,
            items: parts
                .filter(|lines| !lines.is_empty())
                .map(Item::Lines)
                .collect(),
        })
    }

    fn export_members(
        &self,
        path: &str,
        module: &Module,
        imports: &mut Vec<String>,
        body: &mut Body,
    ) {
        let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for &position in &module.resources {
            let resource = &self.package.resources[position];
            let file = self.file_name(&resource.token);
            let class = Self::class_name(&resource.token);
            let has_state = Self::has_state(resource);
            let lines = self.export_resource(&class, &file, has_state, resource, imports);
            members.insert(file, lines);
        }
        for &position in &module.functions {
            let function = &self.package.functions[position];
            let file = self.file_name(function.token);
            let exports = Self::function_exports(function);
            let mut lines = Vec::new();
            if !exports.types.is_empty() {
                lines.push(format!(
                    "export {{ {} }} from \"./{file}\";",
                    exports.types.join(", ")
                ));
            }
            for value in exports.values {
                lines.push(format!(
                    "export const {value}: typeof import(\"./{file}\").{value} = null as any;"
                ));
                lines.push(lazy_load(&value, &file));
            }
            members.insert(file, lines);
        }
        if let Some(provider) = self.package.provider.as_ref().filter(|_| path.is_empty()) {
            let lines = self.export_resource("Provider", "provider", false, provider, imports);
            members.insert("provider".to_owned(), lines);
        }
        for file in &module.written {
            let lines = members.entry(file.clone()).or_default();
            lines.push(format!("export * from \"./{file}\";"));
        }
        for line in members.into_values().flatten() {
            body.line(line);
        }
    }

    /// Exports of a resource. Resources are loaded on first use. Those with method types are loaded at once, because the
    /// namespace with these types is exported only with the class itself.
    fn export_resource(
        &self,
        class: &str,
        file: &str,
        has_state: bool,
        resource: &Resource<'_>,
        imports: &mut Vec<String>,
    ) -> Vec<String> {
        if self.has_method_types(resource) {
            imports.push(format!("import {{ {class} }} from \"./{file}\";"));
            return vec![format!("export * from \"./{file}\";")];
        }
        let state = if has_state {
            format!(", {class}State")
        } else {
            String::new()
        };
        vec![
            format!("export {{ {class}Args{state} }} from \"./{file}\";"),
            format!("export type {class} = import(\"./{file}\").{class};"),
            format!("export const {class}: typeof import(\"./{file}\").{class} = null as any;"),
            lazy_load(class, file),
        ]
    }

    fn has_method_types(&self, resource: &Resource<'_>) -> bool {
        let mut imports = Imports::default();
        let mut methods = resource.methods.iter();
        methods.any(|method| !self.method_types(method, &mut imports).is_empty())
    }

    fn children(&self, path: &str, module: &Module) -> Vec<Child> {
        let mut children: Vec<Child> = module
            .children
            .iter()
            .filter(|child| self.has_members(child))
            .map(|child| Child::of(&Self::folder_of(child)))
            .collect();
        if path.is_empty() {
            children.extend(self.has_config().then(|| Child::of("config")));
            children.extend(self.has_types().then(|| Child::of("types")));
        }
        children.sort_by(|one, other| one.exported.cmp(&other.exported));
        children.dedup_by(|one, other| one.exported == other.exported);
        children
    }

    /// Whether a module or one of its descendants has an index.
    pub(super) fn has_members(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut modules = self.modules.iter();
        modules.any(|(known, module)| {
            let is_here = known == path || known.starts_with(&below);
            is_here
                && !(module.resources.is_empty()
                    && module.functions.is_empty()
                    && module.enums.is_empty()
                    && module.written.is_empty())
        })
    }

    /// Registration of the function that constructs resources from references.
    fn registration(&self, path: &str, module: &Module) -> Vec<super::model::Line> {
        let mut by_module: BTreeMap<(&str, &str), Vec<&Resource<'_>>> = BTreeMap::new();
        for &position in &module.resources {
            let resource = &self.package.resources[position];
            let package = modules::registered_package(self.package, &resource.token);
            let key = (package, runtime_module_of(&resource.token));
            by_module.entry(key).or_default().push(resource);
        }
        let mut body = Body::default();
        if !by_module.is_empty() {
            Self::module_registration(&by_module, &mut body);
        }
        if path.is_empty() && self.package.provider.is_some() {
            self.package_registration(&mut body);
        }
        body.lines
    }

    fn module_registration(
        by_module: &BTreeMap<(&str, &str), Vec<&Resource<'_>>>,
        body: &mut Body,
    ) {
        body.block("const _module = {", "};", |body| {
            body.line("version: utilities.getVersion(),");
            let open = "construct: (name: string, type: string, urn: string): pulumi.Resource => {";
            body.block(open, "},", |body| {
                body.block("switch (type) {", "}", |body| {
                    for resource in by_module.values().flatten() {
                        let class = Self::class_name(&resource.token);
                        body.line(format!("case {}:", quoted(&resource.token)));
                        body.line(format!(
                            "    return new {class}(name, <any>undefined, {{ urn }});"
                        ));
                    }
                    body.line("default:");
                    body.line("    throw new Error(`unknown resource type ${type}`);");
                });
            });
        });
        for (package, module) in by_module.keys() {
            body.line(format!(
                "pulumi.runtime.registerResourceModule({}, {}, _module);",
                quoted(package),
                quoted(module)
            ));
        }
    }

    fn package_registration(&self, body: &mut Body) {
        let open = format!(
            "pulumi.runtime.registerResourcePackage({}, {{",
            quoted(self.package.name)
        );
        body.block(open, "});", |body| {
            body.line("version: utilities.getVersion(),");
            let open = "constructProvider: (name: string, type: string, urn: string): pulumi.ProviderResource => {";
            body.block(open, "},", |body| {
                let token = self.package.provider_token();
                body.block(format!("if (type !== {}) {{", quoted(&token)), "}", |body| {
                    body.line("throw new Error(`unknown provider type ${type}`);");
                });
                body.line("return new Provider(name, <any>undefined, { urn });");
            });
        });
    }
}

fn lazy_load(name: &str, file: &str) -> String {
    format!("utilities.lazyLoad(exports, [\"{name}\"], () => require(\"./{file}\"));")
}
