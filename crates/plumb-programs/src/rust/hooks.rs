//! Hooks in Rust.

use plumb_pcl::{Definition, Hook};

use super::collections::{Setter, builder};
use super::printer::{Hold, Value};
use super::statements::Statements;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::tree::Tree;

/// Type of the argument of hooks.
const ARGS: &str = "plumb::HookArgs";

/// A member of the argument of a hook; `None` if `receiver` is something else.
pub(super) fn argument(receiver: &Value, name: &str) -> Option<Value> {
    if !matches!(&receiver.kind, Kind::Resource(None, path) if path == ARGS) {
        return None;
    }
    let getter = match name {
        "type" => "token".to_owned(),
        name => super::RUST.property(name),
    };
    let code = receiver.method(&getter, Vec::new());
    Some(match name {
        "urn" | "id" | "name" | "type" => Value::text(code),
        _ => {
            let kind = Kind::Map(Box::new(Kind::Any));
            Value::plain(Doc::Row(vec![code, ".clone()".into()]), kind)
        }
    })
}

impl Statements<'_, '_> {
    /// Writes a hook, with the closure that runs its command.
    pub(super) fn hook(&mut self, position: usize, definition: &Definition, hook: &Hook) {
        let Some(words) = self.lowering.command(&hook.command) else {
            return;
        };
        let name = self.name(position);
        let logical = self.logical_name(definition, None);
        let scope = self.printer.scope.open();
        let args = Value::plain("args", Kind::Resource(None, ARGS.to_owned()));
        self.printer
            .scope
            .bind("args".into(), args.held(Hold::Place));
        let outer = std::mem::take(&mut self.printer.captured);
        let outer_fallible = std::mem::replace(&mut self.printer.is_fallible, false);
        let mut words = words.iter();
        let program = words.next().map(|it| self.printer.text(it));
        let args: Vec<Doc> = words.map(|it| self.printer.owned(it, Kind::Text)).collect();
        let mut captured = std::mem::replace(&mut self.printer.captured, outer);
        let is_fallible = std::mem::replace(&mut self.printer.is_fallible, outer_fallible);
        self.printer.scope.close(scope);
        let parameter = match captured.remove("args") {
            Some(_) => "args",
            None => "_",
        };
        let mut status = vec![
            "std::process::Command::new(".into(),
            program.unwrap_or_else(|| "\"\"".into()),
            ")".into(),
        ];
        if !args.is_empty() {
            status.push(Doc::hugged(".args(", Doc::list("[", args, "]"), ")"));
        }
        status.push(".status()".into());
        let status = Doc::Row(status);
        let status = if is_fallible {
            Doc::hugged("let status = (|| Ok::<_, plumb::Error>(", status, "?))();")
        } else {
            Doc::hugged("let status = ", status, ";")
        };
        let flags = [
            ("on_preview", &hook.on_dry_run),
            ("ignore_errors", &hook.ignore_errors),
        ];
        let mut setters = Vec::new();
        for (name, flag) in flags {
            if let Some(flag) = flag {
                let flag = self.lowering.any(flag);
                let flag = self.printer.owned(&flag, Kind::Bool);
                setters.push(Setter::new(name, vec![flag]));
            }
        }
        let options = builder("HookOptions::new()", setters);
        let mut head = vec![Doc::text(format!("let {name} = ctx."))];
        if hook.is_for_errors {
            head.extend(["error_hook(".into(), logical, ", {".into()]);
        } else {
            head.extend(["hook(".into(), logical, ", ".into(), options, ", {".into()]);
        }
        self.lines.line(&Doc::Row(head));
        self.lines.deeper();
        for (name, _) in captured.iter().filter(|it| *it.1) {
            self.lines.plain(&format!("let {name} = {name}.clone();"));
        }
        let keyword = if captured.is_empty() { "" } else { "move " };
        self.lines.plain(&format!("{keyword}|{parameter}| {{"));
        self.lines.deeper();
        self.lines.line(&status);
        self.lines.plain("async move {");
        self.lines.deeper();
        let result: &[&str] = if hook.is_for_errors {
            &["Ok(status?.success())"]
        } else {
            &[
                "let status = status?;",
                "if status.success() {",
                "    Ok(())",
                "} else {",
                "    Err(plumb::Error::new(format!(\"the command failed: {status}\")))",
                "}",
            ]
        };
        for line in result {
            self.lines.plain(line);
        }
        for end in ["}", "}", "});"] {
            self.lines.shallower();
            self.lines.plain(end);
        }
        let value = Value::plain(name, Kind::Any).held(Hold::Place);
        self.define(position, value);
    }

    /// The options for hooks that run at one moment.
    pub(super) fn hooks(&mut self, moment: &str, hooks: &Tree, setters: &mut Vec<Setter>) {
        let name = super::RUST.property(moment);
        let hooks = match hooks {
            Tree::List(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        for hook in hooks {
            let hook = self.printer.any(hook).reference();
            setters.push(Setter::new(name.clone(), vec![hook]));
        }
    }
}
