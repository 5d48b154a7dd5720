//! References in descriptions: `{{% ref #/resources/pkg:mod:Name %}}` (`schema.md` 14).

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Binder;
use crate::bound::{
    Function, Object, Package, Property, Resource, Returns, TypeDefinition, TypeShape, member_of,
};
use crate::problem::At;

/// Path to a description.
type Way<'a> = &'a [&'a str];

impl<'d> Binder<'d, '_> {
    pub(super) fn check_docs(&mut self, package: &Package<'d>) {
        self.check_text(package, package.about.description, &["description"]);
        for property in &package.config {
            self.check_property_docs(package, property, &["config", "variables"]);
        }
        if let Some(provider) = &package.provider {
            self.check_resource_docs(package, provider, &["provider"]);
        }
        for resource in &package.resources {
            self.check_resource_docs(package, resource, &["resources", &resource.token]);
        }
        for function in &package.functions {
            self.check_function_docs(package, function);
        }
        for definition in &package.types {
            let way = ["types", definition.token];
            match &definition.shape {
                TypeShape::Object(object) => self.check_object_docs(package, object, &way),
                TypeShape::Enum(definition) => {
                    self.check_text(package, definition.description, &way);
                    for value in &definition.values {
                        self.check_text(package, value.description, &way);
                        self.check_text(package, value.deprecation, &way);
                    }
                }
            }
        }
    }

    fn check_resource_docs(
        &mut self,
        package: &Package<'d>,
        resource: &Resource<'d>,
        way: Way<'_>,
    ) {
        self.check_object_docs(package, &resource.outputs, way);
        self.check_text(
            package,
            resource.deprecation,
            &join(way, "deprecationMessage"),
        );
        for property in &resource.inputs {
            self.check_property_docs(package, property, &join(way, "inputProperties"));
        }
        if let Some(inputs) = &resource.state_inputs {
            self.check_object_docs(package, inputs, &join(way, "stateInputs"));
        }
    }

    fn check_function_docs(&mut self, package: &Package<'d>, function: &Function<'d>) {
        let way = ["functions", function.token];
        self.check_text(package, function.description, &join(&way, "description"));
        self.check_text(
            package,
            function.deprecation,
            &join(&way, "deprecationMessage"),
        );
        if let Some(inputs) = &function.inputs {
            self.check_object_docs(package, inputs, &join(&way, "inputs"));
        }
        if let Returns::Object(object) = &function.returns {
            self.check_object_docs(package, object, &join(&way, "outputs"));
        }
    }

    fn check_object_docs(&mut self, package: &Package<'d>, object: &Object<'d>, way: Way<'_>) {
        self.check_text(package, object.description, &join(way, "description"));
        for property in &object.properties {
            self.check_property_docs(package, property, &join(way, "properties"));
        }
    }

    fn check_property_docs(
        &mut self,
        package: &Package<'d>,
        property: &Property<'d>,
        way: Way<'_>,
    ) {
        if property.description.is_none() && property.deprecation.is_none() {
            return;
        }
        let way = join(way, property.name);
        self.check_text(package, property.description, &join(&way, "description"));
        self.check_text(
            package,
            property.deprecation,
            &join(&way, "deprecationMessage"),
        );
    }

    fn check_text(&mut self, package: &Package<'d>, text: Option<&'d str>, way: Way<'_>) {
        let Some(text) = text.filter(|text| text.contains("{{% ref")) else {
            return;
        };
        for destination in destinations(text) {
            if let Err(message) = check_destination(package, destination) {
                self.report_doc(way, message);
            }
        }
    }

    fn report_doc(&mut self, way: Way<'_>, message: String) {
        let Some((step, rest)) = way.split_first() else {
            return;
        };
        // The offset is that of the member, because descriptions have no offsets of their own.
        let (offset, known) = match *step {
            "types" => (self.sections.types.offset, Some(&self.sections.types)),
            "resources" => (
                self.sections.resources.offset,
                Some(&self.sections.resources),
            ),
            "functions" => (
                self.sections.functions.offset,
                Some(&self.sections.functions),
            ),
            _ => (0, None),
        };
        let offset = rest
            .first()
            .and_then(|token| Some(known?.members[known?.position(token)?].offset))
            .unwrap_or(offset);
        let root = At::ROOT;
        report_below(
            &mut self.problems,
            &root.key(step, offset),
            offset,
            rest,
            message,
        );
    }
}

