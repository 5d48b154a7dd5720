//! Accesses of members, and calls of provider functions in C#.

use plumb_codegen::programs::csharp_property;
use plumb_pcl::{PackageFunction, Type};
use plumb_schema::{ReturnType, TypeDefinition};

use super::CSHARP;
use super::collections::{Member, object};
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use super::types::property_kind;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Group, InvokeTree, MethodTree, Resources, Tree};
use crate::values::Want;

impl Printer {
    pub(super) fn property(&mut self, receiver: Value, name: &str) -> Value {
        if receiver.form == Form::Output {
            return self.refuse(&format!("the property {name} of such a value"));
        }
        let access =
            |name: String| Doc::Row(vec![receiver.at(Level::Atom), format!(".{name}").into()]);
        match receiver.kind.clone() {
            Kind::Resource(ty, class) => {
                if name == "urn" {
                    return Value::output(access("Urn".to_owned()), Kind::Text);
                }
                let found = ty.as_ref().and_then(|ty| ty.schema.properties.get(name));
                let (Some(ty), Some(property)) = (&ty, found) else {
                    if name == "id" {
                        return Value::output(access("Id".to_owned()), Kind::Text);
                    }
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let kind = property_kind(&ty.package, property);
                let own = class.rsplit('.').next().unwrap_or_default();
                Value::output(access(csharp_property(name, own)), kind)
            }
            Kind::Component(class, outputs) => {
                if name == "urn" {
                    return Value::output(access("Urn".to_owned()), Kind::Text);
                }
                match outputs.iter().find(|(known, _)| known == name) {
                    Some((_, kind)) => {
                        Value::output(access(csharp_property(name, &class)), kind.clone())
                    }
                    None => self.refuse(&format!("the unknown property {name}")),
                }
            }
            Kind::Result(function) => {
                let ReturnType::Object(it) = &function.schema.returns else {
                    return self.refuse("a result that is no object");
                };
                let Some(property) = it.properties.get(name) else {
                    return self.refuse(&format!("the unknown property {name}"));
                };
                let kind = property_kind(&function.package, property);
                Value::plain(access(CSHARP.property(name)), kind)
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
                TypeDefinition::Object(it) => it.properties.get(name).cloned(),
                TypeDefinition::Enum(_) => None,
            },
            _ => None,
        };
        let Some(property) = property else {
            return self.refuse(&format!("the unknown property {name}"));
        };
        let kind = property_kind(&package, &property);
        let is_missing = matches!(receiver.kind, Kind::Pointer(_));
        let step = if is_missing { "?." } else { "." };
        let class = self.class(&package, |it| it.class(&package, &token));
        let own = class.rsplit('.').next().unwrap_or_default();
        let code = Doc::Row(vec![
            receiver.at(Level::Atom),
            format!("{step}{}", csharp_property(name, own)).into(),
        ]);
        let kind = match kind {
            kind @ Kind::Pointer(_) => kind,
            kind if is_missing => Kind::Pointer(Box::new(kind)),
            kind => kind,
        };
        Value::plain(code, kind)
    }

    pub(super) fn key(&mut self, receiver: Value, name: &str) -> Value {
        self.entry(receiver, Printer::text_key(name), Some(name))
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
            let code = self.help(Helper::Member, "", vec![receiver.code, index]);
            return Value::plain(code, Kind::Any);
        }
        let receiver = self.collection(receiver, false);
        let Kind::List(element) = receiver.kind.clone() else {
            return self.refuse("an index of such a value");
        };
        let code = Doc::Row(vec![receiver.at(Level::Atom), Doc::hugged("[", index, "]")]);
        match receiver.form {
            Form::Nested if matches!(*element, Kind::Any | Kind::Pointer(_)) => {
                self.output_member(code, Kind::Any)
            }
            Form::Nested => Value::output(code, *element),
            Form::Plain | Form::Output => Value::plain(code, *element),
        }
    }

