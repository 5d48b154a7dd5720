//! Helpers used by generated code (`codegen.md` 2.9).

use plumb_schema::bound::Parameterization;

use super::model::{Body, Item, SourceFile};
use super::sdk::{Sdk, quoted};
use crate::GenerateError;

const HELPERS: &str = r#"export function getEnv(...vars: string[]): string | undefined {
    for (const name of vars) {
        const value = process.env[name];
        if (value) {
            return value;
        }
    }
    return undefined;
}

export function getEnvBoolean(...vars: string[]): boolean | undefined {
    const text = getEnv(...vars);
    if (text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text)) {
        return true;
    }
    if (text !== undefined && ["0", "f", "F", "false", "FALSE", "False"].includes(text)) {
        return false;
    }
    return undefined;
}

export function getEnvNumber(...vars: string[]): number | undefined {
    const text = getEnv(...vars);
    const value = text === undefined ? NaN : parseFloat(text);
    return isNaN(value) ? undefined : value;
}

export function getVersion(): string {
    const version: string = require("./package.json").version;
    return version.startsWith("v") ? version.slice(1) : version;
}

/** @internal */
export function lazyLoad(exports: any, names: string[], load: () => any) {
    for (const name of names) {
        Object.defineProperty(exports, name, {
            enumerable: true,
            get: () => load()[name],
        });
    }
}

/** @internal */
export async function callAsync<T>(
    token: string,
    args: pulumi.Inputs,
    resource?: pulumi.Resource,
    options?: { property?: string },
): Promise<T> {
    const output: any = pulumi.runtime.call<T>(token, args, resourceCALL_PACKAGE);
    const value: any = await output.promise(/*withUnknowns*/ true);
    const isKnown: boolean = await output.isKnown;
    const isSecret: boolean = await output.isSecret;
    const dependencies: Set<pulumi.Resource> = await output.allResources();
    if (!isKnown) {
        throw new Error(`${token} gave a value that is not known yet`);
    }
    if (isSecret) {
        throw new Error(`${token} gave a secret, which its plain result cannot be`);
    }
    for (const dependency of dependencies) {
        // A method always depends on its own resource.
        if (dependency !== resource) {
            throw new Error(`${token} gave a value that depends on other resources`);
        }
    }
    return options?.property ? value[options.property] : value;
}"#;

impl Sdk<'_, '_> {
    /// File of helpers.
    pub(super) fn utilities_file(&self) -> Result<SourceFile, GenerateError> {
        let mut body = Body::default();
        let package = if self.is_parameterized() {
            ", getPackage()"
        } else {
            ""
        };
        for line in HELPERS.replace("CALL_PACKAGE", package).lines() {
            body.line(line);
        }
        body.line("");
        self.defaults(&mut body);
        if let Some(parameterization) = &self.package.parameterization {
            body.line("");
            self.get_package(parameterization, &mut body);
        }
        Ok(SourceFile {
            path: Self::path("", "utilities.ts")?,
            imports: vec!["import * as pulumi from \"@pulumi/pulumi\";".to_owned()],
            items: vec![Item::Lines(body.lines)],
        })
    }

    fn defaults(&self, body: &mut Body) {
        let url = match self.package.download_url {
            Some(url) => format!(", pluginDownloadURL: {}", quoted(url)),
            None => String::new(),
        };
        body.line("/** @internal */");
        body.block(
            "export function resourceOptsDefaults(): any {",
            "}",
            |body| {
                body.line(format!("return {{ version: getVersion(){url} }};"));
            },
        );
    }

    /// Function that registers the package with the engine once, and returns its reference.
    fn get_package(&self, parameterization: &Parameterization<'_>, body: &mut Body) {
        let url = self.package.download_url.map_or("undefined".into(), quoted);
        body.line("let packageReference: Promise<string | undefined> | undefined;");
        body.line("");
        body.line("/** @internal */");
        let open = "export function getPackage(): Promise<string | undefined> {";
        body.block(open, "}", |body| {
            body.block(
                "packageReference ??= pulumi.runtime.registerPackage({",
                "} as any);",
                |body| {
                    body.line(format!(
                        "baseProviderName: {},",
                        quoted(parameterization.base_name)
                    ));
                    body.line(format!(
                        "baseProviderVersion: {},",
                        quoted(parameterization.base_version)
                    ));
                    body.line(format!("baseProviderDownloadUrl: {url},"));
                    body.line(format!("packageName: {},", quoted(self.package.name)));
                    body.line("packageVersion: getVersion(),");
                    body.line(format!(
                        "base64Parameter: {},",
                        quoted(parameterization.parameter)
                    ));
                    if parameterization.is_extension {
                        body.line("extension: true,");
                    }
                },
            );
            body.line("return packageReference;");
        });
    }
}
