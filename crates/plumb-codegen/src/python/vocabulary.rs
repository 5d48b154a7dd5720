//! Names and signatures of Python for the documentation.

use std::fmt::Write as _;

use plumb_schema::bound::{Package, Property, Type, member_of};

use super::imports::Imports;
use super::model::{Callable, Item, Parameter};
use super::names;
use super::sdk::Sdk;
use super::types::{Form, Place, Shape};
use super::values::unique_names;
use crate::vocabulary::{
    self, Direction, FunctionForms, Holder, ResourceAt, Vocabulary, without_inputs,
};
use crate::{FileMap, GenerateError};

/// Vocabulary of a package.
pub(crate) fn of<'p>(package: &'p Package<'_>) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    Ok(Box::new(Sdk::new(package, &FileMap::default())?))
}

impl Vocabulary for Sdk<'_, '_> {
    fn module(&self, token: &str) -> String {
        self.import_name(&self.module_of(token))
    }

    fn resource(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => "Provider".to_owned(),
            ResourceAt::Position(position) => {
                Self::resource_class(&self.package.resources[position].token)
            }
        }
    }

    fn function(&self, position: usize) -> String {
        names::snake(&names::class(member_of(
            self.package.functions[position].token,
        )))
    }

    fn method_name(&self, name: &str) -> String {
        names::snake(name)
    }

    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String> {
        let name = match holder {
            Holder::Inputs(_) | Holder::State(_) | Holder::Arguments(_) => names::parameter,
            _ => names::snake,
        };
        unique_names(properties.iter().map(|it| it.name), name)
    }

    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String {
        let shape = match direction {
            Direction::Input => Shape::Input,
            Direction::Plain => Shape::Plain,
            Direction::Output => Shape::Output,
        };
        let mut imports = Imports::in_module("");
        let mut place = Place {
            module: "",
            imports: &mut imports,
        };
        readable(&self.level(ty, shape, Form::Class, &mut place))
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        vocabulary::enum_members(self.package, position, names::class, names::enum_member)
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        let name = self.resource(resource);
        let Some(found) = resource.of(self.package) else {
            return Vec::new();
        };
        let module = self.module_of(&found.token);
        let args = self.args_class(&module, &name);
        let args = args.unwrap_or_else(|_| format!("{name}Args"));
        let is_needed = found.inputs.iter().any(|property| property.required);
        let args = if is_needed {
            format!("args: {args}")
        } else {
            format!("args: Optional[{args}] = None")
        };
        let inline = parameters(&self.constructor_parameters(found));
        vec![
            format!("{name}({inline})"),
            format!(
                "{name}(resource_name: str, {args}, opts: Optional[pulumi.ResourceOptions] = None)"
            ),
        ]
    }

    fn lookup(&self, position: usize) -> Option<String> {
        let resource = &self.package.resources[position];
        if resource.is_component {
            return None;
        }
        let name = self.resource(ResourceAt::Position(position));
        let state = resource.state_inputs.iter().flat_map(|it| &it.properties);
        let state: Vec<&Property<'_>> = state.collect();
        let names = self.properties(&state, Holder::State(position));
        let mut parameters = String::new();
        for (property, name) in state.iter().zip(names) {
            let ty = self.type_text(&without_inputs(&property.ty), Direction::Input);
            let _ = write!(parameters, ", {name}: Optional[{ty}] = None");
        }
        Some(format!(
            "{name}.get(resource_name: str, id: pulumi.Input[str], opts: Optional[pulumi.ResourceOptions] = None{parameters}) -> {name}"
        ))
    }

    fn forms(&self, position: usize) -> FunctionForms {
        let [plain, output] = self.function_variants(&self.package.functions[position]);
        FunctionForms {
            plain: plain.as_ref().map(signature),
            output: output.as_ref().map(signature),
        }
    }

    fn method(&self, resource: ResourceAt, index: usize) -> Option<String> {
        let class = self.resource(resource);
        let method = resource.of(self.package)?.methods.get(index)?;
        let mut imports = Imports::in_module("");
        let mut place = Place {
            module: "",
            imports: &mut imports,
        };
        let items = Sdk::method(self, &class, method, &mut place);
        items.iter().rev().find_map(|item| match item {
            Item::Function(callable) => Some(signature(callable)),
            _ => None,
        })
    }
}

fn signature(callable: &Callable) -> String {
    let own = callable.parameters.first.replace("__self__", "self");
    let rest = parameters(&callable.parameters.rest);
    let separator = if own.is_empty() || rest.is_empty() {
        ""
    } else {
        ", "
    };
    let returns = callable.returns.as_deref().map(readable);
    let returns = returns.map(|ty| format!(" -> {ty}")).unwrap_or_default();
    format!("def {}({own}{separator}{rest}){returns}", callable.name)
}

fn parameters(list: &[Parameter]) -> String {
    let text = |parameter: &Parameter| {
        let colon = if parameter.ty.is_empty() { "" } else { ": " };
        let ty = readable(&parameter.ty);
        format!("{}{colon}{ty}{}", parameter.name, parameter.default)
    };
    list.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The type without the qualifiers that only files of the SDK need.
fn readable(ty: &str) -> String {
    let mut text = String::with_capacity(ty.len());
    for (index, part) in ty.replace("_builtins.", "").split('\'').enumerate() {
        // Every second part is in quotes, and is the path of a class.
        if index % 2 == 0 {
            text.push_str(part);
            continue;
        }
        let part = part.strip_prefix("_root_").unwrap_or(part);
        match part.rsplit_once('.') {
            Some((path, class)) if path.starts_with("_resource_") => text.push_str(class),
            Some(_) => text.push_str(part.strip_prefix('_').unwrap_or(part)),
            None => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn types_are_readable() {
        for (ty, expected) in [
            ("_builtins.str", "str"),
            ("Sequence['_ec2.BoxArgs']", "Sequence[ec2.BoxArgs]"),
            ("Optional['_root_outputs.Box']", "Optional[outputs.Box]"),
            ("'_resource_box.Box'", "Box"),
            ("Union['_3dArgs', _builtins.int]", "Union[_3dArgs, int]"),
        ] {
            assert_eq!(readable(ty), expected);
        }
    }
}
