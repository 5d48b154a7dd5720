//! Lists, maps, objects and loops in Rust.

use std::sync::Arc;

use plumb_codegen::programs::rust_items;
use plumb_pcl::Type;
use plumb_schema::{PackageSchema, Properties, TypeDefinition};

use super::RUST;
use super::convert::{is_collection, made_value, no_block};
use super::expression::Want;
use super::printer::{Form, Hold, Level, Printer, Value};
use super::statements::mentions;
use super::types::input_kind;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::{Loop, Object, Tree};

/// Call of a setter, with the comments above it.
pub(super) struct Setter {
    pub(super) comments: Vec<String>,
    pub(super) name: String,
    pub(super) args: Vec<Doc>,
}

impl Setter {
    pub(super) fn new(name: impl Into<String>, args: Vec<Doc>) -> Self {
        Setter {
            comments: Vec::new(),
            name: name.into(),
            args,
        }
    }
}

/// Calls of setters one after the other: on one line, or a line each.
pub(super) fn builder(start: &str, setters: Vec<Setter>) -> Doc {
    let has_comments = setters.iter().any(|it| !it.comments.is_empty());
    let is_single = setters.len() == 1 && !has_comments;
    let mut rows = Vec::with_capacity(setters.len() * 2);
    for setter in setters {
        for comment in setter.comments {
            rows.push(Doc::Hard);
            rows.push(Doc::text(format!("// {comment}").trim_end().to_owned()));
        }
        if !is_single {
            rows.push(if has_comments { Doc::Hard } else { Doc::Soft });
        }
        let open = format!(".{}(", setter.name);
        rows.push(super::printer::call(&open, setter.args));
    }
    if is_single {
        rows.insert(0, Doc::text(start));
        return Doc::Row(rows);
    }
    Doc::Group(vec![Doc::text(start), Doc::Nest(Box::new(Doc::Row(rows)))])
}

/// Values of an argument, with a word for the type of each.
struct Items {
    codes: Vec<Doc>,
    types: Vec<String>,
}

impl Items {
    /// The values, of one type.
    fn unified(self, ty: &str) -> Vec<Doc> {
        let is_same = self.types.windows(2).all(|pair| pair[0] == pair[1]);
        if is_same {
            return self.codes;
        }
        let open = format!("Input::<{ty}>::from(");
        let codes = self.codes.into_iter();
        codes.map(|it| Doc::hugged(&open, it, ")")).collect()
    }
}

impl Printer {
    /// A value for a parameter that takes inputs, and a word for its type.
    pub(super) fn argument(&mut self, tree: &Tree, kind: &Kind) -> (Doc, String) {
        let value = self.value(tree, &Want::Input(kind.clone()));
        let code = value.lent();
        let word = match code.flat() {
            Some(text) if text.starts_with('&') => "&",
            _ if value.hold == Hold::Text => "&str",
            Some(text) if text.starts_with("Input::") => return (code, "Input".to_owned()),
            _ => "",
        };
        let literal = match (tree, value.form) {
            (Tree::List(items), Form::Plain | Form::Nested) => format!("[{}]", items.len()),
            (Tree::Map(items), Form::Plain | Form::Nested) => format!("{{{}}}", items.len()),
            _ => String::new(),
        };
        let ty = self.type_of(&value.kind);
        let form = match value.form {
            Form::Plain => "",
            Form::Nested => "[]",
            Form::Output => "Output",
        };
        (code, format!("{word}{literal}{form}{ty}"))
    }

