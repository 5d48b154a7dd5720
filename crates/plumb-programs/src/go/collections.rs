//! Lists, maps, objects, choices and loops in Go.

use plumb_pcl::Type;
use plumb_schema::TypeDefinition;

use super::GO;
use super::expression::Want;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::{Code, Statement};
use crate::tree::{Loop, Object, Tree};

impl Printer {
    pub(super) fn list(&mut self, items: &[Tree], want: &Want) -> Value {
        let inner = want.element();
        let values = self.elements(items.iter(), &inner);
        match want {
            Want::Plain(_) | Want::Input(_) => self.collected_list(values, &inner),
            Want::Free => {
                let inner = common(&values);
                let converted = values.into_iter().map(|it| self.converted(it, &inner));
                let converted = converted.collect();
                self.collected_list(converted, &inner)
            }
        }
    }

    /// Prints the elements of a collection. Empty ones get their type from the others, which come first for that reason.
    fn elements<'t>(&mut self, trees: impl Iterator<Item = &'t Tree>, want: &Want) -> Vec<Value> {
        let is_untyped = |tree: &Tree| match tree {
            Tree::List(items) => items.is_empty() && matches!(want, Want::Free),
            Tree::Map(entries) => entries.is_empty() && matches!(want, Want::Free),
            _ => false,
        };
        let trees: Vec<&Tree> = trees.collect();
        let typed = trees
            .iter()
            .map(|it| (!is_untyped(it)).then(|| self.value(it, want)));
        let typed: Vec<Option<Value>> = typed.collect();
        let known: Vec<Value> = typed.iter().flatten().cloned().collect();
        let other = if known.is_empty() {
            Want::Free
        } else {
            common(&known)
        };
        let values = trees.into_iter().zip(typed);
        values
            .map(|(tree, value)| value.unwrap_or_else(|| self.value(tree, &other)))
            .collect()
    }

    pub(super) fn collected_list(&mut self, values: Vec<Value>, inner: &Want) -> Value {
        let codes = values.into_iter().map(|it| it.code).collect();
        match inner {
            Want::Input(kind) => {
                let kind = kind.clone().list();
                match self.stem(&kind) {
                    Some(stem) => Value::input(Code::list(stem, codes), kind),
                    None => self.refuse("a list of such values"),
                }
            }
            Want::Plain(kind) => {
                let kind = kind.clone().list();
                let ty = self.plain_type(&kind);
                Value::plain(Code::list(ty, codes), kind)
            }
            Want::Free => self.refuse("a list of such values"),
        }
    }

    pub(super) fn map(&mut self, entries: &[(Tree, Tree)], want: &Want) -> Value {
        if let Want::Plain(Kind::Struct(_)) | Want::Input(Kind::Struct(_)) = want {
            return self.map(entries, &Want::Free);
        }
        let inner = want.element();
        let keys: Vec<Code> = entries
            .iter()
            .map(|(key, _)| self.plain(key, Kind::Text))
            .collect();
        let values = self.elements(entries.iter().map(|(_, value)| value), &inner);
        let inner = match want {
            Want::Free => common(&values),
            _ => inner,
        };
        let values = values.into_iter().map(|it| self.converted(it, &inner).code);
        let entries = keys.into_iter().zip(values.collect::<Vec<_>>()).collect();
        match inner {
            Want::Input(kind) => {
                let kind = Kind::Map(Box::new(kind));
                match self.stem(&kind) {
                    Some(stem) => Value::input(Code::keyed(stem, entries, false), kind),
                    None => self.refuse("a map of such values"),
                }
            }
            Want::Plain(kind) => {
                let kind = Kind::Map(Box::new(kind));
                let ty = self.plain_type(&kind);
                Value::plain(Code::keyed(ty, entries, false), kind)
            }
            Want::Free => self.refuse("a map of such values"),
        }
    }

    pub(super) fn object(&mut self, object: &Object, want: &Want) -> Value {
        let is_plain = matches!(want, Want::Plain(_)) || object.is_in_callback;
        if !is_plain {
            return self.struct_of(object, "&");
        }
        let Some(fields) = self.fields(object, true) else {
            return self.refuse("an object of an unknown type");
        };
        let class = self.type_class(&object.package, &object.token);
        let kind = Kind::Object(object.package.clone(), object.token.clone());
        Value::plain(Code::keyed(class, fields, false), kind)
    }

    /// The struct of arguments for an object; `sign` is `&` for a pointer to it.
    pub(super) fn struct_of(&mut self, object: &Object, sign: &str) -> Value {
        let Some(fields) = self.fields(object, false) else {
            return self.refuse("an object of an unknown type");
        };
        let class = self.type_class(&object.package, &object.token);
        let kind = Kind::Object(object.package.clone(), object.token.clone());
        Value::input(
            Code::keyed(format!("{sign}{class}Args"), fields, false),
            kind,
        )
    }

    /// The fields of an object; `None` if there is no definition of it.
    fn fields(&mut self, object: &Object, is_plain: bool) -> Option<Vec<(Code, Code)>> {
        let definition = object.package.type_definition(&object.token)?.ok()?;
        let TypeDefinition::Object(ty) = &*definition else {
            return None;
        };
        let mut fields = Vec::with_capacity(object.fields.len());
        for (name, tree) in &object.fields {
            if matches!(tree, Tree::Null) {
                continue;
            }
            let Some(property) = ty.properties.get(name.as_str()) else {
                self.refuse(&format!("the unknown property {name}"));
                continue;
            };
            let ty = Type::of_property(&object.package, property);
            let value = self.field(tree, &ty, is_plain);
            fields.push((Code::word(GO.property(name)), value));
        }
        Some(fields)
    }

    pub(super) fn conditional(&mut self, parts: &[Tree; 3], want: &Want) -> Value {
        let [condition, yes, no] = parts;
        let condition = self.plain(condition, Kind::Bool);
        let mut branches = Vec::with_capacity(2);
        for branch in [yes, no] {
            self.open(false);
            let value = self.value(branch, want);
            branches.push((value, self.close()));
        }
        let values = [branches[0].0.clone(), branches[1].0.clone()];
        let wanted = match want {
            Want::Free => common(&values),
            other => other.clone(),
        };
        let is_output =
            values.iter().all(|it| it.form == Form::Output) && values[0].kind.is(&values[1].kind);
        let (ty, kind, form) = match (&wanted, is_output) {
            (Want::Input(_) | Want::Free, true) => {
                let kind = values[0].kind.clone();
                match Self::core_output(&kind) {
                    Some(output) => (output, kind, Form::Output),
                    None => return self.refuse("a choice between such outputs"),
                }
            }
            (Want::Input(kind), false) => (self.input_type(kind), kind.clone(), Form::Input),
            (Want::Plain(kind), _) => (self.plain_type(kind), kind.clone(), Form::Plain),
            (Want::Free, false) => return self.refuse("a choice between such values"),
        };
        let name = self.fresh("chosen");
        let mut bodies = Vec::with_capacity(2);
        for (value, statements) in branches {
            self.open(false);
            for statement in statements {
                self.emit(statement);
            }
            let code = if form == Form::Output {
                value.code
            } else {
                self.converted(value, &wanted).code
            };
            self.line(format!("{name} = "), Some(code));
            bodies.push(self.close());
        }
        self.line(format!("var {name} {ty}"), None);
        let otherwise = bodies.pop();
        self.emit(Statement::Block {
            head: "if ".to_owned(),
            condition: Some(condition),
            tail: "",
            body: bodies.pop().unwrap_or_default(),
            otherwise,
        });
        Value {
            code: Code::word(name),
            kind,
            form,
        }
    }

    pub(super) fn loop_of(&mut self, it: &Loop) -> Value {
        let collection = self.any(&it.collection);
        let element = match (&collection.kind, collection.is_plain()) {
            (Kind::List(element), true) if !it.is_map() => (**element).clone(),
            (Kind::Map(element), true) if it.is_map() => (**element).clone(),
            _ => return self.refuse("a loop over such a collection"),
        };
        let collection = self.as_word("items", collection.code);
        let depth = self.variables.len();
        let name = self.local(&it.value);
        let key_kind = if it.is_map() { Kind::Text } else { Kind::Int };
        let key = match &it.key {
            Some(key) => self.local(key),
            None => "key".to_owned(),
        };
        self.open(false);
        if let Some(wanted) = &it.key {
            let value = Value::plain(Code::word(key.clone()), key_kind);
            self.variables.push((wanted.clone(), value));
        }
        let value = Value::plain(Code::word(name.clone()), element);
        self.variables.push((it.value.clone(), value));
        self.used.remove(&key);
        self.used.remove(&name);
        let condition = it.condition.as_ref().map(|it| self.plain(it, Kind::Bool));
        self.open(false);
        let result_key = it.result_key.as_ref().map(|it| self.plain(it, Kind::Text));
        let result = self.any(&it.result);
        let wanted = common(std::slice::from_ref(&result));
        let result = self.converted(result, &wanted);
        let result_name = self.fresh(if result_key.is_some() {
            "byKey"
        } else {
            "values"
        });
        let code = result.code;
        let kind = match &wanted {
            Want::Plain(kind) | Want::Input(kind) => kind.clone(),
            Want::Free => result.kind,
        };
        if let Some(at) = result_key {
            let place = Code::word(result_name.clone()).at(at);
            self.emit(Statement::Assign(place, code));
        } else {
            let args = vec![Code::word(result_name.clone()), code];
            let call = Code::call("append", args);
            self.line(format!("{result_name} = "), Some(call));
        }
        let inner = self.close();
        match condition {
            Some(condition) => self.when("if ", Some(condition), inner),
            None => inner.into_iter().for_each(|it| self.emit(it)),
        }
        let body = self.close();
        self.variables.truncate(depth);
        let (uses_key, uses_value) = (self.used.contains(&key), self.used.contains(&name));
        let kind = match it.result_key {
            Some(_) => Kind::Map(Box::new(kind)),
            None => kind.list(),
        };
        let ty = if matches!(wanted, Want::Input(_)) {
            self.stem(&kind)
        } else {
            Some(self.plain_type(&kind))
        };
        let Some(ty) = ty else {
            return self.refuse("a loop with such results");
        };
        self.line(format!("{result_name} := {ty}{{}}"), None);
        self.iterate(
            &collection,
            [&key, &name],
            [uses_key, uses_value],
            it.is_map(),
            body,
        );
        Value {
            code: Code::word(result_name),
            kind,
            form: if matches!(wanted, Want::Input(_)) {
                Form::Input
            } else {
                Form::Plain
            },
        }
    }

    /// Writes a loop over a collection; maps are in the order of their keys.
    pub(super) fn iterate(
        &mut self,
        collection: &Code,
        [key, value]: [&str; 2],
        [uses_key, uses_value]: [bool; 2],
        is_map: bool,
        mut body: Vec<Statement>,
    ) {
        let (head, condition) = if is_map {
            self.import("maps");
            self.import("slices");
            if uses_value {
                let at = collection.clone().at(Code::word(key));
                body.insert(0, Statement::Simple(format!("{value} := "), Some(at)));
            }
            let keys = Code::call("maps.Keys", vec![collection.clone()]);
            let keys = Code::call("slices.Sorted", vec![keys]);
            if uses_key || uses_value {
                (format!("for _, {key} := range "), keys)
            } else {
                ("for range ".to_owned(), collection.clone())
            }
        } else {
            let head = match (uses_key, uses_value) {
                (true, true) => format!("for {key}, {value} := range "),
                (true, false) => format!("for {key} := range "),
                (false, true) => format!("for _, {value} := range "),
                (false, false) => "for range ".to_owned(),
            };
            (head, collection.clone())
        };
        self.emit(Statement::Block {
            head,
            condition: Some(condition),
            tail: "",
            body,
            otherwise: None,
        });
    }
}

/// What all of several values can be converted to.
pub(super) fn common(values: &[Value]) -> Want {
    let is_plain = values.iter().all(Value::is_plain);
    let kinds = values.iter().map(|value| match &value.kind {
        // Outputs of identifiers are texts in collections.
        Kind::Id => Kind::Text,
        kind if is_plain => kind.clone(),
        kind => match (kind, value.form) {
            (Kind::Pointer(inner), _) if inner.is_scalar() => Kind::Any,
            (kind, _) => kind.clone(),
        },
    });
    let kind = kinds.reduce(|a, b| a.or(&b)).unwrap_or(Kind::Any);
    let kind = match kind {
        Kind::Null => Kind::Any,
        kind => kind,
    };
    if is_plain {
        Want::Plain(kind)
    } else if kind.core_stem().is_some() {
        Want::Input(kind)
    } else {
        Want::Input(Kind::Any)
    }
}
