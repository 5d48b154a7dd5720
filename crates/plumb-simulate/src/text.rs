//! Text form of stories.
//!
//! ```text
//! up seed=7 parallel=2 targets=a,b
//!   before taint a
//!   fail create b partial
//!   stop interrupt 12
//!   Stack stack
//!   Thing a .v=1 .s=!2
//!   Thing b .r=$a.oid deps=a protect=yes
//! ```

mod print;

use std::str::FromStr;

use plumb_resource::HookType;

use crate::story::{
    AliasDecl, Ask, CallKind, Fault, FaultKind, Hook, ImportDecl, Incident, Method, Operation,
    Package, Prop, Res, Source, Stop, Story, Verb,
};

/// Error in the text of a story.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{line}` is not a line of a story")]
pub struct StoryError {
    /// First line that is invalid.
    pub line: String,
}

impl FromStr for Story {
    type Err = StoryError;

    fn from_str(text: &str) -> Result<Self, StoryError> {
        let mut story = Story::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let wrong = || StoryError {
                line: line.to_owned(),
            };
            if let Some(verb) = verb_of(words[0]) {
                let operation = head(verb, &words[1..]).ok_or_else(wrong)?;
                story.operations.push(operation);
                continue;
            }
            let operation = story.operations.last_mut().ok_or_else(wrong)?;
            body(operation, &words).ok_or_else(wrong)?;
        }
        Ok(story)
    }
}

fn verb_of(word: &str) -> Option<Verb> {
    Some(match word {
        "up" => Verb::Up,
        "refresh" => Verb::Refresh,
        "destroy" => Verb::Destroy,
        "import" => Verb::Import,
        _ => return None,
    })
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

fn head(verb: Verb, words: &[&str]) -> Option<Operation> {
    let mut operation = Operation {
        verb,
        parallel: 1,
        ..Operation::default()
    };
    let flags = &mut operation.flags;
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "preview" => operation.preview = true,
            "seed" => operation.seed = value.parse().ok()?,
            "parallel" => operation.parallel = value.parse().ok()?,
            "refresh" => flags.refresh = true,
            "run-program" => flags.run_program = true,
            "continue" => flags.continue_on_error = true,
            "ignore-protect" => flags.ignore_protect = true,
            "legacy-diff" => flags.legacy_diff = true,
            "legacy-refresh-diff" => flags.legacy_refresh_diff = true,
            "targets" => flags.targets = list(value),
            "target-dependents" => flags.target_dependents = true,
            "excludes" => flags.excludes = list(value),
            "exclude-dependents" => flags.exclude_dependents = true,
            "replace" => flags.replace = list(value),
            "naming" => flags.naming = Some(value.to_owned()),
            "policies" => flags.policies = list(value),
            "stores" => flags.stores = list(value),
            "removes" => flags.removes = list(value),
            "target-snippets" => flags.target_snippets = list(value),
            _ => return None,
        }
    }
    Some(operation)
}

fn body(operation: &mut Operation, words: &[&str]) -> Option<()> {
    match words {
        ["before", incident @ ..] => operation.before.push(incident_of(incident)?),
        ["fail", call, name, kind] => operation.faults.push(Fault {
            call: call_of(call)?,
            name: (*name).to_owned(),
            kind: kind_of(kind)?,
        }),
        ["stop", how, at] => {
            let at = at.parse().ok()?;
            operation.stop = Some(match *how {
                "interrupt" => Stop::Interrupt(at),
                "crash" => Stop::Crash(at),
                "program-fails" => Stop::ProgramFails(at),
                "journal-fails" => Stop::JournalFails(at),
                _ => return None,
            });
        }
        ["config", key, value] => {
            let config = &mut operation.program.config;
            config.insert((*key).to_owned(), (*value).to_owned());
        }
        ["transform", name] => operation.program.transforms.push((*name).to_owned()),
        ["package", name, plugin, options @ ..] => {
            let package = package_of(name, plugin, options)?;
            operation.program.packages.push(package);
        }
        ["ask-transform", name] => {
            let transforms = &mut operation.program.ask_transforms;
            transforms.push((*name).to_owned());
        }
        ["ask", package, options @ ..] => operation.program.asks.push(ask_of(package, options)?),
        ["call", name, does, options @ ..] => {
            let method = method_of(name, does, options)?;
            operation.program.methods.push(method);
        }
        ["adopt", type_name, name, id] => operation.imports.push(ImportDecl {
            name: (*name).to_owned(),
            id: (*id).to_owned(),
            type_name: (*type_name).to_owned(),
        }),
        [type_name, name, options @ ..] => {
            let mut res = Res::new(type_name, name);
            for option in options {
                res_option(&mut res, option)?;
            }
            operation.program.resources.push(res);
        }
        _ => return None,
    }
    Some(())
}

