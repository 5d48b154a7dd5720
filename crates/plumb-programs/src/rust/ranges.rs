//! Resources with a range: loops, conditions, and callbacks for ranges that are known later.

use plumb_pcl::Options;

use super::printer::{Form, Hold, Level, Value};
use super::statements::{Statements, mentions};
use crate::flow::Flow;
use crate::kinds::Kind;
use crate::layout::{Doc, Lines};

/// Variables and source of a loop over a range.
struct Loop {
    key: Value,
    value: Value,
    source: Doc,
    /// Whether the pattern has both variables.
    has_value: bool,
    is_map: bool,
    /// Whether the value is copied out of a reference.
    is_copied: bool,
}

impl Statements<'_, '_> {
    /// Declares the result of `make`, once or for every element of the range; `make` gets the key.
    pub(super) fn repeated(
        &mut self,
        position: usize,
        options: &Options,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let Some(range) = &options.range else {
            let value = make(self, None);
            return self.single(position, value, kind);
        };
        let flow = self.lowering.flow(range);
        let tree = self.lowering.any(range);
        let range = self.printer.any(&tree);
        let is_map = matches!(range.kind.present(), Kind::Map(_) | Kind::Struct(_));
        let range = self.printer.collection(range, is_map);
        if range.form == Form::Output {
            return self.later(position, &range, kind, make);
        }
        let whole = match &range.kind {
            Kind::Bool => return self.perhaps(position, range, kind, make),
            Kind::Map(_) => Kind::Map(Box::new(kind)),
            Kind::Int | Kind::Float | Kind::List(_) => kind.list(),
            _ => {
                self.printer.refuse("such a range");
                return;
            }
        };
        let name = self.name(position);
        let collected = self.is_used[position].then_some(name.as_str());
        if collected.is_some() {
            let empty = self.empty(&whole);
            self.lines.plain(&format!("let mut {name} = {empty};"));
        }
        self.each(collected, &range, flow.element(), make);
        self.define(position, Value::plain(name, whole).held(Hold::Place));
    }

    /// Declares a resource that a condition may leave out.
    fn perhaps(
        &mut self,
        position: usize,
        condition: Value,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let outer = std::mem::replace(&mut self.printer.is_fallible, false);
        let made = make(self, None);
        self.printer.is_fallible = outer;
        let row = vec![
            "if ".into(),
            condition.code,
            " { Some(".into(),
            made,
            ") } else { None }".into(),
        ];
        let name = self.declare(position, "", Doc::Row(row));
        let kind = Kind::Pointer(Box::new(kind));
        self.define(position, Value::plain(name, kind).held(Hold::Place));
    }

