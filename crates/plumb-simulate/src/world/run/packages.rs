//! Packages that the program of a run registers, and their plugins.

use ecow::EcoString;
use plumb_deploy::InstanceId;
use plumb_deploy::request::{RegisterPackageRequest, Request};
use plumb_resource::provider::{Parameterization, ProviderCall};
use plumb_resource::{ResourceId, Urn};
use plumb_state::Extension;

use super::{Asked, Run};
use crate::story::{Package, Program, Verb};
use crate::world::Violation;

/// Requests that register the packages of a program, each of them twice.
pub(super) fn registrations(program: &Program) -> impl Iterator<Item = (Asked, Request)> {
    let twice = program.packages.iter().chain(&program.packages);
    twice.map(|package| (Asked::Package(package.name.clone()), registration(package)))
}

fn registration(package: &Package) -> Request {
    Request::RegisterPackage(Box::new(RegisterPackageRequest {
        name: package.plugin.as_str().into(),
        version: package.version.as_str().into(),
        download_url: EcoString::new(),
        checksums: std::collections::BTreeMap::new(),
        parameterization: package.parameterization(),
        extension: package.extension(),
    }))
}

impl Run<'_> {
    /// Records the reference of a package. Equal requests have equal references, and others different ones.
    pub(super) fn package_registered(
        &mut self,
        name: String,
        reference: EcoString,
    ) -> Result<(), Violation> {
        let packages = &self.operation.program.packages;
        let content = |name: &String| {
            let package = packages.iter().find(|package| package.name == *name);
            package.map(|package| match package.extension() {
                Some(extension) => (None, Some(extension)),
                None => (Some(registration(package)), None),
            })
        };
        for (other, known) in &self.trace.packages {
            if (content(other) == content(&name)) != (*known == reference) {
                let what = format!("{name} is known as {reference}, {other} as {known}");
                return Err(Violation::new("packages", what));
            }
        }
        self.trace.packages.insert(name, reference);
        Ok(())
    }

    /// Checks that a resource of a package is handled by a plugin with its parameterization and its extension.
    pub(super) fn check_package(
        &self,
        instance: InstanceId,
        call: &ProviderCall,
    ) -> Result<(), Violation> {
        let (urn, deleted) = match call {
            ProviderCall::Check(it) => (&it.urn, None),
            ProviderCall::Create(it) => (&it.urn, None),
            ProviderCall::Update(it) => (&it.urn, None),
            ProviderCall::Delete(it) => (&it.urn, Some(&it.id)),
            _ => return Ok(()),
        };
        let is_wanted = deleted.is_none();
        if is_wanted && !self.is_plugin_of(instance, urn) {
            let what = format!(
                "{call:?} goes to {:?}",
                self.plugins.spec_of_program(instance)
            );
            return Err(Violation::new("packages", what));
        }
        // A destroy uses the package in the program, if the program registers the resource.
        let is_said = is_wanted || self.operation.verb == Verb::Destroy;
        let mut extensions = Vec::new();
        extensions.extend(is_said.then(|| self.extension_wanted(urn)));
        if let Some(id) = deleted {
            extensions.extend(self.extensions_recorded(id));
        }
        let is_there = |extension: &Option<Parameterization>| {
            let needed = extension.as_ref();
            needed.is_none_or(|it| self.plugins.has_extension(instance, it))
        };
        // An object may have several URNs; the extension of one of them is sufficient.
        if extensions.is_empty() || extensions.iter().any(is_there) {
            return Ok(());
        }
        let what = format!("{call:?} goes to a plugin without {extensions:?}");
        Err(Violation::new("packages", what))
    }

    /// Whether a process was started with the package in the program, for its provider or for a resource of its default
    /// provider. A process started for the old state continues if its provider is unchanged (PROV-28).
    fn is_plugin_of(&self, instance: InstanceId, urn: &Urn) -> bool {
        let (program, flags) = (&self.operation.program, &self.operation.flags);
        let is_whole = flags.targets.is_empty()
            && flags.excludes.is_empty()
            && flags.target_snippets.is_empty()
            && self.operation.verb == Verb::Up;
        let server = self.plugins.served_by(instance);
        let (Some(server), Some(spec)) = (server, self.plugins.spec_of_program(instance)) else {
            return true;
        };
        let is_default = server.urn().is_default_provider();
        let named = if is_default {
            urn.name()
        } else {
            server.urn().name()
        };
        let package = program.get(named).and_then(|res| program.package(res));
        // The default provider of a parent is accepted in any version.
        let is_told = |package: &&Package| is_whole && !(is_default && package.parameter.is_none());
        let Some(package) = package.filter(is_told) else {
            return true;
        };
        let version = spec.version.as_ref().map(ToString::to_string);
        spec.name == package.plugin
            && version.as_deref() == Some(package.version.as_str())
            && spec.parameterization == package.parameterization()
    }

    /// Extension of a resource in the program.
    fn extension_wanted(&self, urn: &Urn) -> Option<Parameterization> {
        let program = &self.operation.program;
        let res = program.get(urn.name())?;
        let is_it = program.urn_of(res) == *urn;
        program.package(res).filter(|_| is_it)?.extension()
    }

    /// Extensions in the state for an object, under any URN.
    fn extensions_recorded(&self, id: &ResourceId) -> Vec<Option<Parameterization>> {
        let base = self.journal.base();
        let states = base.resources.iter().filter(|state| state.id == *id);
        let extension = |reference: &EcoString| base.extensions.get(reference).map(parameter);
        states
            .map(|state| state.extension_ref.as_ref().and_then(extension))
            .collect()
    }
}

fn parameter(extension: &Extension) -> Parameterization {
    Parameterization {
        name: extension.name.clone(),
        version: extension.version.clone(),
        value: extension.value.clone(),
    }
}
