//! Lists, maps, objects and loops in C#.

use std::sync::Arc;

use plumb_codegen::programs::csharp_property;
use plumb_schema::{PackageSchema, Properties, TypeDefinition};

use super::CSHARP;
use super::convert::lambda;
use super::helpers::Helper;
use super::printer::{Form, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Loop, Object, Tree};
use crate::values::{Want, common};

/// A property of an object initializer, with the comments above it.
pub(super) struct Member {
    pub(super) comments: Vec<String>,
    pub(super) name: String,
    pub(super) value: Doc,
}

impl Member {
    pub(super) fn new(name: impl Into<String>, value: Doc) -> Self {
        Member {
            comments: Vec::new(),
            name: name.into(),
            value,
        }
    }
}

/// An object with an initializer, one property per line.
pub(super) fn object(open: &str, members: Vec<Member>) -> Doc {
    if members.is_empty() {
        return if open.ends_with(')') {
            open.into()
        } else {
            format!("{open}()").into()
        };
    }
    let mut rows = Vec::with_capacity(members.len());
    for member in members {
        for comment in member.comments {
            rows.push(Doc::text(format!("// {comment}").trim_end().to_owned()));
            rows.push(Doc::Hard);
        }
        let name = format!("{} = ", member.name);
        rows.push(Doc::Row(vec![name.into(), member.value, ",".into()]));
        rows.push(Doc::Hard);
    }
    rows.pop();
    block(open, rows)
}

/// Braces on lines of their own.
fn block(open: &str, mut rows: Vec<Doc>) -> Doc {
    rows.insert(0, Doc::Hard);
    let mut pieces = Vec::new();
    if !open.is_empty() {
        pieces.extend([open.into(), Doc::Hard]);
    }
    pieces.push("{".into());
    pieces.push(Doc::Nest(Box::new(Doc::Row(rows))));
    pieces.extend([Doc::Hard, "}".into()]);
    Doc::Row(pieces)
}

impl Printer {
    /// Values of a list with the kind of their elements.
    fn items(&mut self, items: &[Tree], want: &Want) -> (Vec<Value>, Kind) {
        let (element, wanted) = match want {
            Want::Plain(kind) | Want::Input(kind) => match kind.present() {
                Kind::List(element) => (want.element(), Some((**element).clone())),
                _ => (Want::Free, None),
            },
            Want::Free => (Want::Free, None),
        };
        let values = items
            .iter()
            .map(|it| self.value(it, inner(want, &element, it)));
        let values: Vec<Value> = values.collect();
        let kind = wanted.unwrap_or_else(|| common(&values));
        (values, kind)
    }

    pub(super) fn list(&mut self, items: &[Tree], want: &Want) -> Value {
        let (values, kind) = self.items(items, want);
        let is_plain = values.iter().all(Value::is_plain);
        let is_any = matches!(want, Want::Plain(Kind::Any) | Want::Input(Kind::Any));
        let is_typed = !is_any && !matches!(kind, Kind::Any | Kind::Pointer(_));
        let values = values.into_iter().map(|value| {
            if !is_typed && !is_any && value.form == Form::Output {
                return self.converted(value, &Want::Input(Kind::Any)).code;
            }
            if is_plain || !is_typed {
                return value.code;
            }
            let value = self.converted(value, &Want::Input(kind.clone()));
            self.as_output(value).code
        });
        let codes: Vec<Doc> = values.collect();
        if is_plain && is_typed && !codes.is_empty() {
            let array = Doc::spaced_list("new[] {", codes, "}");
            let code = if matches!(want, Want::Plain(_)) {
                self.usings.insert("System.Linq");
                Doc::Row(vec![array, ".ToList()".into()])
            } else {
                array
            };
            return Value::plain(code, kind.list());
        }
        self.usings.insert("System.Collections.Generic");
        let ty = match (is_plain, is_typed) {
            (true, true) => self.type_of(&kind),
            (false, true) => self.output_type(&kind),
            (_, false) => "object?".to_owned(),
        };
        let form = if is_plain { Form::Plain } else { Form::Nested };
        let code = Doc::spaced_list(&format!("new List<{ty}> {{"), codes, "}");
        Value::new(code, kind.list(), form)
    }