    fn arguments_of<'t>(&mut self, trees: impl Iterator<Item = &'t Tree>, kind: &Kind) -> Items {
        let (codes, types) = trees.map(|it| self.argument(it, kind)).unzip();
        Items { codes, types }
    }

    pub(super) fn list(&mut self, items: &[Tree], want: &Want) -> Value {
        match want {
            Want::Input(kind) => match kind.present() {
                Kind::List(element) if items.is_empty() => {
                    let ty = self.type_of(element);
                    Value::plain(format!("Vec::<{ty}>::new()"), kind.present().clone())
                }
                Kind::List(element) if !matches!(**element, Kind::Any | Kind::Struct(_)) => {
                    let ty = self.type_of(element);
                    let codes = self.arguments_of(items.iter(), element).unified(&ty);
                    let kind = kind.present().clone();
                    Value::new(Doc::list("[", codes, "]"), kind, Form::Nested)
                }
                kind => {
                    let code = self.document_of_items(items);
                    let code = Doc::hugged("value!(", code, ")");
                    match kind {
                        Kind::List(_) => {
                            let code = Doc::hugged("Input::from_value(", code, ")");
                            Value::new(code, kind.clone(), Form::Nested)
                        }
                        _ => Value::new(code, Kind::Any, Form::Nested),
                    }
                }
            },
            Want::Plain(kind) => {
                if let Kind::List(element) = kind.present() {
                    let codes = items.iter().map(|it| self.owned(it, (**element).clone()));
                    let codes = codes.collect();
                    let list = vector(codes, element, &mut |kind| self.type_of(kind));
                    return self.as_plain(Value::plain(list, kind.present().clone()), kind);
                }
                let list = self.free_list(items);
                self.as_plain(list, kind)
            }
            Want::Free => self.free_list(items),
        }
    }

    fn free_list(&mut self, items: &[Tree]) -> Value {
        let values: Vec<Value> = items.iter().map(|it| self.any(it)).collect();
        let values: Vec<Value> = values.into_iter().map(Self::settled).collect();
        let kind = common(&values);
        let is_plain = values.iter().all(Value::is_plain);
        let form = if is_plain { Form::Plain } else { Form::Nested };
        let whole = kind.clone().list();
        if !is_collection(&whole) || values.iter().any(|it| it.form == Form::Nested) {
            let code = Doc::hugged("value!(", self.document_of_items(items), ")");
            return Value::new(code, Kind::Any, form);
        }
        let codes = values.into_iter().map(|value| {
            if is_plain {
                return self.as_plain(value, &kind).owned().code;
            }
            let output = self.as_output(value);
            self.output_of_kind(output, &kind).owned().code
        });
        let codes = codes.collect();
        let code = vector(codes, &kind, &mut |kind| self.type_of(kind));
        Value::new(code, whole, form)
    }

    pub(super) fn map(&mut self, entries: &[(Tree, Tree)], want: &Want) -> Value {
        match want {
            Want::Input(kind) => match kind.present() {
                Kind::Map(element) if entries.is_empty() => {
                    let (map, ty) = (self.map_type(), self.type_of(element));
                    let code = format!("{map}::<String, {ty}>::new()");
                    Value::plain(code, kind.present().clone())
                }
                Kind::Map(element) if !matches!(**element, Kind::Any | Kind::Struct(_)) => {
                    let ty = self.type_of(element);
                    let values = entries.iter().map(|(_, value)| value);
                    let values = self.arguments_of(values, element).unified(&ty);
                    let is_literal = entries.iter().all(|(key, _)| matches!(key, Tree::Text(_)));
                    let pairs = entries.iter().zip(values).map(|((key, _), value)| {
                        let key = if is_literal {
                            self.text(key)
                        } else {
                            self.owned(key, Kind::Text)
                        };
                        Doc::list("(", vec![key, value], ")")
                    });
                    let code = Doc::list("[", pairs.collect(), "]");
                    Value::new(code, kind.present().clone(), Form::Nested)
                }
                kind => {
                    let code = self.document_of_entries(entries);
                    let code = Doc::hugged("value!(", code, ")");
                    match kind {
                        Kind::Map(_) => {
                            let code = Doc::hugged("Input::from_value(", code, ")");
                            Value::new(code, kind.clone(), Form::Nested)
                        }
                        _ => Value::new(code, Kind::Any, Form::Nested),
                    }
                }
            },
            Want::Plain(kind) => match kind.present() {
                Kind::Map(element) if !matches!(**element, Kind::Any) => {
                    let pairs = entries.iter().map(|(key, value)| {
                        let key = self.owned(key, Kind::Text);
                        let value = self.owned(value, (**element).clone());
                        Doc::list("(", vec![key, value], ")")
                    });
                    let pairs = pairs.collect();
                    let code = self.map_of(pairs);
                    self.as_plain(Value::plain(code, kind.present().clone()), kind)
                }
                _ => {
                    let map = self.free_map(entries);
                    self.as_plain(map, kind)
                }
            },
            Want::Free => self.free_map(entries),
        }
    }

    fn map_of(&mut self, pairs: Vec<Doc>) -> Doc {
        let map = self.map_type();
        Doc::hugged(&format!("{map}::from("), Doc::list("[", pairs, "]"), ")")
    }

    fn free_map(&mut self, entries: &[(Tree, Tree)]) -> Value {
        let mut fields = Vec::with_capacity(entries.len());
        let mut values = Vec::with_capacity(entries.len());
        for (key, tree) in entries {
            let value = self.any(tree);
            let value = Self::settled(value);
            if let Tree::Text(name) = key {
                fields.push((name.clone(), value.kind.clone()));
            }
            values.push(value);
        }
        let kind = common(&values);
        let is_plain = values.iter().all(Value::is_plain);
        let form = if is_plain { Form::Plain } else { Form::Nested };
        let whole = Kind::Map(Box::new(kind.clone()));
        let has_nested = values.iter().any(|it| it.form == Form::Nested);
        if !is_collection(&whole) || !is_plain || has_nested {
            let code = Doc::hugged("value!(", self.document_of_entries(entries), ")");
            let kind = if fields.len() == entries.len() {
                Kind::Struct(fields)
            } else {
                Kind::Any
            };
            return Value::new(code, kind, form);
        }
        let mut pairs = Vec::with_capacity(entries.len());
        for ((key, _), value) in entries.iter().zip(values) {
            let key = self.owned(key, Kind::Text);
            let value = self.as_plain(value, &kind).owned().code;
            pairs.push(Doc::list("(", vec![key, value], ")"));
        }
        Value::new(self.map_of(pairs), whole, form)
    }

    /// Argument of the macro `value!`.
    pub(super) fn document(&mut self, tree: &Tree) -> Doc {
        match tree {
            Tree::Null => "null".into(),
            Tree::List(items) => self.document_of_items(items),
            Tree::Map(entries) => self.document_of_entries(entries),
            other => {
                let value = self.any(other);
                let code = if value.hold == Hold::Args {
                    value.code
                } else {
                    value.lent()
                };
                no_block(code)
            }
        }
    }

    fn document_of_items(&mut self, items: &[Tree]) -> Doc {
        let items = items.iter().map(|it| self.document(it)).collect();
        Doc::list("[", items, "]")
    }

    fn document_of_entries(&mut self, entries: &[(Tree, Tree)]) -> Doc {
        let rows = entries.iter().map(|(key, value)| {
            let is_structure = matches!(value, Tree::List(_) | Tree::Map(_) | Tree::Null);
            let printed = self.document(value);
            match key {
                Tree::Text(name) => {
                    let key = Doc::text(format!("{}: ", RUST.string(name)));
                    Doc::Row(vec![key, printed])
                }
                other => {
                    let key = self.text(other);
                    let printed = if is_structure {
                        Doc::hugged("value!(", printed, ")")
                    } else {
                        printed
                    };
                    Doc::Row(vec!["(".into(), key, "): ".into(), printed])
                }
            }
        });
        Doc::spaced_list("{", rows.collect(), "}")
    }

    /// Arguments for an object of a package type.
    pub(super) fn object(&mut self, object: &Object) -> Value {
        let properties = match object.package.type_definition(&object.token) {
            Some(Ok(definition)) => match &*definition {
                TypeDefinition::Object(it) => Some(it.properties.clone()),
                TypeDefinition::Enum(_) => None,
            },
            _ => None,
        };
        let path = self.definition_path(&object.package, &object.token);
        let (Some(properties), Some(path)) = (properties, path) else {
            return self.refuse("an object of an unknown type");
        };
        let class = self.named(&format!("{path}Args"));
        let fields = object
            .fields
            .iter()
            .map(|(name, tree)| (&**name, tree, &[][..]));
        let code = self.arguments(&class, &object.package, &properties, fields);
        let kind = Kind::Object(object.package.clone(), object.token.clone());
        Value::plain(code, kind).held(Hold::Args)
    }

    /// A builder of arguments: name, value and comments of each.
    pub(super) fn arguments<'t>(
        &mut self,
        class: &str,
        package: &Arc<PackageSchema>,
        properties: &Properties,
        fields: impl Iterator<Item = (&'t str, &'t Tree, &'t [String])>,
    ) -> Doc {
        let fields: Vec<(&str, &Tree, &[String])> =
            fields.filter(|it| !matches!(it.1, Tree::Null)).collect();
        let is_set = |name: &str| fields.iter().any(|it| it.0 == name);
        let is_known = fields.iter().all(|it| properties.contains_key(it.0));
        let mut demanded = properties.values().filter(|it| rust_items::is_demanded(it));
        if !is_known || !demanded.all(|it| is_set(&it.name)) {
            return self.unchecked(class, &fields);
        }
        let mut setters = Vec::with_capacity(fields.len());
        for (name, tree, comments) in fields {
            let Some(property) = properties.get(name) else {
                continue;
            };
            // The constructor sets the only value that is allowed.
            let Some(setter) = rust_items::setter(properties, name) else {
                continue;
            };
            let kind = input_kind(package, property);
            let (code, _) = self.argument(tree, &kind);
            setters.push(Setter {
                comments: comments.to_vec(),
                name: setter,
                args: vec![code],
            });
        }
        builder(&format!("{class}::new()"), setters)
    }

    /// Arguments of which some are missing or unknown.
    fn unchecked(&mut self, class: &str, fields: &[(&str, &Tree, &[String])]) -> Doc {
        let entries = fields.iter();
        let entries: Vec<(Tree, Tree)> = entries
            .map(|(name, tree, _)| (Tree::Text((*name).into()), (*tree).clone()))
            .collect();
        let document = self.document_of_entries(&entries);
        Doc::hugged(&format!("{class}::dynamic(value!("), document, "))")
    }

    pub(super) fn loop_of(&mut self, it: &Loop) -> Value {
        let collection = self.any(&it.collection);
        let Some((mut head, scope)) = self.elements(it, collection) else {
            return Value::plain("Value::Null", Kind::Any);
        };
        let outer = std::mem::replace(&mut self.is_fallible, false);
        let condition = it.condition.as_ref().map(|it| self.plain(it, Kind::Bool));
        let key = it.result_key.as_ref().map(|it| self.owned(it, Kind::Text));
        let result = self.any(&it.result);
        let result = match result.form {
            Form::Nested => self.as_output(result),
            Form::Plain | Form::Output => Self::settled(result),
        };
        self.scope.close(scope);
        for parameter in &head.parameters {
            self.captured.remove(parameter);
        }
        let is_fallible = self.is_fallible;
        self.is_fallible |= outer;
        let kind = match &result.kind {
            Kind::Resource(_, path) if path.is_empty() => Kind::Any,
            kind => kind.clone(),
        };
        let form = match result.form {
            Form::Plain => Form::Plain,
            Form::Nested | Form::Output => Form::Nested,
        };
        let is_map = key.is_some();
        let made = result.owned().code;
        let made = match key {
            Some(key) => Doc::list("(", vec![key, made], ")"),
            None => made,
        };
        let condition = condition.map(|it| it.code);
        head.mark_unused(condition.iter().chain([&made]));
        let code = if is_fallible {
            collected_by_statements(&head, condition, made, is_map)
        } else {
            let code = collected_by_iterator(&head, condition, made);
            let target = if is_map {
                self.map_type()
            } else {
                "Vec".to_owned()
            };
            let types = if is_map { "<_, _>" } else { "<_>" };
            Doc::Row(vec![
                code,
                Doc::text(format!(".collect::<{target}{types}>()")),
            ])
        };
        let kind = if is_map {
            Kind::Map(Box::new(kind))
        } else {
            kind.list()
        };
        let value = Value::new(code, kind, form);
        if form == Form::Nested && !is_collection(&value.kind) {
            return Value::new(made_value(value.code), Kind::Any, form);
        }
        value
    }

    /// Iterator over a loop's collection; the variables are in scope then.
    fn elements(&mut self, it: &Loop, collection: Value) -> Option<(Head, [usize; 2])> {
        let collection = self.collection(collection, it.is_map());
        if collection.form == Form::Output {
            self.refuse("a loop over an output");
            return None;
        }
        let form = if collection.form == Form::Nested {
            Form::Output
        } else {
            Form::Plain
        };
        let element = match &collection.kind {
            Kind::Map(element) | Kind::List(element) => (**element).clone(),
            _ => {
                self.refuse("a loop over such a value");
                return None;
            }
        };
        let is_map = matches!(collection.kind, Kind::Map(_));
        let is_lent = matches!(collection.hold, Hold::Place | Hold::Borrowed);
        let scope = self.scope.open();
        let key = it.key.as_ref().map(|name| {
            let local = self.local(name);
            let value = if is_map && is_lent {
                self.element_variable(&local, Kind::Text, Form::Plain)
            } else {
                let kind = if is_map { Kind::Text } else { Kind::Int };
                Value::plain(local.clone(), kind).held(Hold::Place)
            };
            self.scope.bind(name.clone(), value);
            local
        });
        let item = self.local(&it.value);
        let value = if is_lent {
            self.element_variable(&item, element, form)
        } else {
            Value::new(item.clone(), element, form).held(Hold::Place)
        };
        let is_copied = is_lent && value.is_copy();
        self.scope.bind(it.value.clone(), value);
        let parameters = key.iter().cloned().chain([item.clone()]).collect();
        let (pattern, source) = source_of(&collection, is_lent, is_copied, key, item);
        Some((
            Head {
                pattern,
                parameters,
                source,
            },
            scope,
        ))
    }

    /// A value as a list or a map of Rust.
    pub(super) fn collection(&mut self, value: Value, is_map: bool) -> Value {
        match (&value.kind, value.form) {
            (Kind::Pointer(inner), Form::Plain) => {
                let inner = (**inner).clone();
                self.as_plain(value, &inner)
            }
            (Kind::Object(..) | Kind::Result(_), Form::Plain) => {
                let any = self.as_plain(value, &Kind::Any);
                self.as_plain(any, &Kind::Map(Box::new(Kind::Any)))
            }
            (Kind::Any | Kind::Struct(_), Form::Plain) => {
                let kind = if is_map {
                    Kind::Map(Box::new(Kind::Any))
                } else {
                    Kind::Any.list()
                };
                self.as_plain(value, &kind)
            }
            _ => value,
        }
    }
}

