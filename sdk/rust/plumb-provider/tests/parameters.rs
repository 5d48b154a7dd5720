//! A provider that parameters make other packages of.

use plumb_provider::prelude::*;
use plumb_provider::testing::{Step, Tester};
use plumb_provider::{Parameter, bail};
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, Properties)]
struct NoteArgs {
    text: String,
}

#[derive(Clone, Debug, Properties)]
struct NoteState {
    #[property(flatten)]
    args: NoteArgs,
    department: String,
}

struct Note;

#[plumb_provider::resource]
impl Resource for Note {
    type Args = NoteArgs;
    type State = NoteState;

    async fn create(cx: &Cx, args: NoteArgs) -> Result<Created<NoteState>> {
        let department = String::from_utf8(cx.parameter().unwrap_or(b"none").to_vec())?;
        Ok(Created::new("1", NoteState { args, department }))
    }
}

async fn department(parameter: Parameter) -> Result<Provider> {
    let name = match parameter {
        Parameter::Args(args) => match &args[..] {
            [name] => name.clone(),
            _ => bail!("expected one argument: the name of the department"),
        },
        Parameter::Value { value, .. } => String::from_utf8(value)?,
    };
    let package = Provider::new(&format!("notes-{name}"), "2.0.0").resource::<Note>();
    if name == "forgetful" {
        return Ok(package);
    }
    Ok(package.parameter(name))
}

fn tester() -> Tester {
    let provider = Provider::new("notes", "1.0.0")
        .resource::<Note>()
        .mapping("terraform", "notebook", b"{}".to_vec())
        .parameterized(department);
    Tester::new(provider).expect("the schema is valid")
}

fn args(args: &[&str]) -> Parameter {
    Parameter::Args(args.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn a_parameter_makes_a_package_and_the_package_has_the_parameter() {
    let tester = tester();
    let made = tester.parameterize(args(&["sales"])).unwrap();
    assert_eq!(made, ("notes-sales".to_owned(), "2.0.0".to_owned()));
    let schema: Json = serde_json::from_str(&tester.schema().unwrap()).unwrap();
    assert_eq!(schema["name"], "notes-sales");
    assert_eq!(
        schema["parameterization"],
        json!({
            "baseProvider": { "name": "notes", "version": "1.0.0" },
            "parameter": "c2FsZXM=",
        })
    );
    let mut note = tester.resource("index:Note", "a");
    assert_eq!(note.apply(value!({ "text": "x" })).unwrap(), Step::Created);
    assert_eq!(note.output("department"), &value!("sales"));
    let mut own = tester.resource("notes:index:Note", "b");
    assert_eq!(own.apply(value!({ "text": "x" })).unwrap(), Step::Created);
}

#[test]
fn the_value_makes_the_same_package() {
    let tester = tester();
    let value = Parameter::Value {
        name: "notes-sales".to_owned(),
        version: "2.0.0".to_owned(),
        value: b"sales".to_vec(),
    };
    let made = tester.parameterize(value.clone()).unwrap();
    assert_eq!(made, ("notes-sales".to_owned(), "2.0.0".to_owned()));
    assert_eq!(tester.parameterize(value).unwrap(), made);
    let error = tester.parameterize(args(&["support"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider has another parameter already"
    );
}

#[test]
fn parameters_that_cannot_be_are_errors() {
    let error = tester().parameterize(args(&[])).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the name of the department"), "{text}");
    let error = tester().parameterize(args(&["forgetful"])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`notes-forgetful` has no parameter"),
        "{text}"
    );
    let plain = Tester::new(Provider::new("plain", "1.0.0")).unwrap();
    let error = plain.parameterize(args(&["x"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider `plain` takes no parameters"
    );
}
