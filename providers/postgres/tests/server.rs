//! The provider and a real server, whose address is in the variable `POSTGRES_TEST_URL`; `tests/rust/postgres.py` starts one.
//!
//! Each test has databases and roles of its own, with names that no other run has.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use plumb_provider::prelude::*;
use plumb_provider::testing::{Step, Tested, Tester};
use postgres_provider::provider;
use tokio_postgres::NoTls;

const SERVER: &str = "needs a PostgreSQL server: tests/rust/postgres.py starts one";

static TIMEOUTS: AtomicI64 = AtomicI64::new(20);

fn url() -> String {
    std::env::var("POSTGRES_TEST_URL").expect(SERVER)
}

fn tester() -> Tester {
    tester_as(&url())
}

/// A provider that logs in with this address.
fn tester_as(url: &str) -> Tester {
    let tester = Tester::new(provider()).expect("the schema is valid");
    // Connections belong to the runtime of one tester, and testers with the same configuration would share them.
    let timeout = TIMEOUTS.fetch_add(1, Ordering::Relaxed);
    let config = value!({ "url": url, "sslMode": "disable", "connectTimeout": timeout });
    tester
        .configure(config)
        .expect("the configuration is valid");
    tester
}

/// A name that no other test and no other run has.
fn unique(name: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("the clock is right").as_nanos() % 1_000_000_000_000;
    format!("{name} {now}")
}

/// Does something behind the provider's back, as a person with `psql` would.
fn behind(url: &str, statement: &str) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        Ok(client.batch_execute(statement).await?)
    })
}

/// The address of another database, or for another role, of the same server.
fn url_of(user: Option<(&str, &str)>, database: &str) -> String {
    let whole = url();
    let (scheme, rest) = whole.split_once("://").expect("it is a URL");
    let (login, server) = rest.rsplit_once('@').expect("it has a role");
    let server = server.split('/').next().unwrap_or_default();
    let encode = |text: &str| text.replace(' ', "%20");
    let login = user.map_or(login.to_owned(), |(name, password)| {
        format!("{}:{password}", encode(name))
    });
    format!("{scheme}://{login}@{server}/{}", encode(database))
}

