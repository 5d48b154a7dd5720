//! Closures: what they use from outside, and how outputs call them.

use ecow::EcoString;

use super::printer::{Form, Hold, Level, Printer, Value};
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::Tree;

/// Most outputs that the SDK joins at once.
const MOST: usize = 8;

impl Printer {
    /// A call of a method of the output `receiver` with a closure, whose result `make` prints. The closure owns what it uses.
    pub(super) fn mapped(
        &mut self,
        receiver: &Value,
        pattern: &str,
        parameters: &[String],
        make: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let (closure, result, is_fallible) = self.closure(pattern, parameters, make);
        let method = match (result.form == Form::Output, is_fallible) {
            (false, false) => "map",
            (false, true) => "try_map",
            (true, false) => "and_then",
            (true, true) => "try_and_then",
        };
        let is_block = closure.flat().is_none();
        let call = Doc::hugged(&format!(".{method}("), closure, ")");
        let code = if is_block {
            Doc::Row(vec![receiver.at(Level::Atom), call])
        } else {
            let call = Doc::Nest(Box::new(Doc::Row(vec![Doc::Soft, call])));
            Doc::Group(vec![receiver.at(Level::Atom), call])
        };
        Value::output(code, result.kind)
    }

    /// A closure that owns what it uses, its result, and whether it may fail.
    pub(super) fn closure(
        &mut self,
        pattern: &str,
        parameters: &[String],
        make: impl FnOnce(&mut Self) -> Value,
    ) -> (Doc, Value, bool) {
        let outer = std::mem::take(&mut self.captured);
        let outer_fallible = std::mem::replace(&mut self.is_fallible, false);
        self.depth += 1;
        let result = make(self);
        let result = match result.form {
            Form::Nested => self.as_output(result),
            Form::Plain | Form::Output => Self::settled(result),
        };
        self.depth -= 1;
        let is_fallible = std::mem::replace(&mut self.is_fallible, outer_fallible);
        let mut captured = std::mem::replace(&mut self.captured, outer);
        for parameter in parameters {
            captured.remove(parameter);
        }
        let body = result.owned().code;
        let body = if is_fallible {
            Doc::hugged("Ok::<_, plumb::Error>(", body, ")")
        } else {
            body
        };
        let code = closure(pattern, body, &captured);
        self.captured.extend(captured);
        (code, result, is_fallible)
    }

    pub(super) fn apply(&mut self, params: &[(EcoString, Tree)], body: &Tree) -> Value {
        let mut outputs = Vec::with_capacity(params.len());
        for (_, tree) in params {
            let value = self.any(tree);
            outputs.push(self.as_output(value));
        }
        let scope = self.scope.open();
        let mut locals = Vec::with_capacity(params.len());
        for ((name, _), output) in params.iter().zip(&outputs) {
            let local = self.local(name);
            let value = Value::plain(local.clone(), output.kind.clone()).held(Hold::Place);
            self.scope.bind(name.clone(), value);
            locals.push(local);
        }
        let (receiver, pattern) = joined(&outputs, &locals);
        let result = self.mapped(&receiver, &pattern, &locals, |printer| printer.any(body));
        self.scope.close(scope);
        result
    }

    /// A value without builders of arguments, which no output can have.
    pub(super) fn settled(value: Value) -> Value {
        match (value.hold, &value.kind) {
            (Hold::Args, _) => Value::plain(Doc::hugged("value!(", value.code, ")"), Kind::Any),
            (_, Kind::Null) => Value::plain("Value::Null", Kind::Any),
            _ => value,
        }
    }
}

/// One output of several, and the pattern for their values.
fn joined(outputs: &[Value], names: &[String]) -> (Value, String) {
    match (outputs, names) {
        ([output], [name]) => (output.clone(), name.clone()),
        _ if outputs.len() <= MOST => {
            let codes = outputs.iter().map(Value::lent).collect();
            let code = Doc::Row(vec![Doc::list("(", codes, ")"), ".join()".into()]);
            let pattern = format!("({})", names.join(", "));
            (Value::output(code, Kind::Any), pattern)
        }
        _ => {
            let groups = outputs.chunks(MOST).zip(names.chunks(MOST));
            let (outputs, names): (Vec<Value>, Vec<String>) = groups
                .map(|(outputs, names)| joined(outputs, names))
                .unzip();
            joined(&outputs, &names)
        }
    }
}

/// A closure with copies of the variables that it uses.
fn closure(pattern: &str, body: Doc, captured: &std::collections::BTreeMap<String, bool>) -> Doc {
    let copied: Vec<&String> = captured.iter().filter(|it| *it.1).map(|it| it.0).collect();
    let keyword = if captured.is_empty() { "" } else { "move " };
    let head = Doc::text(format!("{keyword}|{pattern}| "));
    if copied.is_empty() {
        return Doc::Row(vec![head, body]);
    }
    let mut rows = Vec::with_capacity(copied.len() * 2 + 3);
    for name in copied {
        rows.push(Doc::Hard);
        rows.push(Doc::text(format!("let {name} = {name}.clone();")));
    }
    rows.extend([Doc::Hard, head, body]);
    Doc::Row(vec![
        "{".into(),
        Doc::Nest(Box::new(Doc::Row(rows))),
        Doc::Hard,
        "}".into(),
    ])
}
