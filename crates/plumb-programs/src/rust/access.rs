//! Accesses of members, and calls of provider functions in Rust.

use std::sync::Arc;

use plumb_codegen::programs::rust_items;
use plumb_pcl::{PackageFunction, ResourceType};
use plumb_schema::{PackageSchema, Properties, ReturnType, TypeDefinition};

use super::RUST;
use super::collections::Setter;
use super::convert::is_collection;
use super::expression::Want;
use super::printer::{Form, Hold, Level, Printer, Value};
use super::types::{normal, property_kind};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Group, InvokeTree, MethodTree, Resources, Tree};

impl Printer {
    pub(super) fn property(&mut self, receiver: Value, name: &str) -> Value {
        if let Some(value) = super::hooks::argument(&receiver, name) {
            return value;
        }
        match (receiver.kind.present().clone(), receiver.form) {
            (Kind::Resource(..) | Kind::Component(..), Form::Output) => {
                self.property_of_later(&receiver, name)
            }
            (Kind::Resource(ty, _), _) => {
                let is_missing = matches!(receiver.kind, Kind::Pointer(_));
                if is_missing {
                    return self.property_of_option(&receiver, name);
                }
                self.output_of(&receiver, ty.as_ref(), name)
            }
            (Kind::Component(_, outputs), _) => {
                if name == "urn" {
                    let handle = Value::plain(receiver.method("resource", Vec::new()), Kind::Any);
                    return Value::output(handle.method("urn", Vec::new()), Kind::Text);
                }
                let Some((_, kind)) = outputs.iter().find(|(known, _)| known == name) else {
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let field = Doc::text(format!(".{}", RUST.property(name)));
                let code = Doc::Row(vec![receiver.at(Level::Atom), field]);
                Value::output(code, kind.clone()).held(Hold::Place)
            }
            (Kind::Result(function), _) => {
                let ReturnType::Object(object) = &function.schema.returns else {
                    return self.refuse("a result that is no object");
                };
                let properties = object.properties.clone();
                self.member(receiver, &function.package, &properties, name)
            }
            (Kind::Object(package, token), _) => {
                let properties = match package.type_definition(&token) {
                    Some(Ok(definition)) => match &*definition {
                        TypeDefinition::Object(object) => object.properties.clone(),
                        TypeDefinition::Enum(_) => Properties::default(),
                    },
                    _ => Properties::default(),
                };
                self.member(receiver, &package, &properties, name)
            }
            _ => self.key(receiver, name),
        }
    }

    /// Output of a resource.
    fn output_of(&mut self, receiver: &Value, ty: Option<&ResourceType>, name: &str) -> Value {
        if name == "urn" {
            return Value::output(receiver.method("urn", Vec::new()), Kind::Text);
        }
        let found = ty.and_then(|ty| Some((ty, ty.schema.properties.get(name)?)));
        match found {
            Some((ty, property)) => {
                let kind = property_kind(&ty.package, property);
                match rust_items::accessor(&ty.schema, name) {
                    Some(getter) if !is_built_in(ty) => {
                        Value::output(receiver.method(&getter, Vec::new()), kind)
                    }
                    _ => self.named_output(receiver, name, kind),
                }
            }
            None if name == "id" => Value::output(receiver.method("id", Vec::new()), Kind::Text),
            None if ty.is_none() => self.named_output(receiver, name, Kind::Any),
            None => self.refuse(&format!("the unknown property {name}")),
        }
    }

    fn named_output(&mut self, receiver: &Value, name: &str, kind: Kind) -> Value {
        let ty = self.type_of(&kind);
        let name = Doc::text(RUST.string(name));
        let handle = Value::plain(receiver.method("handle", Vec::new()), Kind::Any);
        Value::output(handle.method(&format!("output::<{ty}>"), vec![name]), kind)
    }

    /// Output of a resource that is an output itself.
    fn property_of_later(&mut self, receiver: &Value, name: &str) -> Value {
        let scope = self.scope.open();
        let item = self.local("it");
        let inner = Value::plain(item.clone(), receiver.kind.clone()).held(Hold::Place);
        let parameters = [item.clone()];
        let result = self.mapped(receiver, &item, &parameters, |printer| {
            printer.property(inner, name)
        });
        self.scope.close(scope);
        result
    }

    /// Output of a resource that may not exist.
    fn property_of_option(&mut self, receiver: &Value, name: &str) -> Value {
        let scope = self.scope.open();
        let item = self.local("it");
        let inner = Value::plain(item.clone(), receiver.kind.present().clone()).held(Hold::Place);
        let output = self.property(inner, name).owned();
        self.scope.close(scope);
        let (code, kind) = match output.kind.clone() {
            kind @ Kind::Pointer(_) => (output.code, kind),
            kind => {
                let code = output.method("map", vec!["Some".into()]);
                (code, Kind::Pointer(Box::new(kind)))
            }
        };
        let some = Doc::Row(vec![Doc::text(format!("|{item}| ")), code]);
        let option = Value::plain(receiver.method("as_ref", Vec::new()), Kind::Any);
        let none = "|| Output::of(None)".into();
        Value::output(option.method("map_or_else", vec![none, some]), kind)
    }

    /// Member of an object, which may be missing or an output.
    fn member(
        &mut self,
        receiver: Value,
        package: &Arc<PackageSchema>,
        properties: &Properties,
        name: &str,
    ) -> Value {
        let field = rust_items::field(properties, name);
        let (Some(property), Some(field)) = (properties.get(name), field) else {
            return self.refuse(&format!("the unknown property {name}"));
        };
        let kind = property_kind(package, property);
        let class = self.type_of(receiver.kind.present());
        let field = Doc::text(format!("{class}::{field}"));
        let is_optional = matches!(receiver.kind, Kind::Pointer(_));
        match (receiver.form, is_optional) {
            (Form::Output, false) => Value::output(receiver.method("get", vec![field]), kind),
            (Form::Output, true) => {
                let kind = match kind {
                    kind @ Kind::Pointer(_) => kind,
                    kind => Kind::Pointer(Box::new(kind)),
                };
                self.key_of_output(&receiver, RUST.string(name).into(), kind)
            }
            (_, false) => {
                let code = receiver.method("get", vec![field]);
                Value::plain(self.fallible(code), kind)
            }
            (_, true) => {
                let option = Value::plain(receiver.method("as_ref", Vec::new()), Kind::Any);
                let get = Doc::Row(vec!["|it| it.get(".into(), field, ")".into()]);
                let code = Doc::Row(vec![option.method("map", vec![get]), ".transpose()".into()]);
                let code = self.fallible(code);
                match kind {
                    kind @ Kind::Pointer(_) => {
                        Value::plain(Doc::Row(vec![code, ".flatten()".into()]), kind)
                    }
                    kind => Value::plain(code, Kind::Pointer(Box::new(kind))),
                }
            }
        }
    }

    pub(super) fn key(&mut self, receiver: Value, name: &str) -> Value {
        let key = Doc::text(RUST.string(name));
        self.entry(receiver, key, Some(name))
    }

    fn key_of_output(&mut self, receiver: &Value, key: Doc, kind: Kind) -> Value {
        let ty = self.type_of(&kind);
        Value::output(receiver.method(&format!("key::<{ty}>"), vec![key]), kind)
    }

    pub(super) fn index(&mut self, receiver: &Tree, index: &Tree) -> Value {
        let receiver = self.any(receiver);
        let index = self.any(index);
        if !index.is_plain() {
            return self.refuse("an index that is an output");
        }
        if matches!(index.kind.present(), Kind::Text | Kind::Enum(..)) {
            let key = self.as_plain(index, &Kind::Text).reference();
            return self.entry(receiver, key, None);
        }
        let index = self.as_plain(index, &Kind::Int);
        let index = match index.code.flat() {
            Some(text) if text.bytes().all(|it| it.is_ascii_digit()) => index.code,
            _ => Doc::Row(vec![index.at(Level::Atom), " as usize".into()]),
        };
        let element = match receiver.kind.present() {
            Kind::List(element) => (**element).clone(),
            Kind::Any | Kind::Struct(_) => Kind::Any,
            _ => return self.refuse("an index of such a value"),
        };
        if receiver.form == Form::Output {
            let ty = self.type_of(&element);
            let code = receiver.method(&format!("at::<{ty}>"), vec![index]);
            return Value::output(code, element);
        }
        if receiver.form == Form::Nested && !is_collection(&receiver.kind) {
            let output = self.as_output(receiver);
            let code = output.method("at::<Value>", vec![index]);
            return Value::output(code, Kind::Any);
        }
        let receiver = self.collection(receiver, false);
        self.element(&receiver, index, element)
    }

    /// An element of a list or a map of Rust.
    fn element(&mut self, receiver: &Value, index: Doc, kind: Kind) -> Value {
        let form = if receiver.form == Form::Nested {
            Form::Output
        } else {
            Form::Plain
        };
        if self.is_trying {
            let is_map = matches!(receiver.kind, Kind::Map(_));
            let index = match index.flat() {
                Some(text) if is_map && !text.starts_with(['&', '"']) => {
                    Doc::Row(vec!["&".into(), index])
                }
                _ => index,
            };
            let found = Value::plain(receiver.method("get", vec![index]), Kind::Any);
            let found = Value::plain(found.method("cloned", Vec::new()), Kind::Any);
            let error = "|| plumb::Error::new(\"there is no such element\")";
            let code = found.method("ok_or_else", vec![error.into()]);
            return Value::new(self.fallible(code), kind, form);
        }
        let bracket = Doc::hugged("[", index, "]");
        let code = Doc::Row(vec![receiver.at(Level::Atom), bracket]);
        Value::new(code, kind, form).held(Hold::Place)
    }

    /// Value of a key in a map.
    fn entry(&mut self, receiver: Value, key: Doc, name: Option<&str>) -> Value {
        let kind = match receiver.kind.present() {
            Kind::Map(element) => (**element).clone(),
            Kind::Struct(fields) => {
                let mut fields = fields.iter();
                let field = fields.find(|(known, _)| Some(known.as_str()) == name);
                field.map_or(Kind::Any, |(_, kind)| kind.clone())
            }
            Kind::Any => Kind::Any,
            _ => return self.refuse("a member of such a value"),
        };
        let kind = match kind {
            Kind::Null => Kind::Any,
            kind => kind,
        };
        if receiver.form == Form::Output {
            return self.key_of_output(&receiver, key, kind);
        }
        if is_collection(receiver.kind.present()) {
            let receiver = self.collection(receiver, true);
            return self.element(&receiver, key, kind);
        }
        if receiver.form == Form::Nested {
            let output = self.as_output(receiver);
            return self.key_of_output(&output, key, kind);
        }
        let receiver = match receiver.kind {
            Kind::Pointer(_) | Kind::Map(_) => self.as_plain(receiver, &Kind::Any),
            _ => receiver,
        };
        let found = Value::plain(receiver.method("get", vec![key]), Kind::Any);
        let found = Value::plain(found.method("cloned", Vec::new()), Kind::Any);
        let code = if self.is_trying {
            let error = "|| plumb::Error::new(\"there is no such member\")";
            let code = found.method("ok_or_else", vec![error.into()]);
            self.fallible(code)
        } else {
            found.method("unwrap_or_default", Vec::new())
        };
        let any = Value::plain(code, Kind::Any);
        match kind {
            Kind::Any | Kind::Struct(_) => any.of_kind(kind),
            kind => self.as_plain(any, &kind),
        }
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
        let items = self.items(&package).function(&invoke.token);
        let Some([mut item, mut class]) = items else {
            return self.refuse(&format!("the unknown function {}", invoke.token));
        };
        let mut args = vec![self.context_of(invoke)];
        if let Some(inputs) = &function.inputs
            && !inputs.properties.is_empty()
        {
            class.name += "Args";
            let path = self.path(&package, &class);
            let class = self.named(&path);
            let fields = invoke
                .args
                .iter()
                .map(|(name, tree)| (&**name, tree, &[][..]));
            args.push(self.arguments(&class, &package, &inputs.properties, fields));
        }
        if let Some(options) = self.invoke_options(invoke) {
            item.name += "_with";
            args.push(options);
        }
        let path = self.path(&package, &item);
        let name = self.named(&path);
        let kind = result_kind(
            &package,
            &PackageFunction {
                package: package.clone(),
                schema: function.clone(),
            },
        );
        Value::output(Doc::list(&format!("{name}("), args, ")"), kind)
    }

    /// The context for a call: that of the parent, if the call has one of its own.
    fn context_of(&mut self, invoke: &InvokeTree) -> Doc {
        let context = self.context();
        match &invoke.parent {
            None | Some(Tree::OwnComponent) => context.into(),
            Some(parent) => {
                let parent = self.any(parent);
                let parent = resource_reference(&parent);
                Doc::hugged("&ctx.child(", parent, ")")
            }
        }
    }

    fn invoke_options(&mut self, invoke: &InvokeTree) -> Option<Doc> {
        let mut setters = Vec::new();
        if let Some(provider) = &invoke.provider {
            let provider = self.any(provider);
            setters.push(Setter::new("provider", vec![resource_reference(&provider)]));
        }
        for (name, text) in [
            ("version", &invoke.version),
            ("plugin_download_url", &invoke.download_url),
        ] {
            if !text.is_empty() {
                setters.push(Setter::new(name, vec![RUST.string(text).into()]));
            }
        }
        if let Some(tree) = &invoke.depends_on {
            for list in self.lists_of_resources(tree) {
                setters.push(Setter::new("depends_on", vec![list]));
            }
        }
        if setters.is_empty() {
            return None;
        }
        Some(super::collections::builder("InvokeOptions::new()", setters))
    }

    pub(super) fn method(&mut self, method: &MethodTree) -> Value {
        let receiver = self.any(&method.receiver);
        let Some(function) = &method.function else {
            return self.refuse(&format!("the unknown method {}", method.method));
        };
        if !matches!(receiver.kind, Kind::Resource(..)) || !receiver.is_plain() {
            return self.refuse("a method of such a value");
        }
        let package = function.package.clone();
        let mut args = Vec::new();
        let inputs = function.schema.inputs.as_ref();
        if let Some(inputs) = inputs
            && inputs.properties.keys().any(|it| it != "__self__")
            && let Some([_, mut class]) = self.items(&package).function(&function.schema.token)
        {
            class.name += "Args";
            let path = self.path(&package, &class);
            let class = self.named(&path);
            let mut properties = inputs.properties.clone();
            properties.shift_remove("__self__");
            let fields = method
                .args
                .iter()
                .map(|(name, tree)| (&**name, tree, &[][..]));
            args.push(self.arguments(&class, &package, &properties, fields));
        }
        let kind = result_kind(&package, function);
        let name = rust_items::method(&method.method);
        Value::output(receiver.method(&name, args), kind)
    }

    /// Lists for calls of a setter that adds resources.
    pub(super) fn lists_of_resources(&mut self, resources: &Resources) -> Vec<Doc> {
        match resources {
            Resources::Plain(tree) => vec![self.resources(tree)],
            Resources::Mixed(groups) => {
                let lists = groups.iter().map(|group| match group {
                    Group::One(tree) => self.resources(&Tree::List(vec![tree.clone()])),
                    Group::Several(tree) => self.resources(tree),
                });
                lists.collect()
            }
        }
    }

    /// A list for a parameter of resources.
    pub(super) fn resources(&mut self, tree: &Tree) -> Doc {
        if let Tree::List(items) = tree {
            let values: Vec<Value> = items.iter().map(|it| self.any(it)).collect();
            let is_same = values.windows(2).all(|it| it[0].kind.is(&it[1].kind));
            let codes = values.iter().map(|it| {
                let is_resource = it.is_plain() && matches!(it.kind, Kind::Resource(..));
                if is_same && is_resource {
                    it.reference()
                } else if is_resource {
                    it.method("handle", Vec::new())
                } else {
                    resource_reference(it)
                }
            });
            return Doc::list("[", codes.collect(), "]");
        }
        let value = self.any(tree);
        match (&value.kind, value.form) {
            (Kind::List(_), Form::Plain) if value.hold == Hold::Place => value.reference(),
            (Kind::List(_), Form::Plain | Form::Nested) => value.owned().code,
            _ => Doc::hugged("[", resource_reference(&value), "]"),
        }
    }

    /// An argument of any type, for a place without a schema.
    pub(super) fn any_argument(&mut self, tree: &Tree) -> Doc {
        let value = self.value(tree, &Want::Free);
        let value = Self::settled(value);
        match value.form {
            Form::Nested => value.owned().code,
            Form::Plain | Form::Output => value.lent(),
        }
    }
}

/// A reference to a resource of any kind.
pub(super) fn resource_reference(value: &Value) -> Doc {
    if value.is_plain() && matches!(value.kind, Kind::Component(..)) {
        return value.method("resource", Vec::new());
    }
    value.reference()
}

/// Kind of what a function returns.
fn result_kind(package: &Arc<PackageSchema>, function: &PackageFunction) -> Kind {
    match &function.schema.returns {
        ReturnType::Object(_) => Kind::Result(function.clone()),
        ReturnType::Value(ty) => normal(Kind::of(&plumb_pcl::Type::Schema(
            package.clone(),
            ty.clone(),
        ))),
        ReturnType::None => Kind::Null,
    }
}

/// Whether the type is one of the SDK itself.
pub(super) fn is_built_in(ty: &ResourceType) -> bool {
    ty.package.name() == "pulumi"
}