    /// Value of a key in a map.
    fn entry(&mut self, receiver: Value, key: Doc, name: Option<&str>) -> Value {
        if receiver.form == Form::Output {
            return self.refuse("a member of an output");
        }
        if receiver.is_plain() && matches!(receiver.kind, Kind::Any) {
            let code = self.help(Helper::Member, "", vec![receiver.code, key]);
            return Value::plain(code, Kind::Any);
        }
        let receiver = match receiver.kind {
            Kind::Struct(_) => receiver,
            _ => self.collection(receiver, true),
        };
        let (kind, is_struct) = match &receiver.kind {
            Kind::Map(element) => ((**element).clone(), false),
            Kind::Struct(fields) => {
                let field = fields
                    .iter()
                    .find(|(known, _)| Some(known.as_str()) == name);
                (field.map_or(Kind::Any, |(_, kind)| kind.clone()), true)
            }
            _ => return self.refuse("a member of such a value"),
        };
        let code = Doc::Row(vec![receiver.at(Level::Atom), Doc::hugged("[", key, "]")]);
        if receiver.form == Form::Nested {
            return self.output_member(code, kind);
        }
        if is_struct {
            let any = Value::plain(code, Kind::Any);
            return match kind {
                Kind::Any => any,
                kind => {
                    let kind = kind.present().clone();
                    self.converted(any, &Want::Plain(kind))
                }
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
        let class = self.class(&package, |it| it.function(&package, &invoke.token));
        let mut args = Vec::new();
        let options = self.invoke_options(invoke);
        if let Some(inputs) = &function.inputs {
            let mut members = Vec::with_capacity(invoke.args.len());
            for (name, tree) in &invoke.args {
                members.extend(self.member_of(&package, &inputs.properties, name, tree, ""));
            }
            if !members.is_empty() || options.is_some() {
                args.push(object("new()", members));
            }
        }
        args.extend(options);
        let kind = match &function.returns {
            ReturnType::Object(_) => Kind::Result(PackageFunction {
                package: package.clone(),
                schema: function.clone(),
            }),
            ReturnType::Value(ty) => Kind::of(&Type::Schema(package.clone(), ty.clone())),
            ReturnType::None => Kind::Null,
        };
        let call = super::joined(&format!("{class}.Invoke("), args);
        Value::output(call, kind)
    }

    /// Call of a method, which gives an output of an object.
    pub(super) fn method(&mut self, method: &MethodTree) -> Value {
        let receiver = self.any(&method.receiver);
        let (Some(function), Kind::Resource(..)) = (&method.function, &receiver.kind) else {
            return self.refuse("methods of such values");
        };
        let is_object = matches!(function.schema.returns, ReturnType::Object(_));
        if !is_object || function.schema.returns_plain {
            return self.refuse("methods with such results");
        }
        let mut args = Vec::new();
        if let Some(inputs) = function
            .schema
            .inputs
            .as_ref()
            .filter(|_| !method.args.is_empty())
        {
            let mut members = Vec::with_capacity(method.args.len());
            for (name, tree) in &method.args {
                let package = &function.package;
                members.extend(self.member_of(package, &inputs.properties, name, tree, ""));
            }
            args.push(object("new()", members));
        }
        let call = super::joined(&format!(".{}(", CSHARP.class(&method.method)), args);
        let code = Doc::Row(vec![receiver.at(Level::Atom), call]);
        Value::output(code, Kind::Result(function.clone()))
    }

    fn invoke_options(&mut self, invoke: &InvokeTree) -> Option<Doc> {
        let mut members = Vec::new();
        for (name, tree) in [("Parent", &invoke.parent), ("Provider", &invoke.provider)] {
            if let Some(tree) = tree {
                members.push(Member::new(name, self.any(tree).code));
            }
        }
        for (name, text) in [
            ("Version", &invoke.version),
            ("PluginDownloadURL", &invoke.download_url),
        ] {
            if !text.is_empty() {
                members.push(Member::new(name, CSHARP.string(text).into()));
            }
        }
        let class = match &invoke.depends_on {
            Some(tree) => {
                let resources = self.resources(tree);
                members.push(Member::new("DependsOn", resources));
                "InvokeOutputOptions"
            }
            None => "InvokeOptions",
        };
        (!members.is_empty()).then(|| object(&format!("new {class}"), members))
    }

    /// A list of resources that fills a property in place.
    pub(super) fn resources(&mut self, resources: &Resources) -> Doc {
        let groups = match resources {
            Resources::Plain(tree) => return self.plain_resources(tree),
            Resources::Mixed(groups) => groups,
        };
        let mut single = Vec::new();
        let mut row = Vec::new();
        for group in groups {
            match group {
                Group::One(tree) => single.push(self.any(tree).code),
                Group::Several(tree) => {
                    let list = self.list_of_resources(tree);
                    row.push(Doc::hugged(".Concat(", list.code, ")"));
                }
            }
        }
        self.usings.insert("System.Linq");
        row.insert(0, Doc::spaced_list("new Resource[] {", single, "}"));
        row.push(".ToArray()".into());
        Doc::Row(row)
    }

    fn plain_resources(&mut self, tree: &Tree) -> Doc {
        if let Tree::List(items) = tree {
            let values: Vec<Value> = items.iter().map(|it| self.any(it)).collect();
            if values
                .iter()
                .all(|it| it.is_plain() && it.kind.is_resource())
            {
                let codes = values.into_iter().map(|it| it.code).collect();
                return Doc::spaced_list("{", codes, "}");
            }
        }
        let value = self.list_of_resources(tree);
        self.usings.insert("System.Linq");
        let cast = ".Cast<Resource>().ToArray()".into();
        Doc::Row(vec![value.at(Level::Atom), cast])
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
