//! Lists, maps, objects and loops in Java.

use plumb_pcl::Type;
use plumb_schema::{Properties, TypeDefinition};

use super::JAVA;
use super::convert::{cast, lambda};
use super::expression::Want;
use super::helpers::Helper;
use super::printer::{Form, Printer, Value};
use super::types::left_of;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Loop, Object, Tree};
use crate::values::common;

/// A call of a builder's method, with the comments above it.
pub(super) struct Setter {
    pub(super) comments: Vec<String>,
    pub(super) name: String,
    pub(super) args: Vec<Doc>,
}

impl Setter {
    pub(super) fn new(name: impl Into<String>, value: Doc) -> Self {
        Setter {
            comments: Vec::new(),
            name: name.into(),
            args: vec![value],
        }
    }
}

/// Builder of a class, one method per line.
pub(super) fn builder(class: &str, setters: Vec<Setter>) -> Doc {
    let mut rows = Vec::with_capacity(setters.len() + 1);
    for setter in setters {
        for comment in setter.comments {
            rows.push(Doc::Hard);
            rows.push(Doc::text(format!("// {comment}").trim_end().to_owned()));
        }
        rows.push(Doc::Hard);
        rows.push(Doc::call(&format!(".{}(", setter.name), setter.args));
    }
    rows.push(Doc::Hard);
    rows.push(".build()".into());
    Doc::Row(vec![
        Doc::text(format!("{class}.builder()")),
        Doc::Nest(Box::new(Doc::Row(rows))),
    ])
}

impl Printer {
    pub(super) fn list(&mut self, items: &[Tree], want: &Want) -> Value {
        let wanted = match want {
            Want::Free => Kind::Any,
            Want::Plain(kind) | Want::Input(kind) => kind.present().clone(),
        };
        let element = match &wanted {
            Kind::List(_) => want.element(),
            Kind::Any => Want::Free,
            _ => return self.refuse("a list in such a place"),
        };
        let values: Vec<Value> = items.iter().map(|it| self.value(it, &element)).collect();
        let kind = match &wanted {
            Kind::List(kind) => (**kind).clone(),
            _ => common(&values),
        };
        let is_plain = values.iter().all(Value::is_plain);
        let is_typed = !matches!(kind, Kind::Any);
        let has_null = values.iter().any(|it| matches!(it.kind, Kind::Null));
        let codes = values.into_iter().map(|value| {
            let value = match (is_plain, is_typed) {
                (true, true) => self.converted(value, &Want::Plain(kind.clone())),
                (true, false) => value,
                (false, true) => {
                    let value = self.converted(value, &Want::Input(kind.clone()));
                    self.as_output(value)
                }
                (false, false) => value,
            };
            value.code
        });
        let codes: Vec<Doc> = codes.collect();
        let is_typed = is_typed || codes.is_empty();
        if !is_plain && is_typed && matches!(want, Want::Input(_)) && !matches!(wanted, Kind::Any) {
            let class = self.output_class();
            let code = Doc::arguments(&format!("{class}.all("), codes, ")");
            return Value::output(code, wanted);
        }
        let open = match (has_null, is_typed) {
            (true, _) => {
                let class = self.class("java.util.Arrays");
                format!("{class}.asList(")
            }
            (false, true) => format!("{}.of(", self.class("java.util.List")),
            (false, false) => format!("{}.<Object>of(", self.class("java.util.List")),
        };
        let form = if is_plain { Form::Plain } else { Form::Nested };
        let list = Value::new(Doc::arguments(&open, codes, ")"), kind.list(), form);
        self.present_in(list, want)
    }

    /// A collection in the form of a place that may be empty.
    fn present_in(&mut self, value: Value, want: &Want) -> Value {
        match want {
            Want::Plain(Kind::Pointer(_)) => self.converted(value, want),
            _ => value,
        }
    }