/// Pattern for the elements of a loop, and the iterator over its collection.
fn source_of(
    collection: &Value,
    is_lent: bool,
    is_copied: bool,
    key: Option<String>,
    item: String,
) -> (String, Doc) {
    let is_map = matches!(collection.kind, Kind::Map(_));
    let copies = if is_copied { ".copied()" } else { "" };
    let call = |method: &str| {
        let method = format!(".{method}(){copies}");
        Doc::Row(vec![collection.at(Level::Atom), method.into()])
    };
    match (is_map, key, is_lent) {
        (false, None, true) => (item, call("iter")),
        (false, None, false) => (item, call("into_iter")),
        (true, None, true) => (item, call("values")),
        (true, None, false) => (item, call("into_values")),
        (true, Some(key), true) => {
            let mark = if is_copied { "&" } else { "" };
            let source = collection.method("iter", Vec::new());
            (format!("({key}, {mark}{item})"), source)
        }
        (true, Some(key), false) => (format!("({key}, {item})"), call("into_iter")),
        (false, Some(key), _) => {
            let items = match (is_lent, is_copied) {
                (true, true) => call("iter"),
                (true, false) => collection.reference(),
                (false, _) => collection.code.clone(),
            };
            let source = Doc::hugged("(0_i64..).zip(", items, ")");
            (format!("({key}, {item})"), source)
        }
    }
}

