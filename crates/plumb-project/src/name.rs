//! Names of projects and stacks, and references to stacks (`cli.md` 16).

use std::fmt;

const MAX_LENGTH: usize = 100;

/// Organization in references to stacks of backends without organizations.
pub const DIY_ORGANIZATION: &str = "organization";

/// Kind of a name, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A stack.
    Stack,
    /// A project.
    Project,
}

impl Subject {
    fn say(self, of_stacks: &'static str, of_projects: &'static str) -> &'static str {
        match self {
            Subject::Stack => of_stacks,
            Subject::Project => of_projects,
        }
    }
}

fn character_message(subject: Subject, character: char, position: usize) -> String {
    match subject {
        Subject::Stack => format!(
            "a stack name may only contain alphanumeric, hyphens, underscores, or periods: \
             invalid character {character:?} at position {position}"
        ),
        Subject::Project => {
            "project names may only contain alphanumerics, hyphens, underscores, and periods"
                .to_owned()
        }
    }
}

/// Error for an invalid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty.
    #[error("{}", subject.say("a stack name may not be empty", "project names may not be empty"))]
    Empty {
        /// Kind of the name.
        subject: Subject,
    },
    /// The name has more than 100 characters.
    #[error(
        "{}",
        subject.say(
            "a stack name cannot exceed 100 characters",
            "project names are limited to 100 characters",
        )
    )]
    TooLong {
        /// Kind of the name.
        subject: Subject,
    },
    /// The name contains a character other than letters, digits, hyphens, underscores and periods.
    #[error("{}", character_message(*subject, *character, *position))]
    Character {
        /// Kind of the name.
        subject: Subject,
        /// First invalid character.
        character: char,
        /// Its position, starting at 0.
        position: usize,
    },
    /// The project name is reserved.
    #[error(
        "project name must not be `Pulumi` and must not start with the prefix `Pulumi.` to avoid collision with standard \
         libraries"
    )]
    Reserved,
}

fn check(subject: Subject, text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { subject });
    }
    if text.chars().count() > MAX_LENGTH {
        return Err(NameError::TooLong { subject });
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match text.chars().enumerate().find(|(_, c)| !legal(*c)) {
        Some((position, character)) => Err(NameError::Character {
            subject,
            character,
            position,
        }),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Parses a valid name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                $check(text)?;
                Ok($name(text.into()))
            }

            /// Accepts any text, for users who have disabled validation.
            pub fn unchecked(text: &str) -> Self {
                $name(text.into())
            }

            /// Text of the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

name!(
    /// The name of a stack.
    StackName,
    |text| check(Subject::Stack, text)
);

name!(
    /// The name of a project.
    ProjectName,
    |text: &str| {
        check(Subject::Project, text)?;
        let reserved = text == "pulumi" || text.starts_with("pulumi.");
        if reserved { Err(NameError::Reserved) } else { Ok(()) }
    }
);

/// A stack of a file-based backend: its name, and its project in the project layout.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackReference {
    /// Project; `None` in the legacy layout.
    pub project: Option<ProjectName>,
    /// Name of the stack.
    pub stack: StackName,
}

/// Error for an invalid stack reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A name in it is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The organization is not `organization`.
    #[error("organization name must be 'organization'")]
    Organization,
    /// The reference contains no project, and there is no current one.
    #[error(
        "no Pulumi.yaml project file found; either run this command from a directory containing a Pulumi project, or pass the \
         fully qualified stack name (organization/project/stack)"
    )]
    NoProject,
}

