//! Vocabulary of YAML, whose programs use the names of the schema, and the neutral form of types.

use plumb_codegen::vocabulary::{
    Direction, FunctionForms, Holder, ResourceAt, Vocabulary, written_member,
};
use plumb_schema::bound::{
    External, Function, Package, Property, Returns, Type, TypeKind, TypeShape, member_of,
};

/// Vocabulary of YAML programs.
pub(crate) struct Yaml<'p, 'd>(pub(crate) &'p Package<'d>);

impl Yaml<'_, '_> {
    fn token(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => self.0.provider_token(),
            ResourceAt::Position(position) => {
                short_token(self.0, &self.0.resources[position].token)
            }
        }
    }
}

/// Token in the short form of YAML programs, without the module's file part.
pub(crate) fn short_token(package: &Package<'_>, token: &str) -> String {
    let module = package.module_of(token);
    let owner = token.split(':').next().unwrap_or(package.name);
    if module.is_empty() {
        format!("{owner}:{}", member_of(token))
    } else {
        format!("{owner}:{module}:{}", member_of(token))
    }
}

impl Vocabulary for Yaml<'_, '_> {
    fn module(&self, token: &str) -> String {
        let module = self.0.module_of(token);
        if module.is_empty() {
            self.0.name.to_owned()
        } else {
            format!("{}:{module}", self.0.name)
        }
    }

    fn resource(&self, resource: ResourceAt) -> String {
        self.token(resource)
    }

    fn function(&self, position: usize) -> String {
        short_token(self.0, self.0.functions[position].token)
    }

    fn method_name(&self, name: &str) -> String {
        name.to_owned()
    }

    fn properties(&self, properties: &[&Property<'_>], _holder: Holder<'_>) -> Vec<String> {
        properties.iter().map(|it| it.name.to_owned()).collect()
    }

    fn type_text(&self, ty: &Type<'_>, _direction: Direction) -> String {
        neutral_type(self.0, ty)
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        let TypeShape::Enum(definition) = &self.0.types[position].shape else {
            return Vec::new();
        };
        let values = definition.values.iter();
        // YAML programs write the value itself.
        values
            .map(|value| {
                let value = plumb_schema::bound::EnumValue {
                    name: None,
                    ..value.clone()
                };
                Some(written_member(&value).into_owned())
            })
            .collect()
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        let token = self.token(resource);
        vec![format!(
            "type: {token}\nproperties: # inputs of the resource\noptions: # options of the resource"
        )]
    }

    fn lookup(&self, position: usize) -> Option<String> {
        let token = self.token(ResourceAt::Position(position));
        let has_state = self.0.resources[position]
            .state_inputs
            .as_ref()
            .is_some_and(|state| !state.properties.is_empty());
        let state = if has_state {
            "\n  state: # what helps to find it"
        } else {
            ""
        };
        Some(format!("type: {token}\nget:\n  id: # its ID{state}"))
    }

    fn forms(&self, position: usize) -> FunctionForms {
        let function: &Function<'_> = &self.0.functions[position];
        if matches!(function.returns, Returns::Nothing) {
            return FunctionForms::default();
        }
        let token = self.function(position);
        FunctionForms {
            plain: None,
            output: Some(format!(
                "fn::invoke:\n  function: {token}\n  arguments: # arguments of the function"
            )),
        }
    }

    fn method(&self, _resource: ResourceAt, _index: usize) -> Option<String> {
        None
    }
}

/// A type in the neutral form of schemas.
pub(crate) fn neutral_type(package: &Package<'_>, ty: &Type<'_>) -> String {
    match &ty.kind {
        TypeKind::Primitive(primitive) => primitive.name().to_owned(),
        TypeKind::Any | TypeKind::Invalid => "any".to_owned(),
        TypeKind::Json => "JSON".to_owned(),
        TypeKind::Asset => "asset | archive".to_owned(),
        TypeKind::Archive => "archive".to_owned(),
        TypeKind::Array(element) => format!("list<{}>", neutral_type(package, element)),
        TypeKind::Map(element) => format!("map<{}>", neutral_type(package, element)),
        TypeKind::Union(union) => {
            let mut elements: Vec<String> = Vec::new();
            for element in &union.elements {
                let text = neutral_type(package, element);
                if !elements.contains(&text) {
                    elements.push(text);
                }
            }
            elements.join(" | ")
        }
        TypeKind::Defined(position) => member_of(package.types[*position].token).to_owned(),
        TypeKind::Resource(position) => member_of(&package.resources[*position].token).to_owned(),
        TypeKind::Provider => "Provider".to_owned(),
        TypeKind::Opaque(opaque) => opaque
            .underlying
            .map_or_else(|| member_of(&opaque.token), |primitive| primitive.name())
            .to_owned(),
        TypeKind::External(external) => external_name(package, external),
    }
}

fn external_name(package: &Package<'_>, external: &External) -> String {
    if let (Some(primitive), None) = (external.underlying, external.enum_type) {
        return primitive.name().to_owned();
    }
    let owner = &package.externals[external.package].name;
    format!("{owner}.{}", member_of(&external.token))
}
