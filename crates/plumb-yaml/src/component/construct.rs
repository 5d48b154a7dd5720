//! Construction of components.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ecow::EcoString;
use plumb_deploy::request::{RegisterRequest, Reply, Request};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{ProgramContext, ProgramResult};
use plumb_eval::{convert, lift};
use plumb_events::Severity;
use plumb_resource::{PropertyDependencies, Urn};
use plumb_schema::SchemaLoader;
use plumb_value::{PropertyKey, PropertyMap, Value};

use super::{ComponentPackage, schema};
use crate::body::{Body, Owner};
use crate::config::ConfigDecl;
use crate::diagnostic::Diagnostic;
use crate::eval::lift::Lifted;
use crate::eval::value::{Deps, Val};
use crate::program;
use crate::report::{DiagnosticStyle, Reporter};
use crate::settings::{self, Setting};
use crate::syntax::components::ComponentDecl;

/// Request to construct a component.
pub struct Construct<'a> {
    /// Type, name, options and inputs to register; the providers are for its children.
    pub request: RegisterRequest,
    /// Context of the deployment, with the plugin's folder.
    pub info: &'a ProgramContext,
    /// Resource monitor of the caller.
    pub monitor: &'a dyn ResourceMonitor,
    /// Schemas for the component's resources.
    pub schemas: &'a dyn SchemaLoader,
    /// Plumb's version, which components can require.
    pub engine_version: &'a semver::Version,
}

/// A constructed component.
pub struct Constructed {
    /// Its URN.
    pub urn: Urn,
    /// Its outputs.
    pub outputs: PropertyMap,
    /// Resources from which each output was computed.
    pub dependencies: PropertyDependencies,
}

/// Error of a construction.
#[derive(Debug, thiserror::Error)]
pub enum ConstructError {
    /// The package has no such component.
    #[error("there is no component {token} in the package {package}; there are {known}")]
    Unknown {
        /// Requested token.
        token: EcoString,
        /// The package.
        package: EcoString,
        /// Tokens of its components.
        known: String,
    },
    /// The component could not be registered.
    #[error("{0}")]
    Refused(String),
    /// The component could not be evaluated.
    #[error("the component {name} ({token}) could not be constructed:\n{text}")]
    Failed {
        /// Its name.
        name: EcoString,
        /// Its type.
        token: EcoString,
        /// Its errors.
        text: String,
    },
}

impl ComponentPackage {
    /// Registers a component and its children.
    pub async fn construct(&self, construct: Construct<'_>) -> Result<Constructed, ConstructError> {
        let Construct {
            mut request,
            info,
            monitor,
            schemas,
            engine_version,
        } = construct;
        let component = self.find(&request.type_token)?;
        let providers = std::mem::take(&mut request.providers);
        let (name, token) = (request.name.clone(), request.type_token.clone());
        let mut diagnostics = Vec::new();
        let inputs = inputs(component, &request, &mut diagnostics);
        let package_refs = program::register_packages(&self.declarations, monitor)
            .await
            .map_err(refused)?;
        let urn = register(request, monitor).await?;
        let overheard = ErrorCapture::new(monitor);
        let source = &component.body.source;
        let reporter = Reporter::new(&overheard, source, DiagnosticStyle::Excerpt);
        let body = Body {
            syntax: &component.body,
            settings: &inputs,
            info,
            monitor: &overheard,
            reporter: &reporter,
            declarations: &self.declarations,
            package_refs: &package_refs,
            schemas,
            engine_version: Some(engine_version),
            owner: &Owner {
                urn: urn.clone(),
                component: Some(name.clone()),
                providers: Arc::new(providers),
            },
        };
        let problems = diagnostics.into_iter();
        let problems = problems.map(|it| (name.clone(), it)).collect();
        let evaluated = body.evaluate(problems).await;
        let text = match evaluated.result {
            ProgramResult::Finished => return Ok(constructed(urn, &evaluated.outputs)),
            ProgramResult::Bailed => overheard.errors(),
            ProgramResult::Failed { message } => message,
        };
        Err(ConstructError::Failed { name, token, text })
    }

