//! Properties that a rule may read, found in its text.
//!
//! In a preview some values are not known. A rule that reads one of them has no verdict yet. Its language cannot tell that while it
//! runs (an unknown value is simply absent), so the paths that occur in the rule are compared with the paths of unknown values.
//! The result errs on the side of "may read": a path that is not a constant covers all that it may stand for.

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The member with this name, or the element with this index as text.
    Key(String),
    /// Any member or element.
    Any,
}

impl Step {
    fn may_equal(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Key(one), Step::Key(two)) => one == two,
            _ => true,
        }
    }
}

/// A path below the properties of a resource.
pub(crate) type Steps = Vec<Step>;

/// Whether a value at one path may be, hold or be a part of the value at the other.
pub(crate) fn overlap(one: &[Step], two: &[Step]) -> bool {
    one.iter().zip(two).all(|(one, two)| one.may_equal(two))
}

/// Paths that a rule may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// Values that are read with all that they hold.
    whole: Vec<Steps>,
    /// Values that are only tested for being there, as for the number of elements in a list.
    presence: Vec<Steps>,
}

impl Reads {
    /// Adds a value that is read with all that it holds.
    pub(crate) fn add(&mut self, path: Steps) {
        if !self.whole.contains(&path) {
            self.whole.push(path);
        }
    }

    /// Adds a value that is only tested for being there.
    pub(crate) fn add_presence(&mut self, path: Steps) {
        if !self.presence.contains(&path) {
            self.presence.push(path);
        }
    }

    /// Adds all paths of `other`.
    pub(crate) fn extend(&mut self, other: Reads) {
        other.whole.into_iter().for_each(|path| self.add(path));
        let presence = other.presence.into_iter();
        presence.for_each(|path| self.add_presence(path));
    }

    /// The first of the unknown paths that the rule may read.
    pub(crate) fn first_unknown<'a>(&self, unknown: &'a [Steps]) -> Option<&'a Steps> {
        let is_read = |path: &&Steps| {
            let mut presence = self.presence.iter();
            self.whole.iter().any(|read| overlap(read, path))
                || presence.any(|read| path.len() <= read.len() && overlap(read, path))
        };
        unknown.iter().find(is_read)
    }
}

/// A path as text, for messages.
pub(crate) fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Any => text.push_str("[*]"),
            Step::Key(key) if key.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.extend(["[", key, "]"]);
            }
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Steps {
        let steps = text.split('.').filter(|step| !step.is_empty());
        let steps = steps.map(|step| match step {
            "*" => Step::Any,
            key => Step::Key(key.to_owned()),
        });
        steps.collect()
    }

    #[test]
    fn a_rule_reads_what_is_above_and_below_its_paths() {
        let mut reads = Reads::default();
        reads.add(path("tags.owner"));
        reads.add(path("rules.*.port"));
        let unknown = |text: &str| reads.first_unknown(&[path(text)]).is_some();
        assert!(unknown("tags"));
        assert!(unknown("tags.owner"));
        assert!(unknown("tags.owner.name"));
        assert!(!unknown("tags.team"));
        assert!(unknown("rules.3.port"));
        assert!(!unknown("rules.3.protocol"));
        assert!(!unknown("acl"));
    }

    #[test]
    fn the_number_of_elements_does_not_depend_on_what_they_hold() {
        let mut reads = Reads::default();
        reads.add_presence(path("rules.*"));
        let unknown = |text: &str| reads.first_unknown(&[path(text)]).is_some();
        assert!(unknown("rules"));
        assert!(unknown("rules.1"));
        assert!(!unknown("rules.1.port"));
    }

    #[test]
    fn paths_are_shown_as_programs_write_them() {
        assert_eq!(shown(&path("rules.3.port")), "rules[3].port");
        assert_eq!(shown(&path("rules.*")), "rules[*]");
    }
}
