//! Configurations in `tests/cases`, each beside what is made of it. `PLUMB_WRITE_CASES=1` writes that anew.

use std::fs;

use pretty_assertions::assert_eq;

use super::{converted, folder};

#[test]
fn configurations_become_programs() {
    let cases = folder().join("cases");
    let mut count = 0;
    for entry in fs::read_dir(&cases).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        count += 1;
        // Some call modules beside their own folder.
        let start = if path.join("live").is_dir() {
            "live"
        } else {
            ""
        };
        let text = converted(&path, start).unwrap();
        let expected = path.with_extension("txt");
        if std::env::var_os("PLUMB_WRITE_CASES").is_some() {
            fs::write(&expected, &text).unwrap();
        }
        assert_eq!(
            text,
            fs::read_to_string(&expected).unwrap(),
            "{}",
            path.display()
        );
    }
    assert!(count > 5, "{count} cases");
}

#[track_caller]
fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.tf"), text).unwrap();
    converted(folder.path(), "").unwrap_err().to_string()
}

#[test]
fn what_cannot_be_read_is_shown_with_its_place() {
    let told = refused("resource \"a\" \"b\" {\n  x = = 1\n}\n");
    assert!(
        told.contains("main.tf") && told.contains("x = = 1"),
        "{told}"
    );
    let empty = tempfile::tempdir().unwrap();
    let told = converted(empty.path(), "").unwrap_err().to_string();
    assert!(
        told.contains("there is no Terraform configuration in"),
        "{told}"
    );
}

#[test]
fn modules_that_call_each_other_end() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "module \"again\" {\n  source = \"./\"\n}\noutput \"o\" {\n  value = module.again.o\n}\n";
    fs::write(folder.path().join("main.tf"), text).unwrap();
    converted(folder.path(), "").unwrap();
}

#[test]
fn files_outside_are_not_read() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("inner");
    fs::create_dir(&folder).unwrap();
    fs::write(
        outer.path().join("secret.tf"),
        "output \"leaked\" {\n  value = 1\n}\n",
    )
    .unwrap();
    fs::write(outer.path().join("secret.tpl"), "leaked").unwrap();
    let text = "module \"m\" {\n  source = \"../\"\n}\nlocals {\n  t = templatefile(\"${path.module}/../secret.tpl\", {})\n}\n";
    fs::write(folder.join("main.tf"), text).unwrap();
    let text = converted(&folder, "").unwrap();
    assert!(!text.contains("leaked"), "{text}");
    assert!(text.contains("it is outside of the folder"), "{text}");
}

#[test]
fn names_of_a_mapping_come_before_those_that_follow_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let text = "resource \"cloud_net\" \"n\" {\n  block = \"10.0.0.0/8\"\n  entry {\n    open = true\n  }\n}\n\
        output \"o\" {\n  value = cloud_net.n.entry[0].open\n}\n";
    fs::write(folder.path().join("main.tf"), text).unwrap();
    let mapping = r#"{"name": "cloud", "resources": {"cloud_net": {"tok": "cloud:net/network:Network", "fields": {
        "block": {"name": "cidrBlock"},
        "entry": {"name": "access", "maxItemsOne": true, "element": {"fields": {"open": {"name": "isOpen"}}}}}}}}"#;
    let mut packages = plumb_terraform::Packages::new();
    let schema = plumb_schema::PackageSchema::parse(include_str!("../schemas/cloud.json")).unwrap();
    packages.insert("cloud", Some(schema.into()), Some(mapping.as_bytes()));
    let configuration = plumb_terraform::Configuration::read(folder.path(), "").unwrap();
    let converted = plumb_terraform::convert(&configuration, &packages);
    let expected = "resource n \"cloud:net/network:Network\" {\n  cidrBlock = \"10.0.0.0/8\"\n  access = {\n    isOpen = true\n  }\n}\n\n\
        output o {\n  value = n.access.isOpen\n}\n";
    assert_eq!(converted.files["main.pp"], expected);
    assert_eq!(converted.notes, []);
}

#[test]
fn secrets_of_the_schema_are_secret_in_states_that_do_not_list_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "resource \"random_password\" \"p\" {\n  length = 8\n}\n";
    fs::write(folder.path().join("main.tf"), text).unwrap();
    let state = r#"{"version": 4, "resources": [{"mode": "managed", "type": "random_password", "name": "p", "instances": [
        {"attributes": {"id": "none", "length": 8, "result": "hush"}, "sensitive_attributes": []}]}]}"#;
    let configuration = plumb_terraform::Configuration::read(folder.path(), "").unwrap();
    let (adopted, notes) =
        plumb_terraform::adopt(&configuration, &super::packages(), state).unwrap();
    assert_eq!(notes, []);
    let values = adopted[0].values.as_ref().unwrap();
    assert!(values.secrets.contains("result"), "{:?}", values.secrets);
}

#[test]
fn the_root_module_is_within_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let told = converted(folder.path(), "../other")
        .unwrap_err()
        .to_string();
    assert!(told.contains("is outside of the folder"), "{told}");
}

#[test]
fn values_that_are_not_constant_are_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.tf"), "variable \"a_b\" {}\n").unwrap();
    fs::write(
        folder.path().join("terraform.tfvars"),
        "a_b = upper(\"x\")\n",
    )
    .unwrap();
    let configuration = plumb_terraform::Configuration::read(folder.path(), "").unwrap();
    assert_eq!(configuration.values().unwrap().computed, ["aB"]);
}

#[test]
fn what_has_no_known_type_is_left_out_where_no_program_can_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "provider \"strange\" {\n  alias = \"x\"\n}\n\nresource \"strange_thing\" \"a\" {\n  size = 1\n}\n\n\
        resource \"random_pet\" \"b\" {\n  prefix     = strange_thing.a.id\n  depends_on = [strange_thing.a]\n}\n";
    fs::write(folder.path().join("main.tf"), text).unwrap();
    let configuration = plumb_terraform::Configuration::read(folder.path(), "").unwrap();
    let converted = plumb_terraform::convert(&configuration, &super::packages().without_guesses());
    let expected = "# TODO: the package of this provider is not known, so its settings are left out\n\
        # provider \"strange\" {\n#   alias = \"x\"\n# }\n\
        # TODO: no type of a package is known for strange_thing, so it is left out\n\
        # resource \"strange_thing\" \"a\" {\n#   size = 1\n# }\n\
        # TODO: what this refers to is left out, because its type is not known: strange_thing.a.id\n\
        # TODO: a dependency on this is not converted: strange_thing.a\n\
        resource b \"random:index/randomPet:RandomPet\" {\n  prefix = notImplemented(\"strange_thing.a.id\")\n}\n";
    assert_eq!(converted.files["main.pp"], expected);
    assert_eq!(converted.notes.len(), 4);
    let coverage = plumb_terraform::Coverage {
        resources: 2,
        attributes: 3,
        converted: 0,
    };
    assert_eq!(converted.coverage, coverage);
}
