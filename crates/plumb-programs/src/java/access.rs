//! Accesses of members, and calls of provider functions in Java.

use plumb_codegen::programs::{java_function, java_object_property, java_resource_property};
use plumb_schema::{ReturnType, TypeDefinition};

use super::JAVA;
use super::collections::{Setter, builder};
use super::convert::lambda;
use super::expression::Want;
use super::helpers::Helper;
use super::printer::{Form, Printer, Value};
use super::types::{Owner, property_kind};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Group, InvokeTree, Resources, Tree};

impl Printer {
    pub(super) fn property(&mut self, receiver: Value, name: &str) -> Value {
        if receiver.form == Form::Output {
            return self.refuse(&format!("the property {name} of such a value"));
        }
        match receiver.kind.clone() {
            Kind::Resource(ty, _) => {
                if name == "urn" {
                    return Value::output(receiver.method("urn", Vec::new()), Kind::Text);
                }
                let found = ty.as_ref().and_then(|ty| ty.schema.properties.get(name));
                let (Some(ty), Some(property)) = (&ty, found) else {
                    if name == "id" {
                        return Value::output(receiver.method("id", Vec::new()), Kind::Text);
                    }
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let kind = property_kind(&ty.package, property, Owner::Resource);
                let getter = java_resource_property(name);
                Value::output(receiver.method(&getter, Vec::new()), kind)
            }
            Kind::Component(_, outputs) => {
                if name == "urn" {
                    return Value::output(receiver.method("urn", Vec::new()), Kind::Text);
                }
                match outputs.iter().find(|(known, _)| known == name) {
                    Some((_, kind)) => {
                        let getter = java_resource_property(name);
                        Value::output(receiver.method(&getter, Vec::new()), kind.clone())
                    }
                    None => self.refuse(&format!("the unknown property {name}")),
                }
            }
            Kind::Result(function) => {
                let ReturnType::Object(object) = &function.schema.returns else {
                    return self.refuse("a result that is no object");
                };
                let Some(property) = object.properties.get(name) else {
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let kind = property_kind(&function.package, property, Owner::Object);
                Value::plain(
                    receiver.method(&java_object_property(name), Vec::new()),
                    kind,
                )
            }
            Kind::Object(..) | Kind::Pointer(_) => self.member(receiver, name),
            _ => self.key(receiver, name),
        }
    }

    /// Property of an object, which may be missing.
    fn member(&mut self, receiver: Value, name: &str) -> Value {
        let Kind::Object(package, token) = receiver.kind.present().clone() else {
            return self.key(receiver, name);
        };
        let property = match package.type_definition(&token) {
            Some(Ok(definition)) => match &*definition {
                TypeDefinition::Object(object) => object.properties.get(name).cloned(),
                TypeDefinition::Enum(_) => None,
            },
            _ => None,
        };
        let Some(property) = property else {
            return self.refuse(&format!("the unknown property {name}"));
        };
        let kind = property_kind(&package, &property, Owner::Object);
        let getter = java_object_property(name);
        if !matches!(receiver.kind, Kind::Pointer(_)) {
            return Value::plain(receiver.method(&getter, Vec::new()), kind);
        }
        let scope = self.scope.open();
        let item = self.local("it");
        self.scope.close(scope);
        let callback = lambda(&item, format!("{item}.{getter}()").into());
        let (method, kind) = match kind {
            kind @ Kind::Pointer(_) => ("flatMap", kind),
            kind => ("map", Kind::Pointer(Box::new(kind))),
        };
        Value::plain(receiver.method(method, vec![callback]), kind)
    }

    pub(super) fn key(&mut self, receiver: Value, name: &str) -> Value {
        let key = Doc::text(JAVA.string(name));
        self.entry(receiver, key, Some(name))
    }

    pub(super) fn index(&mut self, receiver: &Tree, index: &Tree) -> Value {
        let receiver = self.any(receiver);
        let index = self.any(index);
        if !index.is_plain() || receiver.form == Form::Output {
            return self.refuse("an index that is an output");
        }
        if matches!(index.kind.present(), Kind::Text | Kind::Enum(..)) {
            let key = self.converted(index, &Want::Plain(Kind::Text)).code;
            return self.entry(receiver, key, None);
        }
        let index = self.converted(index, &Want::Plain(Kind::Int)).code;
        if receiver.is_plain() && matches!(receiver.kind, Kind::Any) {
            let code = self.help(Helper::Item, vec![receiver.code, index]);
            return Value::plain(code, Kind::Any);
        }
        let receiver = self.collection(receiver, false);
        let Kind::List(element) = receiver.kind.clone() else {
            return self.refuse("an index of such a value");
        };
        let is_nested = receiver.form == Form::Nested;
        let item = Value::plain(receiver.method("get", vec![index]), *element);
        if is_nested && !matches!(item.kind, Kind::Any) {
            // The elements are outputs themselves.
            return Value::output(item.code, item.kind);
        }
        self.element_of(item, is_nested)
    }

    /// Value of a key in a map.
    fn entry(&mut self, receiver: Value, key: Doc, name: Option<&str>) -> Value {
        if receiver.form == Form::Output {
            return self.refuse("a member of an output");
        }
        if receiver.is_plain() && matches!(receiver.kind, Kind::Any) {
            let code = self.help(Helper::Member, vec![receiver.code, key]);
            return Value::plain(code, Kind::Any);
        }
        let receiver = match receiver.kind {
            Kind::Struct(_) => receiver,
            _ => self.collection(receiver, true),
        };
        let kind = match &receiver.kind {
            Kind::Map(element) => (**element).clone(),
            Kind::Struct(fields) => {
                let field = fields
                    .iter()
                    .find(|(known, _)| Some(known.as_str()) == name);
                field.map_or(Kind::Any, |(_, kind)| kind.clone())
            }
            _ => return self.refuse("a member of such a value"),
        };
        let is_nested = receiver.form == Form::Nested;
        let is_struct = matches!(receiver.kind, Kind::Struct(_));
        let is_checked = self.is_trying && !is_nested;
        let code = if is_checked {
            self.help(Helper::Member, vec![receiver.code, key])
        } else {
            receiver.method("get", vec![key])
        };
        if is_nested {
            return self.element_of(Value::plain(code, kind), true);
        }
        if is_checked || is_struct {
            let any = Value::plain(code, Kind::Any);
            return match kind {
                Kind::Any => any,
                Kind::Pointer(inner) => {
                    let ty = self.type_of(&inner);
                    let class = self.class("java.util.Optional");
                    let open = format!("{class}.ofNullable(({ty}) ");
                    Value::plain(Doc::hugged(&open, any.code, ")"), Kind::Pointer(inner))
                }
                kind => self.converted(any, &Want::Plain(kind)),
            };
        }
        Value::plain(code, kind)
    }

    pub(super) fn invoke(&mut self, invoke: &InvokeTree) -> Value {
        let function = match &invoke.package {
            Some(package) => match package.function(&invoke.token) {
                Some(Ok(function)) => Some((package.clone(), function)),
                _ => None,
            },
            None => None,
        };
        let Some((package, function)) = function else {
            return self.refuse(&format!("the unknown function {}", invoke.token));
        };
        let (classes, _) = Printer::package(&package);
        let mut args = Vec::new();
        if let Some(inputs) = &function.inputs {
            let mut setters = Vec::with_capacity(invoke.args.len());
            for (name, tree) in &invoke.args {
                setters.extend(self.setter(&package, &inputs.properties, name, tree));
            }
            let class = self.class(&classes.function_args(&package, &invoke.token));
            args.push(builder(&class, setters));
        }
        let options = self.invoke_options(invoke);
        if let Some(options) = options {
            if args.is_empty() {
                let class = self.class("com.pulumi.resources.InvokeArgs");
                args.push(format!("{class}.Empty").into());
            }
            args.push(options);
        }
        let class = self.class(&classes.functions(&package, &invoke.token));
        let name = java_function(&invoke.token);
        let kind = match &function.returns {
            ReturnType::Object(_) => Kind::Result(plumb_pcl::PackageFunction {
                package: package.clone(),
                schema: function.clone(),
            }),
            ReturnType::Value(ty) => {
                Kind::of(&plumb_pcl::Type::Schema(package.clone(), ty.clone()))
            }
            ReturnType::None => Kind::Null,
        };
        let call = Doc::call(&format!("{class}.{name}("), args);
        Value::output(call, kind)
    }

    fn invoke_options(&mut self, invoke: &InvokeTree) -> Option<Doc> {
        let mut setters = Vec::new();
        for (name, tree) in [("parent", &invoke.parent), ("provider", &invoke.provider)] {
            if let Some(tree) = tree {
                let value = self.any(tree).code;
                setters.push(Setter::new(name, value));
            }
        }
        for (name, text) in [
            ("version", &invoke.version),
            ("pluginDownloadURL", &invoke.download_url),
        ] {
            if !text.is_empty() {
                setters.push(Setter::new(name, JAVA.string(text).into()));
            }
        }
        let class = match &invoke.depends_on {
            Some(tree) => {
                let args = self.resources(tree);
                setters.push(Setter {
                    comments: Vec::new(),
                    name: "dependsOn".to_owned(),
                    args,
                });
                "InvokeOutputOptions"
            }
            None => "InvokeOptions",
        };
        if setters.is_empty() {
            return None;
        }
        let class = self.class(&format!("com.pulumi.deployment.{class}"));
        Some(builder(&class, setters))
    }

    /// Arguments for a parameter of resources.
    pub(super) fn resources(&mut self, resources: &Resources) -> Vec<Doc> {
        let groups = match resources {
            Resources::Plain(tree) => return self.plain_resources(tree),
            Resources::Mixed(groups) => groups,
        };
        let list = self.class("java.util.List");
        let resource = self.class("com.pulumi.resources.Resource");
        let stream = self.class("java.util.stream.Stream");
        let groups = groups.iter().map(|group| match group {
            Group::One(tree) => {
                let open = format!("{list}.of(");
                Doc::hugged(&open, self.any(tree).code, ")")
            }
            Group::Several(tree) => self.list_of_resources(tree).code,
        });
        let groups = groups.collect();
        let open = format!("{stream}.<{list}<? extends {resource}>>of(");
        let collectors = self.class("java.util.stream.Collectors");
        let flat =
            format!(".<{resource}>flatMap(it -> it.stream()).collect({collectors}.toList())");
        vec![Doc::Row(vec![
            Doc::arguments(&open, groups, ")"),
            flat.into(),
        ])]
    }

    fn plain_resources(&mut self, tree: &Tree) -> Vec<Doc> {
        if let Tree::List(items) = tree {
            let values: Vec<Value> = items.iter().map(|it| self.any(it)).collect();
            if values
                .iter()
                .all(|it| it.is_plain() && it.kind.is_resource())
            {
                return values.into_iter().map(|it| it.code).collect();
            }
        }
        let value = self.list_of_resources(tree);
        let list = self.class("java.util.List");
        let resource = self.class("com.pulumi.resources.Resource");
        let open = format!("{list}.<{resource}>copyOf(");
        vec![Doc::hugged(&open, value.code, ")")]
    }

    fn list_of_resources(&mut self, tree: &Tree) -> Value {
        let value = self.any(tree);
        let is_list = matches!(&value.kind, Kind::List(element) if element.is_resource());
        if !value.is_plain() || !is_list {
            return self.refuse("such a list of resources");
        }
        value
    }
}
