//! Printing of stories.

use std::fmt::{self, Write as _};

use super::{CALLS, KINDS};
use crate::story::{
    AliasDecl, Ask, Flags, Incident, Method, Operation, Package, Program, Prop, Res, Source, Stop,
    Story, Verb,
};

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for operation in &self.operations {
            f.write_str(&operation.to_string())?;
        }
        Ok(())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.verb {
            Verb::Up => "up",
            Verb::Refresh => "refresh",
            Verb::Destroy => "destroy",
            Verb::Import => "import",
        };
        write!(f, "{verb} seed={} parallel={}", self.seed, self.parallel)?;
        if self.preview {
            f.write_str(" preview")?;
        }
        writeln!(f, "{}", self.flags)?;
        for incident in &self.before {
            writeln!(f, "  before {incident}")?;
        }
        for fault in &self.faults {
            let call = CALLS
                .iter()
                .find(|it| it.1 == fault.call)
                .map_or("", |it| it.0);
            let kind = KINDS
                .iter()
                .find(|it| it.1 == fault.kind)
                .map_or("", |it| it.0);
            writeln!(f, "  fail {call} {} {kind}", fault.name)?;
        }
        match self.stop {
            None => {}
            Some(Stop::Interrupt(at)) => writeln!(f, "  stop interrupt {at}")?,
            Some(Stop::Crash(at)) => writeln!(f, "  stop crash {at}")?,
            Some(Stop::ProgramFails(at)) => writeln!(f, "  stop program-fails {at}")?,
            Some(Stop::JournalFails(at)) => writeln!(f, "  stop journal-fails {at}")?,
        }
        for import in &self.imports {
            writeln!(
                f,
                "  adopt {} {} {}",
                import.type_name, import.name, import.id
            )?;
        }
        write!(f, "{}", self.program)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.refresh, "refresh"),
            (self.run_program, "run-program"),
            (self.continue_on_error, "continue"),
            (self.ignore_protect, "ignore-protect"),
            (self.legacy_diff, "legacy-diff"),
            (self.legacy_refresh_diff, "legacy-refresh-diff"),
            (self.target_dependents, "target-dependents"),
            (self.exclude_dependents, "exclude-dependents"),
        ];
        for (_, word) in words.iter().filter(|(is_set, _)| *is_set) {
            write!(f, " {word}")?;
        }
        let lists = [
            (&self.targets, "targets"),
            (&self.excludes, "excludes"),
            (&self.replace, "replace"),
            (&self.policies, "policies"),
            (&self.stores, "stores"),
            (&self.removes, "removes"),
            (&self.target_snippets, "target-snippets"),
        ];
        for (names, word) in lists.iter().filter(|(names, _)| !names.is_empty()) {
            write!(f, " {word}={}", names.join(","))?;
        }
        if let Some(naming) = &self.naming {
            write!(f, " naming={naming}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Incident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incident::Protect(name) => write!(f, "protect {name}"),
            Incident::Unprotect(name) => write!(f, "unprotect {name}"),
            Incident::Taint(name) => write!(f, "taint {name}"),
            Incident::ClearPending => f.write_str("clear-pending"),
            Incident::Drift(name, value) => write!(f, "drift {name} {value}"),
            Incident::Vanish(name) => write!(f, "vanish {name}"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.config {
            writeln!(f, "  config {key} {value}")?;
        }
        for name in &self.transforms {
            writeln!(f, "  transform {name}")?;
        }
        for package in &self.packages {
            writeln!(f, "  {package}")?;
        }
        for name in &self.ask_transforms {
            writeln!(f, "  ask-transform {name}")?;
        }
        for ask in &self.asks {
            writeln!(f, "  {ask}")?;
        }
        for method in &self.methods {
            writeln!(f, "  {method}")?;
        }
        for res in &self.resources {
            writeln!(f, "  {res}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ask {}", self.package)?;
        if !self.needs.is_empty() {
            write!(f, " needs={}", self.needs.join(","))?;
        }
        if let Some(provider) = &self.provider {
            write!(f, " provider={provider}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Package {
            name,
            plugin,
            version,
            parameter,
            extension,
        } = self;
        write!(f, "package {name} {plugin} version={version}")?;
        for (key, text) in [("parameter", parameter), ("extension", extension)] {
            if let Some(text) = text {
                write!(f, " {key}={text}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} {}", self.name, self.does)?;
        for (key, text) in [("of", &self.of), ("provider", &self.provider)] {
            if let Some(text) = text {
                write!(f, " {key}={text}")?;
            }
        }
        for (key, prop) in &self.arguments {
            write!(f, " .{key}={prop}")?;
        }
        if self.wrapped {
            f.write_str(" wrapped")?;
        }
        Ok(())
    }
}

impl fmt::Display for Prop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.secret {
            f.write_char('!')?;
        }
        match &self.source {
            Source::Text(text) => f.write_str(text),
            Source::Output { name, key } => write!(f, "${name}.{key}"),
            Source::Answer { method, key } => write!(f, "@{method}.{key}"),
        }
    }
}

impl fmt::Display for AliasDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("urn", &self.urn),
            ("name", &self.name),
            ("type", &self.type_name),
            ("parent", &self.parent),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}:{value}")))
            .collect();
        f.write_str(&parts.join(";"))
    }
}

impl fmt::Display for Res {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.type_name, self.name)?;
        for (key, prop) in &self.properties {
            write!(f, " .{key}={prop}")?;
        }
        for (key, prop) in &self.outputs {
            write!(f, " out={key}:{prop}")?;
        }
        for alias in &self.aliases {
            write!(f, " alias={alias}")?;
        }
        self.write_texts(f)?;
        self.write_lists(f)?;
        self.write_flags(f)?;
        if let Some(trigger) = &self.trigger {
            write!(f, " trigger={trigger}")?;
        }
        if let Some(timeout) = self.timeout {
            write!(f, " timeout={timeout}")?;
        }
        for hook in &self.hooks {
            write!(f, " hook={}:{}", hook.at.as_str(), hook.name)?;
        }
        if self.loose {
            f.write_str(" loose")?;
        }
        if self.remote {
            f.write_str(" remote")?;
        }
        Ok(())
    }
}

impl Res {
    fn write_texts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [
            ("read", &self.read),
            ("parent", &self.parent),
            ("provider", &self.provider),
            ("deleted-with", &self.deleted_with),
            ("import", &self.import),
            ("version", &self.version),
            ("snippet", &self.snippet),
            ("by", &self.by),
            ("package", &self.package),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                write!(f, " {key}={text}")?;
            }
        }
        Ok(())
    }

    fn write_lists(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            ("deps", &self.depends_on),
            ("providers", &self.providers),
            ("replace-with", &self.replace_with),
            ("ignore", &self.ignore_changes),
            ("replace-on", &self.replace_on_changes),
            ("hide", &self.hide_diffs),
            ("secret", &self.secret_outputs),
            ("transforms", &self.transforms),
        ];
        for (key, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
            write!(f, " {key}={}", names.join(","))?;
        }
        Ok(())
    }

    fn write_flags(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            ("protect", self.protect),
            ("retain", self.retain),
            ("dbr", self.delete_before_replace),
        ];
        for (key, flag) in flags {
            if let Some(flag) = flag {
                write!(f, " {key}={}", if flag { "yes" } else { "no" })?;
            }
        }
        Ok(())
    }
}