fn report_below(
    problems: &mut crate::problem::Problems,
    at: &At<'_>,
    offset: u32,
    way: Way<'_>,
    message: String,
) {
    match way.split_first() {
        None => problems.error(at, message),
        Some((step, rest)) => {
            report_below(problems, &at.key(step, offset), offset, rest, message);
        }
    }
}

fn join<'a>(way: Way<'a>, step: &'a str) -> Vec<&'a str> {
    let mut way = way.to_vec();
    way.push(step);
    way
}

/// Destinations of the references in a text.
pub(crate) fn destinations(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, behind) = rest.split_once("{{% ref")?;
        let (destination, behind) = behind.split_once("%}}")?;
        rest = behind;
        Some(destination.trim())
    })
}

fn check_destination(package: &Package<'_>, destination: &str) -> Result<(), String> {
    let invalid = || format!("invalid doc ref '{destination}'");
    let (path, fragment) = destination.split_once('#').ok_or_else(invalid)?;
    if !path.is_empty() {
        let own = path.trim_start_matches('/').split('/').next();
        let has_form = path.ends_with("/schema.json");
        // A reference into another package is accepted without looking for its destination.
        return if has_form && own != Some(package.name) {
            Ok(())
        } else if has_form {
            check_destination(package, &format!("#{fragment}"))
        } else {
            Err(invalid())
        };
    }
    let steps: Vec<&str> = fragment.trim_start_matches('/').split('/').collect();
    let [section, token, ref below @ ..] = steps[..] else {
        return Err(invalid());
    };
    let token = crate::reference::percent_decode(token);
    let missing = |kind: &str| {
        let name = package.name;
        format!("reference to {kind} '{token}' not found in package {name}")
    };
    let found = match section {
        "resources" => {
            let found = find(&package.resources, |it| {
                it.token.cmp(&Cow::Borrowed(&*token))
            });
            let provider = package
                .provider
                .iter()
                .find(|it| it.token == token.as_str());
            in_resource(
                found.or(provider).ok_or_else(|| missing("resource"))?,
                below,
            )
        }
        "functions" => {
            let found = find(&package.functions, |it| it.token.cmp(&*token));
            in_function(found.ok_or_else(|| missing("function"))?, below)
        }
        "types" => {
            let found = find(&package.types, |it| it.token.cmp(&*token));
            in_type(found.ok_or_else(|| missing("type"))?, below)
        }
        _ => None,
    };
    found.ok_or_else(invalid)?
}

fn in_type(definition: &TypeDefinition<'_>, below: &[&str]) -> Option<Result<(), String>> {
    let token = definition.token;
    Some(match (below, &definition.shape) {
        ([], _) => Ok(()),
        (["properties", name], TypeShape::Object(object)) => {
            has(&object.properties, name, "property", token)
        }
        (["properties", _], TypeShape::Enum(_)) => {
            Err(format!("type '{token}' is not an object type"))
        }
        _ => return None,
    })
}

/// The member of a sorted list for which `compare` returns equal.
fn find<T>(members: &[T], compare: impl FnMut(&T) -> Ordering) -> Option<&T> {
    let position = members.binary_search_by(compare).ok()?;
    members.get(position)
}

/// Result of looking up a reference in a resource; `None` if the reference has an invalid form.
fn in_resource(resource: &Resource<'_>, below: &[&str]) -> Option<Result<(), String>> {
    let name = member_of(&resource.token);
    Some(match below {
        [] => Ok(()),
        ["properties", property] => has(&resource.outputs.properties, property, "property", name),
        ["inputProperties", property] => has(&resource.inputs, property, "input property", name),
        _ => return None,
    })
}

fn in_function(function: &Function<'_>, below: &[&str]) -> Option<Result<(), String>> {
    let name = member_of(function.token);
    let lacks = |what: &str| Err(format!("function '{}' has no {what}", function.token));
    Some(match below {
        [] => Ok(()),
        ["inputs", "properties", property] => match &function.inputs {
            Some(inputs) => has(&inputs.properties, property, "input property", name),
            None => lacks("inputs"),
        },
        ["outputs", "properties", property] => match &function.returns {
            Returns::Object(object) => has(&object.properties, property, "output property", name),
            _ => lacks("outputs"),
        },
        _ => return None,
    })
}

fn has(properties: &[Property<'_>], name: &str, kind: &str, owner: &str) -> Result<(), String> {
    let name = crate::reference::percent_decode(name);
    if properties.iter().any(|property| property.name == name) {
        Ok(())
    } else {
        Err(format!("{kind} '{name}' not found on '{owner}'"))
    }
}