    pub(super) fn map(&mut self, entries: &[(Tree, Tree)], want: &Want) -> Value {
        let (element, wanted) = match want {
            Want::Plain(kind) | Want::Input(kind) => match kind.present() {
                Kind::Map(element) => (want.element(), Some((**element).clone())),
                Kind::Any | Kind::Struct(_) => (Want::Free, None),
                _ => return self.refuse("an object in such a place"),
            },
            Want::Free => (Want::Free, None),
        };
        let mut fields = Vec::new();
        let mut values = Vec::with_capacity(entries.len());
        let mut keys = Vec::with_capacity(entries.len());
        for (key, tree) in entries {
            let value = self.value(tree, inner(want, &element, tree));
            if let Tree::Text(name) = key {
                fields.push((name.clone(), value.kind.clone()));
            }
            keys.push(self.plain(key, Kind::Text).code);
            values.push(value);
        }
        let has_null = values.iter().any(|it| matches!(it.kind, Kind::Null));
        let kind = wanted.clone().unwrap_or_else(|| common(&values));
        let is_plain = values.iter().all(Value::is_plain);
        let is_any = matches!(want, Want::Plain(Kind::Any) | Want::Input(Kind::Any));
        let is_typed = is_plain && !has_null && !is_any && !matches!(kind, Kind::Any);
        let whole = match wanted {
            None if !is_typed && fields.len() == values.len() => Kind::Struct(fields),
            _ => Kind::Map(Box::new(kind.clone())),
        };
        let ty = if is_typed {
            self.type_of(&kind)
        } else {
            "object?".to_owned()
        };
        self.usings.insert("System.Collections.Generic");
        let rows = keys.into_iter().zip(values).map(|(key, value)| {
            // The helper that reads the map recognizes outputs of one type only.
            let value = match value.form {
                Form::Output if !is_any => self.converted(value, &Want::Input(Kind::Any)),
                _ => value,
            };
            Doc::Row(vec!["[".into(), key, "] = ".into(), value.code])
        });
        let rows = rows.collect();
        let open = format!("new Dictionary<string, {ty}> {{");
        let form = if is_plain { Form::Plain } else { Form::Nested };
        Value::new(Doc::spaced_list(&open, rows, "}"), whole, form)
    }

    /// An object of a package type.
    pub(super) fn object(&mut self, object: &Object, is_function: bool) -> Value {
        let properties = match object.package.type_definition(&object.token) {
            Some(Ok(definition)) => match &*definition {
                TypeDefinition::Object(it) => Some(it.properties.clone()),
                TypeDefinition::Enum(_) => None,
            },
            _ => None,
        };
        let Some(properties) = properties else {
            return self.refuse("an object of an unknown type");
        };
        let package = &object.package;
        let class = self.class(package, |it| it.input(package, &object.token, is_function));
        let own = class.rsplit('.').next().unwrap_or_default().to_owned();
        let mut members = Vec::with_capacity(object.fields.len());
        for (name, tree) in &object.fields {
            members.extend(self.member_of(package, &properties, name, tree, &own));
        }
        let kind = Kind::Object(package.clone(), object.token.clone());
        Value::plain(self::object(&format!("new {class}"), members), kind)
    }

    /// Property of an initializer; `None` if the value is missing.
    pub(super) fn member_of(
        &mut self,
        package: &Arc<PackageSchema>,
        properties: &Properties,
        name: &str,
        tree: &Tree,
        class: &str,
    ) -> Option<Member> {
        if matches!(tree, Tree::Null) {
            return None;
        }
        let Some(property) = properties.get(name) else {
            self.refuse(&format!("the unknown property {name}"));
            return None;
        };
        let kind = Kind::of_input(package, property);
        let value = self.input(tree, &kind, property.ty.plain);
        Some(Member::new(csharp_property(name, class), value))
    }

    /// Value of a property. Collections are filled in place, so that outputs and plain values can be mixed.
    pub(super) fn input(&mut self, tree: &Tree, kind: &Kind, is_plain: bool) -> Doc {
        let want = if is_plain {
            Want::Plain(kind.clone())
        } else {
            Want::Input(kind.clone())
        };
        match (tree, kind) {
            (Tree::Map(entries), Kind::Map(_)) => {
                let element = want.element();
                let rows = entries.iter().map(|(key, value)| {
                    let key = self.plain(key, Kind::Text).code;
                    let value = self.value(value, &element).code;
                    Doc::Row(vec!["{ ".into(), key, ", ".into(), value, " }".into()])
                });
                let rows = rows.collect();
                Doc::spaced_list("{", rows, "}")
            }
            (Tree::List(items), Kind::List(_)) => {
                let (values, element) = self.items(items, &want);
                let is_array = !is_plain
                    && !values.is_empty()
                    && values.iter().all(Value::is_plain)
                    && !matches!(element, Kind::Any | Kind::List(_) | Kind::Map(_));
                let codes = values.into_iter().map(|it| it.code).collect();
                let open = if is_array { "new[] {" } else { "{" };
                Doc::spaced_list(open, codes, "}")
            }
            _ => self.value(tree, &want).code,
        }
    }

