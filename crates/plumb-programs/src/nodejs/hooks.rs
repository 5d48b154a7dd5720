//! Hooks in TypeScript.

use plumb_pcl::{Definition, Hook, Options};

use super::statements::Statements;
use crate::layout::Doc;
use crate::options;

impl Statements<'_, '_> {
    /// Writes a hook, with the function that runs its command.
    pub(super) fn hook(&mut self, position: usize, definition: &Definition, hook: &Hook) {
        let Some(words) = self.lowering.command(&hook.command) else {
            return;
        };
        self.printer.modules.insert("child_process");
        let mut words = words.iter().map(|word| self.printer.value(word));
        let program: Vec<Doc> = words.by_ref().take(1).collect();
        let rest = Doc::list("[", words.collect(), "]");
        let args = program.into_iter().chain([rest]).collect();
        let (class, open, close) = if hook.is_for_errors {
            let open = "return child_process.spawnSync(";
            ("ErrorHook", open, ").status === 0;")
        } else {
            ("ResourceHook", "child_process.execFileSync(", ");")
        };
        let name = self.name(position);
        let logical = self.logical_name(definition, None);
        self.lines.line(&Doc::Row(vec![
            Doc::text(format!("const {name} = new pulumi.{class}(")),
            logical,
            Doc::text(", (args) => {"),
        ]));
        self.lines.deeper();
        self.lines.line(&Doc::list(open, args, close));
        self.lines.shallower();
        let flags = [
            ("onDryRun: ", &hook.on_dry_run),
            ("ignoreErrors: ", &hook.ignore_errors),
        ];
        let flags = flags.into_iter().filter_map(|(name, flag)| {
            let flag = self.lowering.any(flag.as_ref()?);
            Some(Doc::Row(vec![Doc::text(name), self.printer.value(&flag)]))
        });
        let flags: Vec<Doc> = flags.collect();
        self.lines.line(&if flags.is_empty() {
            Doc::text("});")
        } else {
            Doc::hugged("}, ", Doc::spaced_list("{", flags, "}"), ");")
        });
    }

    /// The option with the hooks of a resource.
    pub(super) fn hooks(&mut self, options: &Options) -> Option<Doc> {
        let hooks = options::hooks(&mut self.lowering, options);
        let hooks = hooks.iter().map(|(moment, hooks)| {
            let name = format!("{moment}: ");
            Doc::Row(vec![Doc::text(name), self.printer.value(hooks)])
        });
        let hooks: Vec<Doc> = hooks.collect();
        (!hooks.is_empty()).then(|| Doc::hugged("hooks: ", Doc::spaced_list("{", hooks, "}"), ""))
    }
}