fn text(tested: &Tested<'_>, output: &str) -> String {
    match tested.output(output) {
        Value::String(text) => text.clone(),
        Value::Secret(secret) => match &**secret {
            Value::String(text) => text.clone(),
            other => panic!("{output} is {other:?}"),
        },
        other => panic!("{output} is {other:?}"),
    }
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn a_database_is_renamed_and_never_replaced_for_its_name() -> Result<()> {
    let tester = tester();
    let (first, second) = (unique("a \"db\""), unique("renamed"));
    let quoted = first.replace('"', "\"\"");
    let mut database = tester.resource("index:Database", "database");
    let args = |name: &str, limit: i64| value!({ "name": name, "connectionLimit": limit, "comment": "it's \\ here" });
    assert_eq!(database.apply(args(&first, 3))?, Step::Created);
    let oid = database.output("oid").clone();
    assert_eq!(text(&database, "encoding"), "UTF8");
    assert_eq!(database.apply(args(&second, 3))?, Step::Updated);
    assert_eq!(database.output("oid"), &oid);
    assert_eq!(database.apply(args(&second, 7))?, Step::Updated);
    assert_eq!(database.apply(args(&second, 7))?, Step::Same);
    let listed = tester.list("index:Database", value!({}))?;
    assert!(listed.iter().any(|(_, name)| *name == second));
    behind(
        &url(),
        &format!("ALTER DATABASE \"{second}\" CONNECTION LIMIT 9"),
    )?;
    assert!(database.refresh()?);
    assert_eq!(database.apply(args(&second, 7))?, Step::Updated);
    // Renamed by somebody else: it is found by its number, and gets its name again.
    behind(
        &url(),
        &format!("ALTER DATABASE \"{second}\" RENAME TO \"{quoted}\""),
    )?;
    assert!(database.refresh()?);
    assert_eq!(database.apply(args(&second, 7))?, Step::Updated);
    let mut other = tester.resource("index:Database", "other");
    let error = other
        .apply(value!({ "name": second.clone() }))
        .expect_err("it exists");
    assert!(
        error.to_string().contains("import it with the ID"),
        "{error}"
    );
    assert!(other.import(&second)?);
    assert_eq!(other.input("owner"), other.output("owner"));
    database.delete()?;
    assert!(!other.refresh()?);
    Ok(())
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn a_role_logs_in_with_the_password_that_was_made() -> Result<()> {
    let tester = tester();
    let name = unique("role");
    let mut role = tester.resource("index:Role", "role");
    let args = |version: &str| {
        value!({
            "name": name.clone(), "login": true, "validUntil": "2999-01-01 00:00+00",
            "generatePassword": { "length": 24, "version": version },
            "settings": { "search_path": "app,\"$user\"", "statement_timeout": "30s" },
        })
    };
    assert_eq!(role.apply(args("1"))?, Step::Created);
    assert!(matches!(role.output("password"), Value::Secret(_)));
    let first = text(&role, "password");
    assert_eq!(first.len(), 24);
    behind(&url_of(Some((&name, &first)), "postgres"), "SELECT 1")?;
    assert!(role.refresh()?);
    assert_eq!(role.apply(args("1"))?, Step::Same);
    // Rotation: another version is another password, and the old one is no longer accepted.
    assert_eq!(role.apply(args("2"))?, Step::Updated);
    let second = text(&role, "password");
    assert_ne!(first, second);
    behind(&url_of(Some((&name, &second)), "postgres"), "SELECT 1")?;
    behind(&url_of(Some((&name, &first)), "postgres"), "SELECT 1").expect_err("it is the old one");
    // Somebody sets another password: a refresh notices, and the update sets the one that programs have.
    behind(
        &url(),
        &format!(
            "ALTER ROLE \"{name}\" PASSWORD 'other'; ALTER ROLE \"{name}\" RESET statement_timeout"
        ),
    )?;
    assert!(role.refresh()?);
    assert_eq!(role.apply(args("2"))?, Step::Updated);
    assert_eq!(text(&role, "password"), second);
    behind(
        &url_of(Some((&name, &second)), "postgres"),
        "SET search_path TO app",
    )?;
    assert!(role.refresh()?);
    assert_eq!(role.apply(args("2"))?, Step::Same);
    role.delete()
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn who_may_create_roles_needs_not_be_a_superuser() -> Result<()> {
    let (admin, name) = (unique("admin"), unique("made"));
    let login = format!("CREATE ROLE \"{admin}\" LOGIN CREATEROLE CREATEDB PASSWORD 'secret'");
    behind(&url(), &login)?;
    let tester = tester_as(&url_of(Some((&admin, "secret")), "postgres"));
    let mut role = tester.resource("index:Role", "role");
    let args = |login: bool| value!({ "name": name.clone(), "login": login, "password": "first" });
    assert_eq!(role.apply(args(false))?, Step::Created);
    assert_eq!(role.apply(args(true))?, Step::Updated);
    behind(&url_of(Some((&name, "first")), "postgres"), "SELECT 1")?;
    // Only a superuser can read the hashes of passwords, so a refresh keeps the recorded password.
    assert!(role.refresh()?);
    assert_eq!(role.apply(args(true))?, Step::Same);
    let mut root = tester.resource("index:Role", "root");
    let error = root
        .apply(value!({ "name": unique("root"), "superuser": true }))
        .expect_err("it may not");
    assert!(
        error.to_string().to_lowercase().contains("superuser"),
        "{error}"
    );
    role.delete()?;
    behind(&url(), &format!("DROP ROLE \"{admin}\""))
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn a_role_that_owns_something_gives_it_away() -> Result<()> {
    let tester = tester();
    let (name, heir, shop) = (unique("owner"), unique("heir"), unique("shop"));
    let mut roles = [&name, &heir].map(|it| (it, tester.resource("index:Role", it)));
    let heirs = value!({ "name": heir.clone() });
    assert_eq!(roles[1].1.apply(heirs)?, Step::Created);
    let owner = value!({ "name": name.clone(), "login": true });
    assert_eq!(roles[0].1.apply(owner)?, Step::Created);
    let mut database = tester.resource("index:Database", "shop");
    database.apply(value!({ "name": shop.clone() }))?;
    let mut schema = tester.resource("index:Schema", "s");
    let place = value!({ "name": "s", "database": shop.clone(), "owner": name.clone() });
    assert_eq!(schema.apply(place)?, Step::Created);
    let error = tester_error(roles[0].1.delete());
    assert!(error.contains("cannot be dropped"), "{error}");
    // The engine keeps a resource whose deletion failed.
    assert!(roles[0].1.import(&name)?);
    let gives = value!({ "name": name.clone(), "login": true, "reassignOwnedTo": heir.clone() });
    assert_eq!(roles[0].1.apply(gives)?, Step::Updated);
    roles[0].1.delete()?;
    assert!(schema.refresh()?);
    assert_eq!(text(&schema, "owner"), heir);
    schema.delete()?;
    database.delete()?;
    roles[1].1.delete()
}

fn tester_error(result: Result<()>) -> String {
    result.expect_err("it fails").to_string()
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn privileges_are_exactly_those_of_the_program() -> Result<()> {
    let tester = tester();
    let (reader, shop) = (unique("reader"), unique("shop"));
    let mut role = tester.resource("index:Role", "reader");
    role.apply(value!({ "name": reader.clone(), "login": true, "password": "secret" }))?;
    let mut database = tester.resource("index:Database", "shop");
    database.apply(value!({ "name": shop.clone() }))?;
    let inside = url_of(None, &shop);
    behind(
        &inside,
        "CREATE TABLE orders (id int); CREATE TABLE items (id int); CREATE SEQUENCE counter;
        CREATE FUNCTION total(a int, b text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    )?;
    let as_reader = url_of(Some((&reader, "secret")), &shop);
    behind(&as_reader, "SELECT * FROM orders").expect_err("nothing is granted");

    let mut tables = tester.resource("index:Grant", "tables");
    let select = |privileges: Value| {
        value!({
            "role": reader.clone(), "database": shop.clone(), "objectType": "table", "schema": "public",
            "privileges": privileges,
        })
    };
    assert_eq!(
        tables.apply(select(value!(["insert", "SELECT"])))?,
        Step::Created
    );
    behind(&as_reader, "SELECT * FROM orders; SELECT * FROM items")?;
    assert!(tables.refresh()?);
    assert_eq!(
        tables.apply(select(value!(["SELECT", "INSERT"])))?,
        Step::Same
    );
    assert_eq!(tables.apply(select(value!(["SELECT"])))?, Step::Updated);
    behind(&as_reader, "INSERT INTO orders VALUES (1)").expect_err("it is revoked");
    // A table that came later has nothing: what was granted is not there any more.
    behind(&inside, "CREATE TABLE late (id int)")?;
    assert!(!tables.refresh()?);
    assert_eq!(tables.apply(select(value!(["SELECT"])))?, Step::Created);
    behind(&inside, &format!("GRANT DELETE ON items TO \"{reader}\""))?;
    assert!(tables.refresh()?);
    assert_eq!(tables.apply(select(value!(["SELECT"])))?, Step::Updated);
    behind(&as_reader, "DELETE FROM items").expect_err("it is revoked again");
    let id = tables.id().unwrap_or_default().to_owned();
    assert!(tables.import(&id)?);
    assert_eq!(tables.apply(select(value!(["SELECT"])))?, Step::Same);

    let mut others = Vec::new();
    for (of, schema, objects, privileges) in [
        ("database", None, None, value!(["CONNECT", "TEMP"])),
        ("schema", Some("public"), None, value!(["ALL"])),
        ("sequence", Some("public"), None, value!(["USAGE"])),
        (
            "function",
            Some("public"),
            Some("total(integer, text)"),
            value!(["EXECUTE"]),
        ),
    ] {
        let mut other = tester.resource("index:Grant", of);
        let mut args = value!({
            "role": reader.clone(), "database": shop.clone(), "objectType": of, "privileges": privileges,
            "withGrantOption": true,
        });
        if let Value::Map(members) = &mut args {
            members.extend(schema.map(|it| ("schema".to_owned(), value!(it))));
            members.extend(objects.map(|it| ("objects".to_owned(), value!([it]))));
        }
        assert_eq!(other.apply(args.clone())?, Step::Created, "{of}");
        assert!(other.refresh()?, "{of}");
        assert_eq!(other.apply(args.clone())?, Step::Same, "{of}");
        let id = other.id().unwrap_or_default().to_owned();
        assert!(other.import(&id)?, "{of}");
        assert_eq!(other.apply(args)?, Step::Same, "{of}");
        others.push(other);
    }
    let failures = tables.failures(value!({
        "role": reader, "objectType": "table", "privileges": ["SELECT", "EXECUTE"],
    }))?;
    let properties: Vec<_> = failures
        .iter()
        .map(|(property, _)| property.as_str())
        .collect();
    assert_eq!(properties, ["schema", "privileges[1]"]);
    for mut grant in others.into_iter().chain([tables]) {
        grant.delete()?;
    }
    database.delete()?;
    role.delete()
}

#[test]
#[ignore = "needs a PostgreSQL server: tests/rust/postgres.py starts one"]
fn what_is_created_later_has_default_privileges() -> Result<()> {
    let tester = tester();
    let (group, user, shop) = (unique("group"), unique("user"), unique("shop"));
    let mut roles = [&group, &user].map(|it| (it, tester.resource("index:Role", it)));
    for (name, role) in &mut roles {
        role.apply(value!({ "name": (*name).clone(), "login": true, "password": "secret" }))?;
    }
    let mut membership = tester.resource("index:Membership", "membership");
    let member =
        |admin: bool| value!({ "role": group.clone(), "member": user.clone(), "withAdmin": admin });
    assert_eq!(membership.apply(member(false))?, Step::Created);
    assert_eq!(membership.apply(member(true))?, Step::Updated);
    assert!(membership.refresh()?);
    assert_eq!(membership.apply(member(false))?, Step::Updated);
    assert!(membership.refresh()?);
    assert_eq!(membership.apply(member(false))?, Step::Same);

    let mut database = tester.resource("index:Database", "shop");
    database.apply(value!({ "name": shop.clone() }))?;
    let mut extension = tester.resource("index:Extension", "extension");
    let plpgsql = value!({ "name": "plpgsql", "database": shop.clone() });
    let error = extension
        .apply(plpgsql)
        .expect_err("every database has it")
        .to_string();
    assert!(error.contains("import it"), "{error}");
    assert!(extension.import(&format!("{shop}/plpgsql"))?);

    let mut defaults = tester.resource("index:DefaultPrivileges", "defaults");
    let args = |privileges: Value| {
        value!({
            "owner": "plumb", "role": group.clone(), "database": shop.clone(), "schema": "public",
            "objectType": "table", "privileges": privileges,
        })
    };
    assert_eq!(defaults.apply(args(value!(["SELECT"])))?, Step::Created);
    behind(&url_of(None, &shop), "CREATE TABLE later (id int)")?;
    // The user has it as a member of the group.
    behind(
        &url_of(Some((&user, "secret")), &shop),
        "SELECT * FROM later",
    )?;
    assert!(defaults.refresh()?);
    assert_eq!(defaults.apply(args(value!(["SELECT"])))?, Step::Same);
    assert_eq!(defaults.apply(args(value!(["ALL"])))?, Step::Updated);
    assert!(defaults.refresh()?);
    let id = defaults.id().unwrap_or_default().to_owned();
    assert!(defaults.import(&id)?);
    assert_eq!(defaults.apply(args(value!(["ALL"])))?, Step::Same);
    defaults.delete()?;
    assert!(!defaults.refresh()?);
    database.delete()?;
    for (_, mut role) in roles {
        role.delete()?;
    }
    assert!(!membership.refresh()?);
    membership.delete()
}
