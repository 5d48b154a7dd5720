//! Hooks in Python.

use plumb_pcl::{Definition, Hook, Options};

use super::PYTHON;
use super::statements::Statements;
use crate::layout::Doc;
use crate::options;

impl Statements<'_, '_> {
    /// Writes a hook: the function that runs its command, and its registration.
    pub(super) fn hook(&mut self, position: usize, definition: &Definition, hook: &Hook) {
        let Some(words) = self.lowering.command(&hook.command) else {
            return;
        };
        self.printer.needs("subprocess");
        let words = words.iter().map(|word| self.printer.value(word)).collect();
        let command = Doc::list("[", words, "]");
        let name = self.name(position);
        let function = format!("run_{name}");
        self.lines.blank();
        self.lines.plain(&format!("def {function}(args):"));
        self.lines.deeper();
        self.lines.line(&if hook.is_for_errors {
            Doc::hugged("return subprocess.run(", command, ").returncode == 0")
        } else {
            Doc::hugged("subprocess.run(", command, ", check=True)")
        });
        self.lines.shallower();
        self.lines.blank();
        let mut args = vec![self.logical_name(definition, None), Doc::text(function)];
        let flags = [
            ("on_dry_run=", &hook.on_dry_run),
            ("ignore_errors=", &hook.ignore_errors),
        ];
        let flags = flags.into_iter().filter_map(|(name, flag)| {
            let flag = self.lowering.any(flag.as_ref()?);
            Some(Doc::Row(vec![Doc::text(name), self.printer.value(&flag)]))
        });
        let flags: Vec<Doc> = flags.collect();
        if !flags.is_empty() {
            args.push(Doc::list("pulumi.ResourceHookOptions(", flags, ")"));
        }
        let class = if hook.is_for_errors {
            "pulumi.ErrorHook("
        } else {
            "pulumi.ResourceHook("
        };
        self.assign(&name, Doc::list(class, args, ")"));
    }

    /// The option with the hooks of a resource.
    pub(super) fn hooks(&mut self, options: &Options) -> Option<Doc> {
        let hooks = options::hooks(&mut self.lowering, options);
        let hooks = hooks.iter().map(|(moment, hooks)| {
            let name = format!("{}=", PYTHON.property(moment));
            Doc::Row(vec![Doc::text(name), self.printer.value(hooks)])
        });
        let hooks: Vec<Doc> = hooks.collect();
        (!hooks.is_empty()).then(|| Doc::list("hooks=pulumi.ResourceHookBinding(", hooks, ")"))
    }
}
