//! Privileges, and the kinds of objects that they are about.

use std::collections::{BTreeMap, BTreeSet};

use plumb_provider::prelude::*;
use tokio_postgres::Row;

use crate::server::Session;
use crate::sql;

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumType)]
pub(crate) enum ObjectType {
    /// A database.
    #[property(name = "database")]
    Database,
    /// A schema.
    #[property(name = "schema")]
    Schema,
    /// A table, a view or a foreign table.
    #[property(name = "table")]
    Table,
    /// A sequence.
    #[property(name = "sequence")]
    Sequence,
    /// A function.
    #[property(name = "function")]
    Function,
    /// A type or a domain.
    #[property(name = "type")]
    Type,
}

impl ObjectType {
    const ALL: [ObjectType; 6] = [
        ObjectType::Database,
        ObjectType::Schema,
        ObjectType::Table,
        ObjectType::Sequence,
        ObjectType::Function,
        ObjectType::Type,
    ];

    /// The word in programs and IDs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            ObjectType::Database => "database",
            ObjectType::Schema => "schema",
            ObjectType::Table => "table",
            ObjectType::Sequence => "sequence",
            ObjectType::Function => "function",
            ObjectType::Type => "type",
        }
    }

    /// The kind that a word in an ID names.
    pub(crate) fn of(word: &str) -> Option<Self> {
        ObjectType::ALL.into_iter().find(|it| it.word() == word)
    }

    /// The keyword in statements; with an `S` it stands for all of them.
    pub(crate) fn keyword(self) -> String {
        self.word().to_uppercase()
    }

    /// The letter by which the server knows default privileges of the kind.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            ObjectType::Database => "d",
            ObjectType::Schema => "n",
            ObjectType::Table => "r",
            ObjectType::Sequence => "S",
            ObjectType::Function => "f",
            ObjectType::Type => "T",
        }
    }

    /// The privileges that there are.
    fn privileges(self) -> &'static [&'static str] {
        match self {
            ObjectType::Database => &["CONNECT", "CREATE", "TEMPORARY"],
            ObjectType::Schema => &["CREATE", "USAGE"],
            ObjectType::Table => &[
                "DELETE",
                "INSERT",
                "MAINTAIN",
                "REFERENCES",
                "SELECT",
                "TRIGGER",
                "TRUNCATE",
                "UPDATE",
            ],
            ObjectType::Sequence => &["SELECT", "UPDATE", "USAGE"],
            ObjectType::Function => &["EXECUTE"],
            ObjectType::Type => &["USAGE"],
        }
    }

    /// The privileges that `ALL` means. Those that only newer servers have must be named.
    fn all(self) -> impl Iterator<Item = &'static str> {
        let all = self.privileges().iter().copied();
        all.filter(|it| *it != "MAINTAIN")
    }
}

/// Brings the input `privileges` to one form: capital letters, each once, in alphabetical order, and no `ALL`.
pub(crate) fn check_privileges(check: &mut Check) {
    // A value of another type is reported after this check, by the SDK.
    let Ok(Some(of)) = check.get::<ObjectType>("objectType") else {
        return;
    };
    let Ok(Some(given)) = check.get::<Vec<String>>("privileges") else {
        return;
    };
    let mut privileges = BTreeSet::new();
    for (at, privilege) in given.iter().enumerate() {
        match privilege.to_uppercase().as_str() {
            "ALL" | "ALL PRIVILEGES" => privileges.extend(of.all().map(str::to_owned)),
            "TEMP" => drop(privileges.insert("TEMPORARY".to_owned())),
            known if of.privileges().contains(&known) => drop(privileges.insert(known.to_owned())),
            _ => check.fail(
                &format!("privileges[{at}]"),
                format!(
                    "`{privilege}` is no privilege for a {}; there are: {}",
                    of.word(),
                    of.privileges().join(", ")
                ),
            ),
        }
    }
    if given.is_empty() {
        check.fail("privileges", "expected at least one privilege");
    }
    check.set("privileges", privileges.into_iter().collect::<Vec<_>>());
}

/// The name that stands for everybody.
pub(crate) const PUBLIC: &str = "public";

/// A role in a statement, or everybody.
pub(crate) fn grantee(role: &str) -> String {
    if role == PUBLIC {
        return "PUBLIC".to_owned();
    }
    sql::name(role)
}

/// The number of a role, as lists of privileges have it; `None` if there is no such role.
pub(crate) async fn number_of(session: &Session<'_>, role: &str) -> Result<Option<i64>> {
    if role == PUBLIC {
        return Ok(Some(0));
    }
    let query = "SELECT oid::bigint FROM pg_roles WHERE rolname = $1";
    let row = session.first(query, &[&role]).await?;
    Ok(row.map(|it| it.try_get(0)).transpose()?)
}

/// Privileges that a role has on one object: whether it can pass each of them on.
pub(crate) type Privileges = BTreeMap<String, bool>;

/// Reads rows of an object's name, a privilege and whether it can be passed on; objects without privileges have empty rows.
pub(crate) fn by_object(rows: &[Row]) -> Result<BTreeMap<String, Privileges>> {
    let mut objects: BTreeMap<String, Privileges> = BTreeMap::new();
    for row in rows {
        let privileges = objects.entry(row.try_get(0)?).or_default();
        let privilege: Option<String> = row.try_get(1)?;
        let passes: Option<bool> = row.try_get(2)?;
        if let Some(privilege) = privilege {
            let known = privileges.entry(privilege).or_default();
            *known |= passes.unwrap_or_default();
        }
    }
    Ok(objects)
}

/// The privileges of a role on several objects as one list, and whether the role can pass all of them on.
///
/// Of the `wanted` privileges, only those that the role has on every object are in the list. Any other privilege is in the list
/// if the role has it on at least one object, so that the difference from `wanted` shows what has to be granted or revoked. An
/// import has no `wanted` privileges; its list has those on every object.
pub(crate) fn summary<'a>(
    objects: impl Iterator<Item = &'a Privileges> + Clone,
    wanted: Option<&[String]>,
) -> (Vec<String>, bool) {
    let names: BTreeSet<&String> = objects.clone().flat_map(BTreeMap::keys).collect();
    let counts = |name: &&String| {
        let mut having = objects.clone().map(|it| it.contains_key(*name));
        match wanted {
            Some(wanted) if !wanted.contains(name) => having.any(|it| it),
            _ => having.all(|it| it),
        }
    };
    let privileges: Vec<_> = names.into_iter().filter(counts).cloned().collect();
    let passes = objects.flat_map(BTreeMap::values);
    let passes_on = !privileges.is_empty() && passes.copied().all(|it| it);
    (privileges, passes_on)
}

#[cfg(test)]
mod tests {
    use super::{Privileges, summary};

    fn privileges(names: &[&str]) -> Privileges {
        names.iter().map(|it| ((*it).to_owned(), false)).collect()
    }

    #[test]
    fn what_one_object_lacks_is_missing_and_what_one_has_besides_is_there() {
        let objects = [
            privileges(&["SELECT", "INSERT"]),
            privileges(&["SELECT", "DELETE"]),
        ];
        let wanted = ["INSERT".to_owned(), "SELECT".to_owned()];
        let found = summary(objects.iter(), Some(&wanted));
        assert_eq!(found.0, ["DELETE", "SELECT"]);
        assert_eq!(summary(objects.iter(), None).0, ["SELECT"]);
        assert!(!found.1);
    }
}
