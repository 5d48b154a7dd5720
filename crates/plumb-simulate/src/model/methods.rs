//! Methods: the called provider, its arguments, and the result for the program (`engine.md` 2.7).

use plumb_resource::provider::CallRequest;
use plumb_resource::{PropertyDependencies, ProviderRef, TypeToken, Urn};
use plumb_value::{PropertyMap, Value};

use super::{Model, illegal};
use crate::story::{CallKind, Method, Prop, Res, Source};
use crate::world::methods::{self, Arguments};
use crate::world::{Answered, Violation};

impl<'a> Model<'a> {
    /// Handles the call of a method on a provider.
    pub(super) fn called(&mut self, name: &str) -> Result<(), Violation> {
        let method = self.method(name)?;
        let Arguments {
            values,
            dependencies,
        } = self.sent(method);
        let owner = self.owner_of(method);
        let expected = CallRequest {
            token: TypeToken::new(method.token(owner.map(|res| res.type_name.as_str()))),
            dependencies: gathered(&values, dependencies),
            args: std::sync::Arc::new(values),
        };
        let Some(called) = self.witness.calls.get(name) else {
            return Err(illegal(format!("nobody saw the call of {name}")));
        };
        if called.request != expected {
            let what = format!(
                "{:?} is called, the model says {expected:?}",
                called.request
            );
            return Err(Violation::new("model: methods", what));
        }
        let reference = self.provider_of_method(method);
        let is_right = match (&called.server, &reference) {
            (Some(server), Some(reference)) => self.is_same_provider(server, reference),
            _ => false,
        };
        if !is_right || self.is_config_unknown(reference.as_ref()) {
            let what = format!(
                "{name} is called on {:?}, the model says {reference:?}",
                called.server
            );
            return Err(Violation::new("model: methods", what));
        }
        self.note_way_of(method);
        if self.faults.of(CallKind::Call, name).is_none() {
            let answer = methods::answer(&expected);
            let answered = Answered {
                dependencies: gathered(&answer.result, answer.dependencies),
                result: std::sync::Arc::new(plain(&answer.result)),
            };
            self.prediction.results.insert(name.to_owned(), answered);
        }
        Ok(())
    }

    /// Handles a method in a preview whose provider cannot be configured yet: the result is unknown (PULUMI-29).
    pub(super) fn called_nobody(&mut self, name: &str) -> Result<(), Violation> {
        let method = self.method(name)?;
        let reference = self.provider_of_method(method);
        if !self.is_config_unknown(reference.as_ref()) {
            return Err(illegal(format!("{name} has a provider to ask")));
        }
        self.coverage.reach("PULUMI-29");
        let results = &mut self.prediction.results;
        results.insert(name.to_owned(), Answered::default());
        Ok(())
    }

    /// Handles a refused call, which has no provider.
    pub(super) fn call_refused(&mut self, name: &str) -> Result<(), Violation> {
        let method = self.method(name)?;
        let reference = self.provider_of_method(method);
        if reference.is_some_and(|reference| self.provider_is_there(&reference)) {
            return Err(illegal(format!("{name} is refused, and has a provider")));
        }
        Ok(())
    }

    fn method(&mut self, name: &str) -> Result<&'a Method, Violation> {
        self.source = None;
        let method = self.program.method(name);
        method.ok_or_else(|| illegal(format!("nobody calls {name}")))
    }

    fn owner_of(&self, method: &Method) -> Option<&'a Res> {
        method.of.as_deref().and_then(|name| self.program.get(name))
    }

    fn sent(&self, method: &Method) -> Arguments {
        let is_component = self.owner_of(method).is_some_and(Res::is_component);
        let own = method.of.as_ref().and_then(|name| self.answer_of(name));
        let own = own.map(|own| {
            let id = own.id_in_reference(is_component, self.is_preview());
            (&own.urn, id)
        });
        methods::arguments(
            method,
            own.as_ref().map(|(urn, id)| (*urn, id)),
            |prop| self.value(None, prop),
            |prop| prop.from().map(|name| self.urn_of_name(name)),
        )
    }

    /// Provider of a method. Methods of a provider resource run on that provider; others on the provider given by the
    /// program, on that of their resource, or on the default provider of their package. A resource that targets leave out
    /// has the provider that the program gives it now, although its state has the former one.
    fn provider_of_method(&self, method: &Method) -> Option<ProviderRef> {
        let owner = self.owner_of(method);
        if let Some(owner) = owner.filter(|owner| owner.is_provider()) {
            return Some(self.reference(&owner.name));
        }
        // Components have no provider of their own.
        let managed = owner.filter(|owner| owner.is_managed());
        let given = managed.and_then(|owner| owner.provider.as_ref());
        if let Some(name) = method.provider.as_ref().or(given) {
            return Some(self.reference(name));
        }
        let urn = managed.map(|owner| self.urn_of_name(&owner.name));
        let known = urn.and_then(|urn| self.lineages.get(&urn)?.provider.clone());
        known.or_else(|| self.default_for(owner))
    }

    /// Whether a process started for one reference serves another, because it is the same provider under a former URN.
    pub(super) fn is_same_provider(&self, server: &ProviderRef, reference: &ProviderRef) -> bool {
        let former = self.former.get(reference.urn());
        let is_same_urn = server.urn() == reference.urn() || former == Some(server.urn());
        is_same_urn && server.id() == reference.id()
    }

    fn note_way_of(&mut self, method: &Method) {
        self.coverage
            .reach(if method.wrapped { "COMP-07" } else { "COMP-08" });
        self.coverage.reach(match method.does.as_str() {
            "tells" => "COMP-06",
            _ => "COMP-05",
        });
        if method.of.is_some() {
            self.coverage.reach("COMP-15");
        }
        let mut resources = self.program.resources.iter();
        if resources.any(|res| res.by.as_ref() == Some(&method.name)) {
            self.coverage.reach("COMP-09");
        }
    }

    /// Resources that a value depends on.
    pub(super) fn urns_of(&self, prop: &Prop) -> Vec<Urn> {
        match &prop.source {
            Source::Text(_) => Vec::new(),
            Source::Output { name, .. } => vec![self.urn_of_name(name)],
            Source::Answer { method, key } => {
                let answered = self.prediction.results.get(method);
                answered.map(|it| it.urns(key)).unwrap_or_default()
            }
        }
    }
}

/// Explicit dependencies, with those of the values themselves.
fn gathered(values: &PropertyMap, mut told: PropertyDependencies) -> PropertyDependencies {
    for (key, value) in values {
        let Value::Output(output) = value else {
            continue;
        };
        let urns = output.dependencies.iter();
        for urn in urns.filter_map(|text| Urn::parse(text).ok()) {
            let known = told.get_or_default(key.clone());
            if !known.contains(&urn) {
                known.push(urn);
            }
        }
    }
    told
}

/// Values as a program gets them, without dependencies.
fn plain(values: &PropertyMap) -> PropertyMap {
    let plain = |value: &Value| match value {
        Value::Output(output) => {
            let inner = output.value.clone().unwrap_or(Value::UNKNOWN);
            if output.secret {
                Value::secret(inner)
            } else {
                inner
            }
        }
        other => other.clone(),
    };
    let all = values.iter();
    all.map(|(key, value)| (key.clone(), plain(value)))
        .collect()
}
