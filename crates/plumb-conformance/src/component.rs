//! Checks of a component, which is constructed in a preview, and of methods.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_plugin::ConstructContext;
use plumb_resource::provider::{CallRequest, ConstructRequest, ConstructResponse, ProviderError};
use plumb_resource::{Goal, PropertyDependencies, TypeToken, Urn};
use plumb_schema::Resource;
use plumb_value::{PropertyMap, ReferenceId, ResourceReference, Value};

use crate::conform::{self, Completeness};
use crate::finding::{Findings, Rule};
use crate::monitor::{Monitor, PROJECT, Registration, STACK};
use crate::{Target, function, sample, urn};

/// Name of the component.
const NAME: &str = "checked";

/// Checks a component and its methods.
pub(crate) async fn check(
    target: Target<'_>,
    token: &str,
    component: &Resource,
    findings: &mut Findings,
) {
    let monitor = match Monitor::start().await {
        Ok(monitor) => monitor,
        Err(error) => {
            return no_port(Rule::Construct, &error, findings);
        }
    };
    let given = target.options.inputs.get(token);
    let inputs = given.map_or_else(
        || sample::required(target.schema, &component.input_properties),
        |inputs| inputs.first.clone(),
    );
    let mut construction = Construction {
        target,
        resource: component,
        token,
        inputs: Arc::new(inputs),
        is_made_up: given.is_none(),
        monitor,
        findings,
    };
    let Some(urn) = construction.constructed().await else {
        return;
    };
    construction.with_options(&urn).await;
    construction.called(&urn, ReferenceId::None).await;
}

/// Checks the methods of a resource that is not created yet.
pub(crate) async fn check_methods(
    target: Target<'_>,
    token: &str,
    resource: &Resource,
    findings: &mut Findings,
) {
    if resource.methods.is_empty() {
        return;
    }
    match Monitor::start().await {
        Ok(monitor) => {
            let mut methods = Construction {
                target,
                resource,
                token,
                inputs: Arc::default(),
                is_made_up: true,
                monitor,
                findings,
            };
            methods.called(&urn(token), ReferenceId::Unknown).await;
        }
        Err(error) => no_port(Rule::Call, &error, findings),
    }
}

fn no_port(rule: Rule, error: &std::io::Error, findings: &mut Findings) {
    findings.skip(rule, format!("no port could be opened: {error}"));
}

struct Construction<'a> {
    target: Target<'a>,
    resource: &'a Resource,
    token: &'a str,
    inputs: Arc<PropertyMap>,
    is_made_up: bool,
    monitor: Monitor,
    findings: &'a mut Findings,
}