/// Source of a loop, and the pattern for its elements.
struct Head {
    pattern: String,
    parameters: Vec<String>,
    source: Doc,
}

impl Head {
    /// Gives variables that none of `uses` mentions an underscore.
    fn mark_unused<'d>(&mut self, uses: impl Iterator<Item = &'d Doc>) {
        let text: String = uses.map(|it| it.render(0, 0, 4)).collect();
        for name in &self.parameters {
            if mentions(&text, name) {
                continue;
            }
            let parts = self.pattern.split_inclusive([' ', '(', ',', '&']);
            let parts = parts.map(|part| match part.strip_prefix(name.as_str()) {
                Some("" | "," | ")") => format!("_{part}"),
                _ => part.to_owned(),
            });
            self.pattern = parts.collect();
        }
    }
}

fn collected_by_iterator(head: &Head, condition: Option<Doc>, made: Doc) -> Doc {
    let is_same = condition.is_none() && made.flat().as_ref() == Some(&head.pattern);
    let source = head.source.clone();
    if is_same {
        return source;
    }
    let pattern = &head.pattern;
    let Some(condition) = condition else {
        let open = format!(".map(|{pattern}| ");
        return Doc::Row(vec![source, Doc::hugged(&open, made, ")")]);
    };
    let body = Doc::Row(vec![
        condition_of(condition),
        Doc::hugged(".then(|| ", made, ")"),
    ]);
    let open = format!(".filter_map(|{pattern}| ");
    Doc::Row(vec![source, Doc::hugged(&open, body, ")")])
}

