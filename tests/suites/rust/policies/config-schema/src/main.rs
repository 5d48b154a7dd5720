//! A rule whose settings the engine checks.

use plumb_policy::prelude::*;

#[derive(Clone, Debug, plumb::ObjectType)]
struct Settings {
    value: bool,
    names: Vec<String>,
}

fn main() -> std::process::ExitCode {
    let schema = value!({
        "value": { "type": "boolean" },
        "names": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
    });
    Pack::new("config-schema", "3.0.0")
        .policy(
            Policy::resource("validator", "Verifies property matches config")
                .of("simple:index:Resource")
                .config_schema(schema, &["value", "names"])
                .check(|resource, report| {
                    let settings: Settings = resource.config()?;
                    let is_named = settings.names.iter().any(|it| it == resource.name());
                    let value = resource.get::<bool>("value")?;
                    if let Some(value) = value.filter(|it| is_named && *it != settings.value) {
                        report.violation(format!("Property was {value}"));
                    }
                    Ok(())
                }),
        )
        .serve()
}