impl Construction<'_> {
    fn context(&self) -> ConstructContext {
        ConstructContext {
            project: PROJECT.to_owned(),
            stack: STACK.to_owned(),
            organization: "organization".to_owned(),
            config: Arc::default(),
            config_secret_keys: Arc::default(),
            dry_run: true,
            parallel: 4,
            monitor_endpoint: self.monitor.address.clone(),
        }
    }

    async fn construct(&self, goal: Goal) -> Result<ConstructResponse, ProviderError> {
        let request = ConstructRequest {
            goal,
            inputs: self.inputs.clone(),
            providers: BTreeMap::new(),
        };
        let context = self.context();
        self.target.provider.construct(request, &context).await
    }

    /// Constructs the component, which must register itself, and returns its URN.
    async fn constructed(&mut self) -> Option<Urn> {
        let goal = Goal::bare(TypeToken::new(self.token), NAME.into());
        let answer = match self.construct(goal).await {
            Ok(answer) => answer,
            Err(error) => {
                self.failed(Rule::Construct, "Construct", &error, false);
                return None;
            }
        };
        let registrations = self.monitor.registrations();
        let own = registrations.iter().find(|it| it.urn == answer.urn);
        let problem = problem_of_own(own, self.token).or_else(|| {
            let declared = &self.resource.properties;
            conform::problem(
                self.target.schema,
                declared,
                &answer.outputs,
                Completeness::Part,
            )
        });
        let is_kept = self.findings.judge(Rule::Construct, problem);
        self.parented(&registrations);
        is_kept.then_some(answer.urn)
    }

    /// Every resource of the component is its child, or a child of one.
    fn parented(&mut self, registrations: &[Registration]) {
        let mut others = registrations
            .iter()
            .filter(|it| it.urn.type_text() != self.token || it.urn.name() != NAME);
        let orphan = others.find(|it| it.parent.is_empty() && !is_provider(it));
        let text = |it: &Registration| format!("{} has no parent", it.urn);
        self.findings.judge(Rule::Children, orphan.map(text));
    }

    /// Constructs a component with a parent, protected, which its registration must say.
    async fn with_options(&mut self, parent: &Urn) {
        let goal = Goal {
            parent: Some(parent.clone()),
            protect: Some(true),
            ..Goal::bare(TypeToken::new(self.token), format!("{NAME}-again").into())
        };
        let answer = self.construct(goal).await;
        let Some(answer) = self
            .findings
            .answer(Rule::ConstructOptions, "Construct", answer)
        else {
            return;
        };
        let registrations = self.monitor.registrations();
        let own = registrations.iter().find(|it| it.urn == answer.urn);
        let problem = match own {
            None => Some("the component does not register itself".to_owned()),
            Some(own) if own.parent != parent.to_string() => {
                Some("the component registers itself without its parent".to_owned())
            }
            Some(own) if !own.is_protected => {
                Some("the component registers itself without the option protect".to_owned())
            }
            Some(_) => None,
        };
        self.findings.judge(Rule::ConstructOptions, problem);
    }

    async fn called(&mut self, urn: &Urn, id: ReferenceId) {
        let resource = self.resource;
        for (name, token) in &resource.methods {
            self.call(name, token, reference(urn, id.clone())).await;
        }
    }

    /// Calls a method of the resource that `this` refers to.
    async fn call(&mut self, name: &str, token: &str, this: Value) {
        let schema = self.target.schema;
        let Some(Ok(method)) = schema.function(token) else {
            let text = format!("the schema of the method {name} is broken");
            self.findings.judge(Rule::Call, Some(text));
            return;
        };
        let (mut args, is_made_up) = function::arguments(self.target, token, &method);
        args.insert("__self__", this);
        let request = CallRequest {
            token: TypeToken::new(token),
            args: Arc::new(args),
            dependencies: PropertyDependencies::new(),
        };
        let context = self.context();
        match self.target.provider.call(request, &context).await {
            Ok(answer) if answer.failures.is_empty() => {
                let problem =
                    function::problem(schema, &method, &answer.result, Completeness::Part);
                let text = |problem| format!("{name}: {problem}");
                self.findings.judge(Rule::Call, problem.map(text));
            }
            Ok(answer) => {
                let reasons = function::reasons(&answer.failures);
                self.findings.skip(Rule::Call, format!("{name}: {reasons}"));
            }
            Err(error) => self.failed(Rule::Call, name, &error, is_made_up),
        }
    }

    /// A failure counts, unless it may come from something that a check does not have, or from inputs that are made up:
    /// those of the component, or those of the call itself.
    fn failed(&mut self, rule: Rule, call: &str, error: &ProviderError, is_made_up: bool) {
        if let Some(token) = self.monitor.refused() {
            let reason = format!("{call} needs {token}, which is a function of a provider");
            self.findings.skip(rule, reason);
        } else if self.is_made_up || is_made_up {
            self.findings.skip(rule, error.message.as_str());
        } else {
            let text = format!("{call} failed: {}", error.message);
            self.findings.judge(rule, Some(text));
        }
    }
}

fn problem_of_own(own: Option<&Registration>, token: &str) -> Option<String> {
    match own {
        None => Some("Construct returns a URN that was not registered".to_owned()),
        Some(own) if own.urn.type_text() != token || own.urn.name() != NAME => {
            Some(format!("the component registers itself as {}", own.urn))
        }
        Some(own) if own.is_custom => {
            Some("the component registers itself as a custom resource".to_owned())
        }
        Some(_) => None,
    }
}

fn is_provider(registration: &Registration) -> bool {
    registration
        .urn
        .type_text()
        .starts_with("pulumi:providers:")
}

fn reference(urn: &Urn, id: ReferenceId) -> Value {
    Value::Resource(Arc::new(ResourceReference {
        urn: urn.to_string().into(),
        id,
        name: None,
        type_token: None,
        package_version: "".into(),
    }))
}