fn condition_of(condition: Doc) -> Doc {
    Doc::hugged("(", condition, ")")
}

/// A block that collects the results, of which one may fail.
fn collected_by_statements(head: &Head, condition: Option<Doc>, made: Doc, is_map: bool) -> Doc {
    let add = if is_map { "extend([" } else { "push(" };
    let end = if is_map { "]);" } else { ");" };
    let mut inner = Doc::hugged(&format!("collected.{add}"), made, end);
    if let Some(condition) = condition {
        inner = Doc::Row(vec![
            "if ".into(),
            condition,
            " {".into(),
            Doc::Nest(Box::new(Doc::Row(vec![Doc::Hard, inner]))),
            Doc::Hard,
            "}".into(),
        ]);
    }
    let class = if is_map {
        "std::collections::BTreeMap"
    } else {
        "Vec"
    };
    let rows = vec![
        Doc::Hard,
        Doc::text(format!("let mut collected = {class}::new();")),
        Doc::Hard,
        Doc::text(format!("for {} in ", head.pattern)),
        head.source.clone(),
        " {".into(),
        Doc::Nest(Box::new(Doc::Row(vec![Doc::Hard, inner]))),
        Doc::Hard,
        "}".into(),
        Doc::Hard,
        "collected".into(),
    ];
    Doc::Row(vec![
        "{".into(),
        Doc::Nest(Box::new(Doc::Row(rows))),
        Doc::Hard,
        "}".into(),
    ])
}

/// A vector; an empty one needs its type.
fn vector(codes: Vec<Doc>, element: &Kind, type_of: &mut dyn FnMut(&Kind) -> String) -> Doc {
    if codes.is_empty() {
        return format!("Vec::<{}>::new()", type_of(element)).into();
    }
    Doc::list("vec![", codes, "]")
}

/// Common kind of values of which none is missing.
fn common(values: &[Value]) -> Kind {
    let mut kinds = values.iter().map(|it| it.kind.clone());
    let Some(first) = kinds.next() else {
        return Kind::Any;
    };
    match kinds.fold(first, |a, b| a.or(&b)) {
        Kind::Null | Kind::Pointer(_) => Kind::Any,
        kind => kind,
    }
}

/// The type that a place without a schema has.
pub(super) fn kind_of(ty: &Type) -> Kind {
    super::types::normal(Kind::of(&ty.without_none()))
}
