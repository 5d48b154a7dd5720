//! A provider that is a package for each department, with properties of several types.

use plumb_provider::prelude::*;
use plumb_provider::{Parameter, bail};

#[derive(Clone, Debug, Properties)]
struct Circle {
    radius: f64,
}

#[derive(Clone, Debug, Properties)]
struct Square {
    side: f64,
}

#[derive(Clone, Debug, EnumType)]
#[property(tag = "kind")]
enum Shape {
    #[property(name = "circle")]
    Circle(Circle),
    Square(Square),
}

#[derive(Clone, Debug, Properties)]
struct NoteArgs {
    text: String,
    drawing: Option<Shape>,
}

#[derive(Clone, Debug, Properties)]
struct NoteState {
    #[property(flatten)]
    args: NoteArgs,
    department: String,
}

struct Note;

/// A note of a department.
#[plumb_provider::resource]
impl Resource for Note {
    type Args = NoteArgs;
    type State = NoteState;

    async fn create(cx: &Cx, args: NoteArgs) -> Result<Created<NoteState>> {
        let department = match cx.parameter() {
            Some(name) => String::from_utf8(name.to_vec())?,
            None => bail!("there is no department"),
        };
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
    let package = Provider::new(&format!("notes-{name}"), "2.0.0");
    Ok(package.parameter(name).resource::<Note>())
}

/// The package has another name in Terraform, as the one for Google Cloud has.
const MAPPING: &str =
    r#"{"name": "notebook", "resources": {"notes_memo": {"tok": "notes:office/memo:Memo"}}}"#;

fn main() -> std::process::ExitCode {
    Provider::new("notes", env!("CARGO_PKG_VERSION"))
        .parameterized(department)
        .mapping("terraform", "notebook", MAPPING)
        .serve()
}