fn ask_of(package: &str, options: &[&str]) -> Option<Ask> {
    let mut ask = Ask {
        package: package.to_owned(),
        ..Ask::default()
    };
    for option in options {
        match option.split_once('=')? {
            ("needs", names) => ask.needs = list(names),
            ("provider", name) => ask.provider = Some(name.to_owned()),
            _ => return None,
        }
    }
    Some(ask)
}

fn package_of(name: &str, plugin: &str, options: &[&str]) -> Option<Package> {
    let mut package = Package {
        name: name.to_owned(),
        plugin: plugin.to_owned(),
        ..Package::default()
    };
    for option in options {
        let (key, value) = option.split_once('=')?;
        match key {
            "version" => value.clone_into(&mut package.version),
            "parameter" => package.parameter = Some(value.to_owned()),
            "extension" => package.extension = Some(value.to_owned()),
            _ => return None,
        }
    }
    Some(package)
}

fn method_of(name: &str, does: &str, options: &[&str]) -> Option<Method> {
    let mut method = Method {
        name: name.to_owned(),
        does: does.to_owned(),
        ..Method::default()
    };
    for option in options {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        match (key, key.strip_prefix('.')) {
            (_, Some(argument)) => {
                let value = prop_of(value)?;
                method.arguments.insert(argument.to_owned(), value);
            }
            ("of", _) => method.of = Some(value.to_owned()),
            ("provider", _) => method.provider = Some(value.to_owned()),
            ("wrapped", _) => method.wrapped = true,
            _ => return None,
        }
    }
    Some(method)
}

fn incident_of(words: &[&str]) -> Option<Incident> {
    Some(match words {
        ["protect", name] => Incident::Protect((*name).to_owned()),
        ["unprotect", name] => Incident::Unprotect((*name).to_owned()),
        ["taint", name] => Incident::Taint((*name).to_owned()),
        ["clear-pending"] => Incident::ClearPending,
        ["drift", name, value] => Incident::Drift((*name).to_owned(), (*value).to_owned()),
        ["vanish", name] => Incident::Vanish((*name).to_owned()),
        _ => return None,
    })
}

const CALLS: [(&str, CallKind); 7] = [
    ("check", CallKind::Check),
    ("diff", CallKind::Diff),
    ("create", CallKind::Create),
    ("read", CallKind::Read),
    ("update", CallKind::Update),
    ("delete", CallKind::Delete),
    ("call", CallKind::Call),
];

const KINDS: [(&str, FaultKind); 8] = [
    ("clean", FaultKind::Clean),
    ("partial", FaultKind::Partial),
    ("unknown", FaultKind::Unknown),
    ("hang", FaultKind::Hang),
    ("once", FaultKind::Once),
    ("told", FaultKind::Told),
    ("part", FaultKind::Part),
    ("half-part", FaultKind::HalfPart),
];

fn call_of(word: &str) -> Option<CallKind> {
    CALLS.iter().find(|(name, _)| *name == word).map(|it| it.1)
}

fn kind_of(word: &str) -> Option<FaultKind> {
    KINDS.iter().find(|(name, _)| *name == word).map(|it| it.1)
}

