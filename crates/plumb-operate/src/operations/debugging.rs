//! Values of `--attach-debugger`: which processes wait for a debugger (`protocol.md` 15.7).

use std::collections::BTreeSet;

use plumb_plugin::DebuggedPlugins;

use crate::Error;

/// Processes that wait for a debugger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debugged {
    /// Whether the program waits.
    pub(super) program: bool,
    pub(super) plugins: DebuggedPlugins,
}

impl Debugged {
    /// Parses the values of the flag.
    pub fn parse(values: &[String]) -> Result<Self, Error> {
        let mut program = false;
        let mut all_plugins = false;
        let mut names = BTreeSet::new();
        for value in values {
            match value.as_str() {
                "program" => program = true,
                "plugins" => all_plugins = true,
                "all" => (program, all_plugins) = (true, true),
                other => match other.strip_prefix("plugin:") {
                    Some(name) if !name.is_empty() => drop(names.insert(name.to_owned())),
                    _ => {
                        return Err(Error::user(format!(
                            "invalid value {value:?} of --attach-debugger; it can be program, plugins, \
                             plugin:NAME or all"
                        )));
                    }
                },
            }
        }
        let plugins = match (all_plugins, names.is_empty()) {
            (true, _) => DebuggedPlugins::All,
            (false, false) => DebuggedPlugins::Named(names),
            (false, true) => DebuggedPlugins::None,
        };
        Ok(Debugged { program, plugins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(values: &[&str]) -> Debugged {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Debugged::parse(&values).unwrap()
    }

    #[test]
    fn values_add_up() {
        assert_eq!(parse(&[]), Debugged::default());
        let named = DebuggedPlugins::Named(["a".to_owned(), "b".to_owned()].into());
        let both = parse(&["plugin:a", "program", "plugin:b"]);
        assert_eq!((both.program, both.plugins), (true, named));
        let all = parse(&["all"]);
        assert_eq!((all.program, all.plugins), (true, DebuggedPlugins::All));
        assert!(!parse(&["plugins"]).program);
        assert!(Debugged::parse(&["plugin:".to_owned()]).is_err());
    }
}
