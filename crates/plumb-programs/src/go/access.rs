//! Accesses of members, and calls of provider functions in Go.

use plumb_codegen::programs::go_accessor;
use plumb_pcl::{PackageFunction, Type};
use plumb_schema::{ReturnType, TypeDefinition};

use super::GO;
use super::expression::Want;
use super::helpers::Helper;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::{Code, Statement};
use crate::tree::{Group, InvokeTree, MethodTree, Presence, Resources, Tree};

impl Printer {
    pub(super) fn invoke(&mut self, invoke: &InvokeTree) -> Value {
        let result_name = self.result_name.take();
        let Some(package) = &invoke.package else {
            return self.refuse(&format!("the unknown function {}", invoke.token));
        };
        let Some(Ok(function)) = package.function(&invoke.token) else {
            return self.refuse(&format!("the unknown function {}", invoke.token));
        };
        let kind = match &function.returns {
            ReturnType::Object(_) => Kind::Result(PackageFunction {
                package: package.clone(),
                schema: function.clone(),
            }),
            ReturnType::Value(ty) => Kind::of(&Type::Schema(package.clone(), ty.clone())),
            ReturnType::None => return self.refuse("functions without a result"),
        };
        let name = self.function_name(package, &invoke.token);
        let name = self.qualified(package, &invoke.token, &name);
        let suffix = if invoke.is_output { "Output" } else { "" };
        let mut args = vec![Code::word("ctx")];
        if let Some(inputs) = function.inputs.as_ref().filter(|_| invoke.has_inputs) {
            let mut fields = Vec::with_capacity(invoke.args.len());
            for (name, tree) in &invoke.args {
                let Some(property) = inputs.properties.get(name.as_str()) else {
                    return self.refuse(&format!("the unknown argument {name}"));
                };
                let ty = Type::of_property(package, property);
                fields.push((name.as_str(), self.field(tree, &ty, !invoke.is_output)));
            }
            if function.positional_inputs.is_empty() {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (Code::word(GO.property(name)), value));
                let sign = if invoke.is_output { "" } else { "&" };
                let ty = format!("{sign}{name}{suffix}Args");
                args.push(Code::keyed(ty, fields.collect(), true));
            } else {
                args.extend(function.positional_inputs.iter().map(|position| {
                    let given = fields.iter().find(|(name, _)| name == position);
                    given.map_or_else(|| Code::word("nil"), |(_, value)| value.clone())
                }));
            }
        }
        for (option, tree) in [("Provider", &invoke.provider), ("Parent", &invoke.parent)] {
            if let Some(tree) = tree {
                let value = self.any(tree).code;
                args.push(Code::call(format!("pulumi.{option}"), vec![value]));
            }
        }
        for (option, text) in [
            ("Version", &invoke.version),
            ("PluginDownloadURL", &invoke.download_url),
        ] {
            if !text.is_empty() {
                let text = Code::word(GO.string(text));
                args.push(Code::call(format!("pulumi.{option}"), vec![text]));
            }
        }
        if let Some(resources) = &invoke.depends_on {
            let lists = self.lists_of_resources(resources);
            args.extend(
                lists
                    .into_iter()
                    .map(|it| Code::call("pulumi.DependsOn", vec![it])),
            );
        }
        let call = Code::call(format!("{name}{suffix}"), args);
        if invoke.is_output {
            Value::output(call, kind)
        } else {
            let result = match result_name {
                Some(name) => {
                    self.checked(&name, call);
                    Code::word(name)
                }
                None => self.attempt("result", call),
            };
            Value::plain(result, kind)
        }
    }

    /// Call of a method, which gives an output of an object.
    pub(super) fn method(&mut self, method: &MethodTree) -> Value {
        let receiver = self.any(&method.receiver);
        let (Some(function), Kind::Resource(_, class)) = (&method.function, &receiver.kind) else {
            return self.refuse("calls of methods of such values");
        };
        let returns = &function.schema.returns;
        let block = function
            .package
            .language("go")
            .unwrap_or(&serde_json::Value::Null);
        let is_lifted = block["liftSingleValueMethodReturns"] == true;
        let is_object = matches!(returns, ReturnType::Object(it)
            if !(is_lifted && it.properties.len() == 1));
        if !is_object || function.schema.returns_plain {
            return self.refuse("calls of methods with such results");
        }
        let title = GO.class(&method.method);
        let mut args = vec![Code::word("ctx")];
        let inputs = function.schema.inputs.as_ref();
        let inputs = inputs.filter(|it| it.properties.keys().any(|name| name != "__self__"));
        if let Some(inputs) = inputs {
            let mut fields = Vec::with_capacity(method.args.len());
            for (name, tree) in &method.args {
                let Some(property) = inputs.properties.get(name.as_str()) else {
                    return self.refuse(&format!("the unknown argument {name}"));
                };
                let ty = Type::of_property(&function.package, property);
                let value = self.field(tree, &ty, false);
                fields.push((Code::word(GO.property(name)), value));
            }
            args.push(Code::keyed(format!("&{class}{title}Args"), fields, true));
        }
        let call = receiver.code.clone().method(&title, args);
        let kind = Kind::Result(function.clone());
        Value::output(self.attempt("result", call), kind)
    }

    /// Lists of resources for calls of an option that adds them.
    pub(super) fn lists_of_resources(&mut self, resources: &Resources) -> Vec<Code> {
        match resources {
            Resources::Plain(Tree::List(items)) => vec![self.literal_resources(items.iter())],
            Resources::Plain(tree) => vec![self.list_of_resources(tree)],
            Resources::Mixed(groups) => {
                let single = groups.iter().filter_map(|it| match it {
                    Group::One(tree) => Some(tree),
                    Group::Several(_) => None,
                });
                let mut lists = Vec::new();
                if single.clone().next().is_some() {
                    lists.push(self.literal_resources(single));
                }
                for group in groups {
                    if let Group::Several(tree) = group {
                        lists.push(self.list_of_resources(tree));
                    }
                }
                lists
            }
        }
    }

    fn literal_resources<'t>(&mut self, items: impl Iterator<Item = &'t Tree>) -> Code {
        Code::list("[]pulumi.Resource", self.resource_codes(items))
    }

    /// Each of `items`, which have to be resources.
    pub(super) fn resource_codes<'t>(
        &mut self,
        items: impl Iterator<Item = &'t Tree>,
    ) -> Vec<Code> {
        let codes = items.map(|item| {
            let value = self.any(item);
            if value.is_plain() && is_resource(&value.kind) {
                value.code
            } else {
                self.refuse("such a list of resources").code
            }
        });
        codes.collect()
    }

    /// One resource, or a list of resources of one type.
    fn list_of_resources(&mut self, tree: &Tree) -> Code {
        let value = self.any(tree);
        match &value.kind {
            kind if value.is_plain() && is_resource(kind) => {
                Code::list("[]pulumi.Resource", vec![value.code])
            }
            Kind::List(element) if value.is_plain() && is_resource(element) => {
                let helper = self.help(Helper::Resources);
                Code::call(helper, vec![value.code])
            }
            _ => self.refuse("such a list of resources").code,
        }
    }

    pub(super) fn index(&mut self, receiver: &Tree, index: &Tree) -> Value {
        let receiver = self.any(receiver);
        match (receiver.kind.clone(), receiver.is_plain()) {
            (Kind::List(element), true) => {
                let index = self.plain(index, Kind::Int);
                if self.is_trying {
                    return self.checked_member(Helper::Item, [receiver.code, index], *element);
                }
                Value::plain(receiver.code.at(index), *element)
            }
            (Kind::List(element), false) if receiver.form == Form::Output => {
                let index = self.expression(index, &Want::Input(Kind::Int));
                Value::output(receiver.code.method("Index", vec![index]), *element)
            }
            (Kind::Map(element), true) => {
                let index = self.plain(index, Kind::Text);
                if self.is_trying {
                    return self.checked_member(Helper::Member, [receiver.code, index], *element);
                }
                Value::plain(receiver.code.at(index), *element)
            }
            (Kind::Any, true) => {
                let index = self.any(index);
                if !index.is_plain() || !matches!(index.kind, Kind::Int | Kind::Text) {
                    return self.refuse("an index of such a type");
                }
                self.checked_member(Helper::Find, [receiver.code, index.code], Kind::Any)
            }
            _ => self.refuse("an index of such a value"),
        }
    }

    /// Member of a collection, taken by a function that fails if there is none.
    fn checked_member(&mut self, helper: Helper, [from, key]: [Code; 2], kind: Kind) -> Value {
        let wanted = match &key {
            Code::Word(word) => word.trim_matches('"').to_owned(),
            _ => String::new(),
        };
        let is_name = wanted.starts_with(char::is_alphabetic)
            && wanted
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || it == '_');
        let call = Code::call(self.help(helper), vec![from, key]);
        let name = if is_name { &wanted } else { "entry" };
        Value::plain(self.attempt(name, call), kind)
    }

    pub(super) fn key(&mut self, receiver: Value, name: &str) -> Value {
        match (receiver.kind.clone(), receiver.is_plain()) {
            (Kind::Map(element), true) => {
                let key = Code::word(GO.string(name));
                if self.is_trying {
                    return self.checked_member(Helper::Member, [receiver.code, key], *element);
                }
                Value::plain(receiver.code.at(key), *element)
            }
            (Kind::Any, true) => {
                let key = Code::word(GO.string(name));
                self.checked_member(Helper::Find, [receiver.code, key], Kind::Any)
            }
            (Kind::Map(element), false) if receiver.form == Form::Output => {
                let key = Code::call("pulumi.String", vec![Code::word(GO.string(name))]);
                Value::output(receiver.code.method("MapIndex", vec![key]), *element)
            }
            (Kind::Struct(fields), true) => match fields.iter().find(|(known, _)| known == name) {
                Some((_, kind)) => {
                    Value::plain(receiver.code.dot(&GO.property(name)), kind.clone())
                }
                None => self.refuse(&format!("the unknown member {name}")),
            },
            _ => self.refuse(&format!("the member {name} of such a value")),
        }
    }

    pub(super) fn property(&mut self, receiver: Value, name: &str, presence: Presence) -> Value {
        let field = GO.property(name);
        match receiver.kind.clone() {
            Kind::Resource(ty, _) if receiver.is_plain() => {
                let code = receiver.code;
                if name == "urn" {
                    return Value::output(code.method("URN", Vec::new()), Kind::Any);
                }
                let Some(ty) = ty else {
                    return self.refuse(&format!("the property {name} of such a resource"));
                };
                let property = ty.schema.properties.get(name);
                if name == "id" && property.is_none() {
                    return Value::output(code.method("ID", Vec::new()), Kind::Id);
                }
                match property {
                    Some(property) => {
                        let kind = Kind::of(&Type::of_property(&ty.package, property));
                        Value::output(code.dot(&field), kind)
                    }
                    None => self.refuse(&format!("the unknown property {name}")),
                }
            }
            Kind::Component(_, outputs) if receiver.is_plain() => {
                match outputs.iter().find(|(known, _)| known == name) {
                    Some((_, kind)) => Value::output(receiver.code.dot(&field), kind.clone()),
                    None => self.refuse(&format!("the unknown property {name}")),
                }
            }
            Kind::Result(function) => {
                let plumb_schema::ReturnType::Object(object) = &function.schema.returns else {
                    return self.refuse("a result that is no object");
                };
                let Some(property) = object.properties.get(name) else {
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let kind = Kind::of(&Type::of_property(&function.package, property));
                if receiver.is_plain() {
                    Value::plain(receiver.code.dot(&field), kind)
                } else {
                    let accessor = go_accessor(&field, false);
                    Value::output(receiver.code.method(&accessor, Vec::new()), kind)
                }
            }
            Kind::Object(..) | Kind::Pointer(_) if receiver.form != Form::Input => {
                self.member(receiver, name, presence)
            }
            _ => self.refuse(&format!("the property {name} of such a value")),
        }
    }

    /// Property of an object, which may be missing.
    pub(super) fn member(&mut self, receiver: Value, name: &str, _presence: Presence) -> Value {
        let Kind::Object(package, token) = receiver.kind.present().clone() else {
            return self.refuse(&format!("the property {name} of such a value"));
        };
        let Some(Ok(definition)) = package.type_definition(&token) else {
            return self.refuse("an object of an unknown type");
        };
        let property = match &*definition {
            TypeDefinition::Object(object) => object.properties.get(name).cloned(),
            TypeDefinition::Enum(_) => None,
        };
        let Some(property) = property else {
            return self.refuse(&format!("the unknown property {name}"));
        };
        let kind = Kind::of(&Type::of_property(&package, &property));
        let field = GO.property(name);
        if !receiver.is_plain() {
            let kind = match receiver.kind {
                Kind::Pointer(_) => kind.optional(),
                _ => kind,
            };
            let is_pointer = matches!(receiver.kind, Kind::Pointer(_));
            let accessor = go_accessor(&field, is_pointer);
            return Value::output(receiver.code.method(&accessor, Vec::new()), kind);
        }
        if !matches!(receiver.kind, Kind::Pointer(_)) {
            return Value::plain(receiver.code.dot(&field), kind);
        }
        let object = self.as_word("object", receiver.code);
        let optional = kind.clone().optional();
        let variable = self.fresh(name);
        let ty = self.plain_type(&optional);
        self.line(format!("var {variable} {ty}"), None);
        let has_address = matches!(optional, Kind::Pointer(_)) && !matches!(kind, Kind::Pointer(_));
        let value = object.clone().dot(&field);
        let value = if has_address {
            Code::Unary("&", Box::new(value))
        } else {
            value
        };
        let body = vec![Statement::Simple(format!("{variable} = "), Some(value))];
        let condition = Code::binary(object, "!=", Code::word("nil"));
        self.when("if ", Some(condition), body);
        Value::plain(Code::word(variable), optional)
    }
}

fn is_resource(kind: &Kind) -> bool {
    matches!(kind, Kind::Resource(..) | Kind::Component(..))
}
