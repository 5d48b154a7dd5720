//! Hooks in Go.

use plumb_pcl::{Definition, Hook, Options, Type};

use super::GO;
use super::kinds::Kind;
use super::printer::{Printer, Value, with_result};
use super::statements::Statements;
use super::syntax::{Code, Statement};
use crate::options;
use crate::tree::Tree;

impl Statements<'_, '_> {
    /// Writes a hook, with the function that runs its command.
    pub(super) fn hook(&mut self, position: usize, definition: &Definition, hook: &Hook) {
        let Some(words) = self.lowering.command(&hook.command) else {
            return;
        };
        let kind = if hook.is_for_errors {
            "ErrorHook"
        } else {
            "ResourceHook"
        };
        let body = self.command(&words, hook.is_for_errors);
        let result = if hook.is_for_errors {
            "(bool, error)"
        } else {
            "error"
        };
        let signature = format!("func(args *pulumi.{kind}Args) {result}");
        let name = self.logical_name(definition, None);
        let mut args = vec![name, Code::Function(signature, body)];
        if !hook.is_for_errors {
            args.push(self.flags(hook));
        }
        let variable = self.name(position);
        let call = Code::call(format!("ctx.Register{kind}"), args);
        self.printer.checked(&variable, call);
        self.define(position, Value::plain(Code::word(variable), Kind::Any));
    }

    /// Body of the function of a hook.
    fn command(&mut self, words: &[Tree], is_for_errors: bool) -> Vec<Statement> {
        self.printer.open(true);
        self.printer.is_hook = true;
        let words = words.iter().map(|it| self.printer.plain(it, Kind::Text));
        let words = words.collect();
        self.printer.is_hook = false;
        self.printer.import("os/exec");
        let run = Code::call("exec.Command", words).method("Run", Vec::new());
        let end = if is_for_errors {
            Code::Suffix(Box::new(run), " == nil, nil".to_owned())
        } else {
            run
        };
        self.printer.line("return ", Some(end));
        let mut body = self.printer.close();
        if is_for_errors {
            with_result(&mut body, "false");
        }
        body
    }

    fn flags(&mut self, hook: &Hook) -> Code {
        let flags = [
            ("OnDryRun", &hook.on_dry_run),
            ("IgnoreErrors", &hook.ignore_errors),
        ];
        let mut fields = Vec::with_capacity(flags.len());
        for (name, flag) in flags {
            if let Some(flag) = flag {
                let flag = self.lowering.value(flag, &Type::Bool);
                fields.push((Code::word(name), self.printer.plain(&flag, Kind::Bool)));
            }
        }
        if fields.is_empty() {
            return Code::word("nil");
        }
        Code::keyed("&pulumi.ResourceHookOptions", fields, false)
    }

    /// The option with the hooks of a resource.
    pub(super) fn hooks(&mut self, options: &Options) -> Option<Code> {
        let mut fields = Vec::with_capacity(options.hooks.len());
        for (moment, hooks) in options::hooks(&mut self.lowering, options) {
            let Tree::List(hooks) = hooks else {
                self.printer.refuse("hooks that are no list");
                continue;
            };
            let hooks = hooks.iter().map(|hook| self.printer.any(hook).code);
            let ty = if moment == "onError" {
                "[]*pulumi.ErrorHook"
            } else {
                "[]*pulumi.ResourceHook"
            };
            let hooks = Code::list(ty, hooks.collect());
            fields.push((Code::word(GO.property(&moment)), hooks));
        }
        if fields.is_empty() {
            return None;
        }
        let binding = Code::keyed("&pulumi.ResourceHookBinding", fields, false);
        Some(Code::call("pulumi.ResourceHooks", vec![binding]))
    }
}

impl Printer {
    /// Whether an expression stands for what a hook is told.
    pub(super) fn is_hook_argument(&self, tree: &Tree) -> bool {
        self.is_hook && matches!(tree, Tree::Variable(name) if name == "args")
    }

    /// A member of what a hook is told.
    pub(super) fn hook_argument(&mut self, name: &str) -> Value {
        let args = Code::word("args");
        let text = |field: &str| {
            let code = Code::call("string", vec![args.clone().dot(field)]);
            Value::plain(code, Kind::Text)
        };
        match name {
            "urn" => text("URN"),
            "id" => text("ID"),
            "type" => text("Type"),
            "name" => Value::plain(args.dot("Name"), Kind::Text),
            "newInputs" | "oldInputs" | "newOutputs" | "oldOutputs" => {
                let values = args.dot(&GO.property(name));
                let kind = Kind::Map(Box::new(Kind::Any));
                Value::plain(values.method("Mappable", Vec::new()), kind)
            }
            _ => self.refuse(&format!("the unknown member {name} of a hook's arguments")),
        }
    }
}