    fn empty(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Map(_) => format!("{}::new()", self.printer.map_type()),
            Kind::Pointer(_) => "None".to_owned(),
            _ => "Vec::new()".to_owned(),
        }
    }

    /// Resources for a range that is known later: a callback makes them.
    fn later(
        &mut self,
        position: usize,
        range: &Value,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let scope = self.printer.scope.open();
        let elements = self.printer.local("elements");
        let inner = Value::plain(elements.clone(), range.kind.clone()).held(Hold::Place);
        let outer = std::mem::replace(&mut self.lines, Lines::new(4));
        let captured = std::mem::take(&mut self.printer.captured);
        let fallible = std::mem::replace(&mut self.printer.is_fallible, false);
        self.printer.depth += 1;
        self.lines.deeper();
        let whole = self.made_later(inner, kind, make);
        let is_fallible = std::mem::replace(&mut self.printer.is_fallible, fallible);
        let (method, result) = if is_fallible {
            ("try_map", "Ok::<_, plumb::Error>(made)")
        } else {
            ("map", "made")
        };
        self.lines.plain(result);
        self.printer.depth -= 1;
        let body = std::mem::replace(&mut self.lines, outer).into_text();
        let mut used = std::mem::replace(&mut self.printer.captured, captured);
        used.remove(&elements);
        self.printer.scope.close(scope);
        let mut rows = Vec::new();
        for (name, _) in used.iter().filter(|it| *it.1) {
            rows.push(Doc::Hard);
            rows.push(Doc::text(format!("let {name} = {name}.clone();")));
        }
        rows.push(Doc::Hard);
        rows.push(Doc::text(format!("move |{elements}| {{")));
        for line in body.lines() {
            rows.push(Doc::Hard);
            rows.push(Doc::text(line));
        }
        rows.extend([Doc::Hard, "}".into()]);
        self.printer.captured.extend(used);
        let call = Doc::Row(vec![
            range.at(Level::Atom),
            Doc::text(format!(".{method}({{")),
            Doc::Nest(Box::new(Doc::Row(rows))),
            Doc::Hard,
            "})".into(),
        ]);
        let name = self.declare(position, "", call);
        self.define(position, Value::output(name, whole).held(Hold::Place));
    }

    /// Writes the statements of a callback that collects resources in the variable `made`; returns its kind.
    fn made_later(
        &mut self,
        range: Value,
        kind: Kind,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) -> Kind {
        let is_map = matches!(range.kind.present(), Kind::Map(_) | Kind::Struct(_));
        let range = self.printer.collection(range, is_map);
        let whole = match &range.kind {
            Kind::Bool => Kind::Pointer(Box::new(kind)),
            Kind::Map(_) => Kind::Map(Box::new(kind)),
            _ => kind.list(),
        };
        let empty = self.empty(&whole);
        self.lines.plain(&format!("let mut made = {empty};"));
        if !matches!(range.kind, Kind::Bool) {
            self.each(Some("made"), &range, Flow::Plain, make);
            return whole;
        }
        let head = Doc::Row(vec!["if ".into(), range.code, " {".into()]);
        self.lines.line(&head);
        self.lines.deeper();
        let made = make(self, None);
        self.lines.line(&Doc::hugged("made = Some(", made, ");"));
        self.lines.shallower();
        self.lines.plain("}");
        whole
    }

    /// Writes the loop around a resource.
    fn each(
        &mut self,
        collected: Option<&str>,
        range: &Value,
        element: Flow,
        make: impl FnOnce(&mut Self, Option<&Value>) -> Doc,
    ) {
        let scope = self.printer.scope.open();
        let it = self.loop_over(range);
        self.printer.range = Some([it.key.clone(), it.value.clone()]);
        let fields = Flow::Fields(vec![("key".into(), Flow::Plain), ("value".into(), element)]);
        let outer = self.lowering.enter(vec![("range".into(), fields)]);
        let fallible = self.printer.is_fallible;
        let made = make(self, Some(&it.key));
        if self.printer.depth == 0 {
            self.printer.is_fallible = fallible;
        }
        self.lowering.leave(outer);
        self.printer.range = None;
        self.printer.scope.close(scope);
        for name in [&it.key, &it.value] {
            let name = name.code.flat().unwrap_or_default();
            self.printer.captured.remove(&name);
        }
        let pattern = it.pattern(&made, collected.is_some());
        let open = Doc::text(format!("for {pattern} in "));
        let head = Doc::Row(vec![open, it.source.clone(), " {".into()]);
        self.lines.line(&head);
        self.lines.deeper();
        match (collected, it.is_map) {
            (None, _) => self.lines.line(&Doc::Row(vec![made, ";".into()])),
            (Some(name), false) => {
                let line = Doc::hugged(&format!("{name}.push("), made, ");");
                self.lines.line(&line);
            }
            (Some(name), true) => {
                let line = Doc::hugged("let created = ", made, ";");
                self.lines.line(&line);
                let open = format!("{name}.insert(");
                let line = Doc::hugged(&open, it.key.owned().code, ", created);");
                self.lines.line(&line);
            }
        }
        self.lines.shallower();
        self.lines.plain("}");
    }

    fn loop_over(&mut self, range: &Value) -> Loop {
        let is_map = matches!(range.kind, Kind::Map(_));
        let is_lent = matches!(range.hold, Hold::Place | Hold::Borrowed);
        let key = self.printer.local(if is_map { "key" } else { "index" });
        let key = match (is_map, is_lent) {
            (true, true) => self.printer.element_variable(&key, Kind::Text, Form::Plain),
            (true, false) => Value::plain(key, Kind::Text).held(Hold::Place),
            (false, _) => Value::plain(key, Kind::Int).held(Hold::Place),
        };
        let (Kind::Map(inner) | Kind::List(inner)) = &range.kind else {
            let count = self.printer.as_plain(range.clone(), &Kind::Int);
            return Loop {
                value: key.clone(),
                key,
                source: Doc::Row(vec!["0..".into(), count.at(Level::Add)]),
                has_value: false,
                is_map,
                is_copied: false,
            };
        };
        let form = if range.form == Form::Nested {
            Form::Output
        } else {
            Form::Plain
        };
        let (name, kind) = (self.printer.local("value"), (**inner).clone());
        let value = if is_lent {
            self.printer.element_variable(&name, kind, form)
        } else {
            Value::new(name, kind, form).held(Hold::Place)
        };
        let is_copied = is_lent && value.is_copy();
        let source = match (is_lent, is_map) {
            (true, false) if is_copied => {
                Doc::Row(vec![range.at(Level::Atom), ".iter().copied()".into()])
            }
            (true, _) => range.reference(),
            (false, _) => without_vec(range.code.clone()),
        };
        Loop {
            key,
            value,
            source: if is_map {
                source
            } else {
                Doc::hugged("(0_i64..).zip(", source, ")")
            },
            has_value: true,
            is_map,
            is_copied,
        }
    }
}

impl Loop {
    /// Pattern for the elements; variables that `made` does not mention have names that say so.
    fn pattern(&self, made: &Doc, is_collected: bool) -> String {
        let text = made.render(0, 0, 4);
        let word = |value: &Value, is_needed: bool| {
            let name = value.code.flat().unwrap_or_default();
            if is_needed || mentions(&text, &name) {
                name
            } else {
                format!("_{name}")
            }
        };
        let key = word(&self.key, self.is_map && is_collected);
        if !self.has_value {
            return key;
        }
        let value = word(&self.value, false);
        let mark = if self.is_map && self.is_copied {
            "&"
        } else {
            ""
        };
        format!("({key}, {mark}{value})")
    }
}

/// The elements of a new vector as an array.
fn without_vec(code: Doc) -> Doc {
    match code {
        Doc::Group(mut pieces) => {
            if let Some(Doc::Text(open)) = pieces.first_mut()
                && open == "vec!["
            {
                "[".clone_into(open);
            }
            Doc::Group(pieces)
        }
        other => other,
    }
}