    fn find(&self, token: &EcoString) -> Result<&ComponentDecl, ConstructError> {
        let found = self
            .components
            .iter()
            .find(|component| self.token(component) == token.as_str());
        found.ok_or_else(|| {
            let known = self
                .components
                .iter()
                .map(|component| self.token(component));
            ConstructError::Unknown {
                token: token.clone(),
                package: self.name.clone(),
                known: known.collect::<Vec<_>>().join(", "),
            }
        })
    }
}

async fn register(
    request: RegisterRequest,
    monitor: &dyn ResourceMonitor,
) -> Result<Urn, ConstructError> {
    match monitor.request(Request::Register(Box::new(request))).await {
        Reply::Registered(reply) => Ok(reply.urn),
        reply => Err(refused(program::refused(reply))),
    }
}

fn refused(result: ProgramResult) -> ConstructError {
    ConstructError::Refused(match result {
        ProgramResult::Failed { message } => message,
        ProgramResult::Finished | ProgramResult::Bailed => {
            "resource monitor shut down while constructing a component".to_owned()
        }
    })
}

/// Inputs in the form of settings.
fn inputs(
    component: &ComponentDecl,
    request: &RegisterRequest,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Setting> {
    let declared = component.body.config.iter();
    declared
        .map(|decl| Setting {
            name: decl.key.text.clone(),
            declared: Some(decl.key.clone()),
            value: input(decl, request, diagnostics),
        })
        .collect()
}

fn input(decl: &ConfigDecl, request: &RegisterRequest, diagnostics: &mut Vec<Diagnostic>) -> Val {
    let name = &decl.key.text;
    let given = request.properties.get(name.as_str());
    let value = match (given.filter(|value| !value.is_null()), &decl.default) {
        (Some(value), _) => value_with_dependencies(name, value, request),
        (None, Some(default)) => settings::default_value(default, diagnostics),
        (None, None) => {
            let summary = format!("missing required input '{name}'");
            diagnostics.push(Diagnostic::error(decl.key.span, summary));
            return Val::Poison;
        }
    };
    if let Some(ty) = schema::input_type(decl)
        && !ty.admits(&value)
    {
        let summary = format!("the input '{name}' must be of type {}", ty.name());
        diagnostics.push(Diagnostic::error(decl.key.span, summary));
        return Val::Poison;
    }
    if decl.secret == Some(true) {
        lift::secret(&value, true)
    } else {
        value
    }
}

/// The value, with its dependencies.
fn value_with_dependencies(name: &EcoString, value: &Value, request: &RegisterRequest) -> Val {
    let key = PropertyKey::from(name.clone());
    let told = request.property_dependencies.get(&key);
    let deps: Deps = told.into_iter().flatten().cloned().collect();
    let value = convert::from_value(value);
    if deps.is_empty() {
        return value;
    }
    let lifted = Lifted {
        any: true,
        deps,
        ..Lifted::default()
    };
    lifted.wrap(value)
}

fn constructed(urn: Urn, outputs: &BTreeMap<EcoString, Val>) -> Constructed {
    let dependencies = outputs.iter().map(|(name, value)| {
        let mut deps = Deps::default();
        lift::dependencies(value, &mut deps);
        (PropertyKey::from(name.clone()), deps.to_vec().into())
    });
    Constructed {
        urn,
        dependencies: dependencies.collect(),
        outputs: convert::to_map(outputs, convert::Form::Plain),
    }
}

/// Monitor that holds back errors, because the reply to the caller contains them.
struct ErrorCapture<'m> {
    monitor: &'m dyn ResourceMonitor,
    errors: Mutex<Vec<String>>,
}

impl<'m> ErrorCapture<'m> {
    fn new(monitor: &'m dyn ResourceMonitor) -> Self {
        ErrorCapture {
            monitor,
            errors: Mutex::default(),
        }
    }

    fn errors(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.join("\n")
    }
}

#[async_trait]
impl ResourceMonitor for ErrorCapture<'_> {
    async fn request(&self, request: Request) -> Reply {
        self.monitor.request(request).await
    }

    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        if matches!(severity, Severity::Error | Severity::InfoErr) {
            let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
            errors.push(message.to_owned());
        } else {
            self.monitor.log(severity, urn, message);
        }
    }
}