impl StackReference {
    /// Parses `stack`, `organization/stack` or `organization/project/stack`; `current` is the default project, whose name is
    /// checked too. Empty parts count as left out.
    pub fn parse(text: &str, current: Option<&ProjectName>) -> Result<Self, ReferenceError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (organization, project, stack) = match parts.as_slice() {
            [stack] => ("", "", *stack),
            [organization, stack] => (*organization, "", *stack),
            [organization, project, stack] => (*organization, *project, *stack),
            // More parts name nothing, which the checks below say in their order.
            _ => ("", "", ""),
        };
        if !organization.is_empty() && organization != DIY_ORGANIZATION {
            return Err(ReferenceError::Organization);
        }
        let project = match (project, current) {
            ("", Some(current)) => current.as_str(),
            ("", None) => return Err(ReferenceError::NoProject),
            (named, _) => named,
        };
        // Names that only new projects may not have are good here.
        check(Subject::Project, project)?;
        Ok(StackReference {
            project: Some(ProjectName::unchecked(project)),
            stack: StackName::parse(stack)?,
        })
    }

    /// Parses a reference for the legacy layout, where stacks have no project.
    pub fn parse_legacy(text: &str) -> Result<Self, ReferenceError> {
        let stack = text.strip_prefix("organization/").unwrap_or(text);
        Ok(StackReference {
            project: None,
            stack: StackName::parse(stack)?,
        })
    }

    /// Qualified form: `organization/project/stack`, or only the name in the legacy layout.
    pub fn qualified(&self) -> String {
        match &self.project {
            Some(project) => format!("{DIY_ORGANIZATION}/{project}/{}", self.stack),
            None => self.stack.to_string(),
        }
    }

    /// Displayed form: only the name if the project is the current one.
    pub fn display(&self, current: Option<&ProjectName>) -> String {
        match &self.project {
            Some(project) if current != Some(project) => self.qualified(),
            _ => self.stack.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_with_upstream_messages() {
        let message = |text: &str| StackName::parse(text).unwrap_err().to_string();
        assert_eq!(message(""), "a stack name may not be empty");
        assert_eq!(
            message(&"x".repeat(101)),
            "a stack name cannot exceed 100 characters"
        );
        assert_eq!(
            message("a/b"),
            "a stack name may only contain alphanumeric, hyphens, underscores, or periods: \
             invalid character '/' at position 1"
        );
        assert!(StackName::parse("a-b_c.1").is_ok());
        let message = |text: &str| ProjectName::parse(text).unwrap_err().to_string();
        assert_eq!(message(""), "project names may not be empty");
        assert_eq!(
            message(&"x".repeat(101)),
            "project names are limited to 100 characters"
        );
        assert_eq!(
            message("a b"),
            "project names may only contain alphanumerics, hyphens, underscores, and periods"
        );
        assert_eq!(ProjectName::parse("pulumi.x"), Err(NameError::Reserved));
        assert!(ProjectName::parse("pulumix").is_ok());
    }

    #[test]
    fn references_are_read_and_shown() {
        let current = ProjectName::parse("proj").unwrap();
        let parse = |text: &str| StackReference::parse(text, Some(&current));
        assert_eq!(parse("dev").unwrap().qualified(), "organization/proj/dev");
        assert_eq!(
            parse("organization/dev").unwrap().display(Some(&current)),
            "dev"
        );
        assert_eq!(
            parse("organization/other/dev")
                .unwrap()
                .display(Some(&current)),
            "organization/other/dev"
        );
        assert_eq!(parse("acme/dev"), Err(ReferenceError::Organization));
        for same in ["/dev", "/proj/dev", "organization//dev"] {
            assert_eq!(parse(same), parse("dev"));
        }
        let empty = StackName::parse("").unwrap_err();
        assert_eq!(parse("a/b/c/d"), Err(ReferenceError::Name(empty)));
        let bad = ProjectName::unchecked("a b");
        let in_bad = |text: &str| StackReference::parse(text, Some(&bad));
        for text in ["dev", "bad name", "a/b/c/d"] {
            let name = ProjectName::parse("a b").unwrap_err();
            assert_eq!(in_bad(text), Err(ReferenceError::Name(name)));
        }
        assert!(in_bad("organization/other/dev").is_ok());
        assert!(parse("organization/pulumi/dev").is_ok());
        assert_eq!(
            StackReference::parse("dev", None),
            Err(ReferenceError::NoProject)
        );
        assert_eq!(
            StackReference::parse_legacy("dev").unwrap().qualified(),
            "dev"
        );
    }
}