    pub(super) fn loop_of(&mut self, it: &Loop, want: &Want) -> Value {
        let collection = self.any(&it.collection);
        let collection = self.collection(collection, it.is_map());
        if collection.form == Form::Output {
            return self.refuse("a loop over an output");
        }
        self.usings.insert("System.Linq");
        let scope = self.scope.open();
        let (source, parameter) = self.elements(it, &collection);
        let mut steps = vec![source];
        if let Some(condition) = &it.condition {
            let condition = self.plain(condition, Kind::Bool).code;
            steps.push(Doc::hugged(".Where(", lambda(&parameter, condition), ")"));
        }
        let key = it.result_key.as_ref().map(|it| self.plain(it, Kind::Text));
        let element = match want {
            Want::Plain(Kind::List(_) | Kind::Map(_))
            | Want::Input(Kind::List(_) | Kind::Map(_)) => want.element(),
            _ => Want::Free,
        };
        let result = self.value(&it.result, &element);
        let result = match result.form {
            Form::Nested => self.as_output(result),
            Form::Plain | Form::Output => result,
        };
        self.scope.close(scope);
        let form = match result.form {
            Form::Plain => Form::Plain,
            Form::Nested | Form::Output => Form::Nested,
        };
        let kind = result.kind.clone();
        let kind = if let Some(key) = key {
            let value = match (form, &kind) {
                // The helper that reads the map recognizes outputs of one type only.
                (Form::Nested, _) => {
                    let any = self.converted(result, &Want::Input(Kind::Any));
                    Doc::Row(vec!["(object?)".into(), any.at(Level::Sign)])
                }
                _ => result.code,
            };
            let callbacks = vec![lambda(&parameter, key.code), lambda(&parameter, value)];
            steps.push(Doc::arguments(".ToDictionary(", callbacks, ")"));
            Kind::Map(Box::new(kind))
        } else {
            if result.code.flat().as_deref() != Some(&parameter) {
                steps.push(Doc::hugged(
                    ".Select(",
                    lambda(&parameter, result.code),
                    ")",
                ));
            }
            steps.push(".ToList()".into());
            kind.list()
        };
        let source = steps.remove(0);
        let steps = steps.into_iter().flat_map(|step| [Doc::Soft, step]);
        let chain = Doc::Nest(Box::new(Doc::Row(steps.collect())));
        Value::new(Doc::Group(vec![source, chain]), kind, form)
    }

    /// A value as a list or a map.
    pub(super) fn collection(&mut self, value: Value, is_map: bool) -> Value {
        if !value.is_plain() {
            return value;
        }
        let wanted = match &value.kind {
            Kind::Pointer(inner) => (**inner).clone(),
            Kind::Any if is_map => Kind::Map(Box::new(Kind::Any)),
            Kind::Any => Kind::Any.list(),
            Kind::Struct(_) => return value.of_kind(Kind::Map(Box::new(Kind::Any))),
            _ => return value,
        };
        self.converted(value, &Want::Plain(wanted))
    }

    /// Source of a loop's elements, and the name of the callbacks' parameter. The variables are in scope then.
    fn elements(&mut self, it: &Loop, collection: &Value) -> (Doc, String) {
        let is_nested = collection.form == Form::Nested;
        let (is_map, element) = match &collection.kind {
            Kind::Map(element) => (true, (**element).clone()),
            Kind::List(element) => (false, (**element).clone()),
            _ => {
                self.refuse("a loop over such a value");
                (false, Kind::Any)
            }
        };
        let source = collection.at(Level::Atom);
        if !is_map && it.key.is_none() {
            let parameter = self.local(&it.value);
            let value = element_of(&parameter, element, is_nested);
            self.scope.bind(it.value.clone(), value);
            return (source, parameter);
        }
        let parameter = self.local("entry");
        let [key, value] = if is_map {
            [format!("{parameter}.Key"), format!("{parameter}.Value")]
        } else {
            [format!("{parameter}.position"), format!("{parameter}.item")]
        };
        if let Some(name) = &it.key {
            let kind = if is_map { Kind::Text } else { Kind::Int };
            self.scope.bind(name.clone(), Value::plain(key, kind));
        }
        let value = if is_map && is_nested {
            self.output_member(value.into(), element)
        } else {
            element_of(&value, element, is_nested)
        };
        self.scope.bind(it.value.clone(), value);
        let order = if is_map {
            self.usings.insert("System");
            ".OrderBy(it => it.Key, StringComparer.Ordinal)"
        } else {
            ".Select((item, position) => (item, position))"
        };
        (Doc::Row(vec![source, order.into()]), parameter)
    }

    /// Value of a map that contains outputs of any values, and plain values.
    pub(super) fn output_member(&mut self, code: Doc, kind: Kind) -> Value {
        let code = self.help(Helper::OutputOf, "", vec![code]);
        self.converted(Value::output(code, Kind::Any), &Want::Input(kind))
    }

    pub(super) fn text_key(name: &str) -> Doc {
        CSHARP.string(name).into()
    }
}

/// Values that are accepted as an element of a collection: any, if the collection is part of a value of any type.
fn inner<'w>(want: &'w Want, element: &'w Want, tree: &Tree) -> &'w Want {
    let is_any = matches!(want, Want::Plain(Kind::Any) | Want::Input(Kind::Any));
    if is_any && matches!(tree, Tree::List(_) | Tree::Map(_)) {
        want
    } else {
        element
    }
}

fn element_of(code: &str, kind: Kind, is_nested: bool) -> Value {
    if is_nested {
        Value::output(code, kind)
    } else {
        Value::plain(code, kind)
    }
}