    pub(super) fn map(&mut self, entries: &[(Tree, Tree)], want: &Want) -> Value {
        let wanted = match want {
            Want::Free => Kind::Any,
            Want::Plain(kind) | Want::Input(kind) => kind.present().clone(),
        };
        let element = match &wanted {
            Kind::Map(_) => want.element(),
            Kind::Any | Kind::Struct(_) => Want::Free,
            _ => return self.refuse("an object in such a place"),
        };
        let mut keys = Vec::with_capacity(entries.len());
        let mut values = Vec::with_capacity(entries.len());
        let mut fields = Vec::new();
        for (key, tree) in entries {
            let value = self.value(tree, &element);
            // A map cannot contain `null`, and a missing member means the same.
            if matches!(value.kind, Kind::Null) {
                continue;
            }
            if let Tree::Text(name) = key {
                fields.push((name.clone(), value.kind.clone()));
            }
            keys.push(self.plain(key, Kind::Text).code);
            values.push(value);
        }
        let kind = match &wanted {
            Kind::Map(kind) => (**kind).clone(),
            _ => common(&values),
        };
        let is_plain = values.iter().all(Value::is_plain);
        let is_typed = !matches!(kind, Kind::Any) && is_plain || values.is_empty();
        let is_input = !is_plain && matches!(want, Want::Input(_)) && !matches!(wanted, Kind::Any);
        let whole = match &wanted {
            Kind::Map(_) => wanted.clone(),
            _ if matches!(kind, Kind::Any) && fields.len() == values.len() => Kind::Struct(fields),
            _ => Kind::Map(Box::new(kind.clone())),
        };
        let mut codes = Vec::with_capacity(values.len());
        for (key, value) in keys.into_iter().zip(values) {
            let value = if is_typed {
                self.converted(value, &Want::Plain(kind.clone()))
            } else {
                value
            };
            codes.push([key, value.code]);
        }
        let code = self.map_of(codes, is_typed);
        let form = if is_plain { Form::Plain } else { Form::Nested };
        let map = Value::new(code, whole, form);
        if is_input {
            return self.as_output(map);
        }
        self.present_in(map, want)
    }

    fn map_of(&mut self, entries: Vec<[Doc; 2]>, is_typed: bool) -> Doc {
        let class = self.class("java.util.Map");
        let types = if is_typed { "" } else { "<String, Object>" };
        let is_long = entries.len() > 10;
        let entries = entries.into_iter().map(|[key, value]| {
            if is_long {
                let types = if is_typed { "" } else { "<String, Object>" };
                Doc::arguments(&format!("{class}.{types}entry("), vec![key, value], ")")
            } else {
                Doc::Row(vec![key, ", ".into(), value])
            }
        });
        let name = if is_long { "ofEntries" } else { "of" };
        Doc::arguments(&format!("{class}.{types}{name}("), entries.collect(), ")")
    }

    /// An object of a package type, built.
    pub(super) fn object(&mut self, object: &Object) -> Value {
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
        let mut setters = Vec::with_capacity(object.fields.len());
        for (name, tree) in &object.fields {
            setters.extend(self.setter(&object.package, &properties, name, tree));
        }
        let (classes, _) = Printer::package(&object.package);
        let class = self.class(&classes.input(&object.package, &object.token));
        let kind = Kind::Object(object.package.clone(), object.token.clone());
        Value::plain(builder(&class, setters), kind)
    }

    /// Call of the setter of a property; `None` if the value is missing.
    pub(super) fn setter(
        &mut self,
        package: &std::sync::Arc<plumb_schema::PackageSchema>,
        properties: &Properties,
        name: &str,
        tree: &Tree,
    ) -> Option<Setter> {
        if matches!(tree, Tree::Null) {
            return None;
        }
        let Some(property) = properties.get(name) else {
            self.refuse(&format!("the unknown property {name}"));
            return None;
        };
        let kind = Kind::of_input(package, property);
        let left = left_of(&Type::of_property(package, property));
        let args = self.input(tree, kind, property.ty.plain, left);
        Some(Setter {
            comments: Vec::new(),
            name: JAVA.property(name),
            args,
        })
    }

    /// Arguments of a setter: several if the value is a list of plain elements.
    pub(super) fn input(
        &mut self,
        tree: &Tree,
        kind: Kind,
        is_plain: bool,
        left: Option<Kind>,
    ) -> Vec<Doc> {
        let want = if is_plain {
            Want::Plain(kind.clone())
        } else {
            Want::Input(kind.clone())
        };
        if let (Tree::List(items), Kind::List(element)) = (tree, &kind)
            && !items.is_empty()
            && !matches!(**element, Kind::Any | Kind::List(_))
        {
            let element = want.element();
            let values: Vec<Value> = items.iter().map(|it| self.value(it, &element)).collect();
            if values
                .iter()
                .all(|it| it.is_plain() && !matches!(it.kind, Kind::Null))
            {
                return values.into_iter().map(|it| it.code).collect();
            }
        }
        let value = self.value(tree, &want);
        vec![self.for_setter(value, left)]
    }

