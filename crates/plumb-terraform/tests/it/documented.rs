//! The page of `docs` that lists functions. `PLUMB_WRITE_DOCS=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use plumb_terraform::{Becomes, FUNCTIONS};
use pretty_assertions::assert_eq;

const HEAD: &str = "# Functions of Terraform\n\n\
`plumb convert --from terraform` writes the functions of Terraform 1.11 as follows. Those of the package `std` are built in.\n\n\
| Function | Becomes |\n|---|---|\n";

fn page() -> String {
    let mut text = HEAD.to_owned();
    for (name, becomes) in FUNCTIONS {
        let what = match becomes {
            Becomes::Builtin(other) => format!("`{other}`"),
            Becomes::Std(_) if *name == "plantimestamp" => {
                "`std.timestamp`, at the time of the program's run".to_owned()
            }
            Becomes::Std(_) | Becomes::StdList(_) | Becomes::StdRest(..) => format!("`std.{name}`"),
            Becomes::Argument => "its argument".to_owned(),
            Becomes::Written => written(name).to_owned(),
            Becomes::Nothing(why) => format!("a call that fails: {why}"),
        };
        let _ = writeln!(text, "| `{name}` | {what} |");
    }
    text
}

fn written(name: &str) -> &'static str {
    match name {
        "coalesce" => "the first of `std.compact` for texts, a conditional for other values",
        "element" => "`element`, with the remainder of the index",
        "fileset" => "the list of the files at the time of the conversion",
        "formatdate" => {
            "`std.replace`; a call that fails for names of days and months, and hours of half days"
        }
        "list" => "a list",
        "matchkeys" => "a `for` expression with `std.contains`",
        "range" => "`range`, or `std.range` with a step",
        "regex" => "the first of `std.regexall`",
        "setproduct" => "nested `for` expressions in `std.concat`",
        "textdecodebase64" => "`fromBase64`; a call that fails for other encodings than UTF-8",
        "textencodebase64" => "`toBase64`; a call that fails for other encodings than UTF-8",
        "yamldecode" => {
            "the value of the text or file at the time of the conversion; a call that fails for others"
        }
        "setsubtract" => "a `for` expression with `std.contains`",
        "setunion" => "`std.distinct` of `std.concat`",
        "strcontains" => "the length of `split`",
        "templatefile" => "the text of the file with its variables put in",
        "toset" => "a list in order, or `std.toset`; a map in `for_each`",
        "tostring" => "a text, or `std.tostring`",
        "yamlencode" => "`toJSON`: JSON is YAML",
        other => panic!("say what becomes of {other}"),
    }
}

#[test]
fn the_page_lists_all_functions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform-functions.md");
    if std::env::var_os("PLUMB_WRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page());
}