fn prop_of(text: &str) -> Option<Prop> {
    let (secret, text) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let parts = |text: &str| {
        let (name, key) = text.split_once('.')?;
        Some((name.to_owned(), key.to_owned()))
    };
    let source = if let Some(reference) = text.strip_prefix('$') {
        let (name, key) = parts(reference)?;
        Source::Output { name, key }
    } else if let Some(reference) = text.strip_prefix('@') {
        let (method, key) = parts(reference)?;
        Source::Answer { method, key }
    } else {
        Source::Text(text.to_owned())
    };
    Some(Prop { secret, source })
}

fn res_option(res: &mut Res, option: &str) -> Option<()> {
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    if let Some(property) = key.strip_prefix('.') {
        res.properties.insert(property.to_owned(), prop_of(value)?);
        return Some(());
    }
    let flag = || Some(value == "yes");
    let text = || Some(value.to_owned());
    match key {
        "out" => {
            let (key, value) = value.split_once(':')?;
            res.outputs.insert(key.to_owned(), prop_of(value)?);
        }
        "read" => res.read = text(),
        "parent" => res.parent = text(),
        "deps" => res.depends_on = list(value),
        "loose" => res.loose = true,
        "remote" => res.remote = true,
        "provider" => res.provider = text(),
        "providers" => res.providers = list(value),
        "alias" => res.aliases.push(alias_of(value)?),
        "protect" => res.protect = flag(),
        "retain" => res.retain = flag(),
        "deleted-with" => res.deleted_with = text(),
        "replace-with" => res.replace_with = list(value),
        "dbr" => res.delete_before_replace = flag(),
        "ignore" => res.ignore_changes = list(value),
        "replace-on" => res.replace_on_changes = list(value),
        "hide" => res.hide_diffs = list(value),
        "secret" => res.secret_outputs = list(value),
        "transforms" => res.transforms = list(value),
        "import" => res.import = text(),
        "trigger" => res.trigger = Some(prop_of(value)?),
        "version" => res.version = text(),
        "snippet" => res.snippet = text(),
        "by" => res.by = text(),
        "package" => res.package = text(),
        "timeout" => res.timeout = Some(value.parse().ok()?),
        "hook" => res.hooks.push(hook_of(value)?),
        _ => return None,
    }
    Some(())
}

fn hook_of(text: &str) -> Option<Hook> {
    let (at, name) = text.split_once(':')?;
    let mut all = HookType::ALL.into_iter();
    Some(Hook {
        at: all.find(|hook| hook.as_str() == at)?,
        name: name.to_owned(),
    })
}

fn alias_of(text: &str) -> Option<AliasDecl> {
    let mut alias = AliasDecl::default();
    for part in text.split(';') {
        let (key, value) = part.split_once(':')?;
        let value = Some(value.to_owned());
        match key {
            "urn" => alias.urn = value,
            "name" => alias.name = value,
            "type" => alias.type_name = value,
            "parent" => alias.parent = value,
            _ => return None,
        }
    }
    Some(alias)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_read_as_it_was_written() {
        let text = "\
up seed=7 parallel=2 preview refresh continue targets=a,b policies=remediates,notes stores=A removes=B target-snippets=A naming=verbatim
  before taint a
  before drift b 3
  fail create b once
  stop crash 12
  config test:v 1
  transform marks
  package S test version=1.0.0 parameter=one@0.1.0
  package E test version=1.0.0 extension=two@0.2.0
  ask-transform adds
  ask test needs=a,b provider=p
  call m echo of=a provider=p .x=$a.v .y=!2 wrapped
  Stack stack out=x:$b.v
  Group g transforms=plain,x remote
  Thing a .s=!2 .v=1
  Thing c snippet=A
  Thing d .v=@m.x by=m package=E
  Thing b .r=$a.oid alias=name:c;parent:none parent=a import=i deps=a ignore=v protect=yes dbr=no trigger=1 hook=OnError:again loose
";
        let story: Story = text.parse().unwrap();
        assert_eq!(story.to_string(), text);
        assert!("up\n  Thing".parse::<Story>().is_err());
    }
}