    pub(super) fn loop_of(&mut self, it: &Loop, want: &Want) -> Value {
        let collection = self.any(&it.collection);
        let collection = self.collection(collection, it.is_map());
        if collection.form == Form::Output {
            return self.refuse("a loop over an output");
        }
        let scope = self.scope.open();
        let (source, parameter) = self.elements(it, collection);
        let condition = it.condition.as_ref().map(|it| self.plain(it, Kind::Bool));
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
        let mut steps = Vec::new();
        if let Some(condition) = condition {
            let callback = lambda(&parameter, condition.code);
            steps.push(Doc::hugged(".filter(", callback, ")"));
        }
        let form = match result.form {
            Form::Plain => Form::Plain,
            Form::Nested | Form::Output => Form::Nested,
        };
        let collectors = self.class("java.util.stream.Collectors");
        let kind = result.kind.clone();
        if let Some(key) = key {
            let callbacks = vec![
                lambda(&parameter, key.code),
                lambda(&parameter, result.code),
            ];
            let open = format!(".collect({collectors}.toMap(");
            steps.push(Doc::arguments(&open, callbacks, "))"));
            return Value::new(chain(source, steps), Kind::Map(Box::new(kind)), form);
        }
        if result.code.flat().as_deref() != Some(&parameter) {
            steps.push(Doc::hugged(".map(", lambda(&parameter, result.code), ")"));
        }
        steps.push(format!(".collect({collectors}.toList())").into());
        Value::new(chain(source, steps), kind.list(), form)
    }

    /// A value as a list or a map.
    pub(super) fn collection(&mut self, value: Value, is_map: bool) -> Value {
        match &value.kind {
            Kind::Pointer(inner) if value.is_plain() => {
                let inner = (**inner).clone();
                self.converted(value, &Want::Plain(inner))
            }
            Kind::Any if value.is_plain() => {
                let kind = if is_map {
                    Kind::Map(Box::new(Kind::Any))
                } else {
                    Kind::Any.list()
                };
                let ty = self.type_of(&kind);
                cast(&ty, &value).of_kind(kind)
            }
            Kind::Struct(_) => value.of_kind(Kind::Map(Box::new(Kind::Any))),
            _ => value,
        }
    }

    /// Stream of a loop's elements, and the name of the callbacks' parameter. The variables are in scope then.
    fn elements(&mut self, it: &Loop, collection: Value) -> (Doc, String) {
        let is_nested = collection.form == Form::Nested;
        let (is_map, element) = match &collection.kind {
            Kind::Map(element) => (true, (**element).clone()),
            Kind::List(element) => (false, (**element).clone()),
            _ => {
                self.refuse("a loop over such a value");
                (false, Kind::Any)
            }
        };
        let item = |code: String| Value::plain(code, element.clone());
        if !is_map && it.key.is_none() {
            let parameter = self.local(&it.value);
            let value = self.element_of(item(parameter.clone()), is_nested);
            self.scope.bind(it.value.clone(), value);
            return (collection.method("stream", Vec::new()), parameter);
        }
        let parameter = self.local("entry");
        if let Some(key) = &it.key {
            let kind = if is_map { Kind::Text } else { Kind::Int };
            let code = Value::plain(format!("{parameter}.getKey()"), kind);
            self.scope.bind(key.clone(), code);
        }
        let value = item(format!("{parameter}.getValue()"));
        let value = self.element_of(value, is_nested);
        self.scope.bind(it.value.clone(), value);
        let source = if is_map {
            let class = self.class("java.util.TreeMap");
            let open = format!("new {class}<>(");
            Doc::hugged(&open, collection.code, ").entrySet().stream()")
        } else {
            let list = self.help(Helper::Indexed, vec![collection.code]);
            Doc::Row(vec![list, ".stream()".into()])
        };
        (source, parameter)
    }

    /// An element of a collection, which is an output if the collection contains outputs.
    pub(super) fn element_of(&mut self, item: Value, is_nested: bool) -> Value {
        if !is_nested {
            return item;
        }
        let ty = self.type_of(&item.kind);
        let name = self.helper(Helper::OutputOf, &format!("<{ty}>"));
        let code = Doc::hugged(&format!("{name}("), item.code, ")");
        Value::output(code, item.kind)
    }
}

/// Calls of methods one after the other: on one line, or a line each.
fn chain(source: Doc, steps: Vec<Doc>) -> Doc {
    let steps = steps.into_iter().flat_map(|step| [Doc::Soft, step]);
    Doc::Group(vec![source, Doc::Nest(Box::new(Doc::Row(steps.collect())))])
}
