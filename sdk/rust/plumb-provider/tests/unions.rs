//! Enums with data: values of one of several types.

use plumb_provider::prelude::*;
use plumb_provider::testing::{Step, Tester};
use serde_json::{Value as Json, json};

/// A number of a port, or the name of its service.
#[derive(Clone, Debug, PartialEq, EnumType)]
enum Port {
    Number(i64),
    Name(String),
    Range(Range),
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct Range {
    from: i64,
    #[property(default = 65535)]
    to: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct Circle {
    #[property(replace)]
    radius: f64,
    /// Drawn inside of the circle.
    inside: Option<Vec<Shape>>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct Square {
    side: f64,
    #[property(default = "black")]
    color: Option<String>,
}

#[derive(Clone, Debug, PartialEq, EnumType)]
#[property(tag = "kind")]
enum Shape {
    #[property(name = "circle")]
    Circle(Circle),
    Square(Box<Square>),
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct DrawingArgs {
    shape: Shape,
    port: Option<Port>,
}

struct Drawing;

#[plumb_provider::resource]
impl Resource for Drawing {
    type Args = DrawingArgs;
    type State = DrawingArgs;

    async fn create(_: &Cx, args: DrawingArgs) -> Result<Created<DrawingArgs>> {
        Ok(Created::new("1", args))
    }

    async fn update(_: &Cx, update: Update<Drawing>) -> Result<Updated<DrawingArgs>> {
        Ok(update.args.into())
    }
}

fn tester() -> Tester {
    let provider = Provider::new("draw", "1.0.0").resource::<Drawing>();
    Tester::new(provider).expect("the schema is valid")
}

#[test]
fn the_schema_says_which_types_there_are() {
    let schema: Json = serde_json::from_str(&tester().schema().unwrap()).unwrap();
    let inputs = &schema["resources"]["draw:index:Drawing"]["inputProperties"];
    assert_eq!(
        inputs["shape"],
        json!({
            "oneOf": [{ "$ref": "#/types/draw:index:Circle" }, { "$ref": "#/types/draw:index:Square" }],
            "discriminator": {
                "propertyName": "kind",
                "mapping": {
                    "circle": "#/types/draw:index:Circle",
                    "Square": "#/types/draw:index:Square",
                },
            },
        })
    );
    assert_eq!(
        inputs["port"],
        json!({ "oneOf": [
            { "type": "integer" },
            { "type": "string" },
            { "$ref": "#/types/draw:index:Range" },
        ] })
    );
    let circle = &schema["types"]["draw:index:Circle"];
    assert_eq!(
        circle["properties"]["kind"],
        json!({ "type": "string", "const": "circle" })
    );
    assert_eq!(circle["required"], json!(["kind", "radius"]));
}

#[test]
fn values_have_one_of_the_types() {
    let tester = tester();
    let mut drawing = tester.resource("index:Drawing", "a");
    let shape =
        value!({ "kind": "circle", "radius": 2, "inside": [{ "kind": "Square", "side": 1 }] });
    let inputs = value!({ "shape": shape.clone(), "port": 80 });
    assert_eq!(drawing.apply(inputs).unwrap(), Step::Created);
    let inside = value!([{ "kind": "Square", "side": 1, "color": "black" }]);
    let made = drawing.output("shape");
    assert_eq!(
        made.get("inside"),
        Some(&inside),
        "defaults come at any depth"
    );
    assert_eq!(made.get("kind"), Some(&value!("circle")));
    for (port, step) in [
        (value!("http"), Step::Updated),
        (value!({ "from": 1 }), Step::Updated),
        (value!({ "from": 1, "to": 65535 }), Step::Same),
    ] {
        let inputs = value!({ "shape": shape.clone(), "port": port });
        assert_eq!(drawing.apply(inputs).unwrap(), step);
    }
    let larger =
        value!({ "kind": "circle", "radius": 3, "inside": [{ "kind": "Square", "side": 1 }] });
    let step = drawing.apply(value!({ "shape": larger })).unwrap();
    assert_eq!(step, Step::Replaced, "what replaces is that of the type");
}

#[test]
fn values_of_none_of_the_types_are_named() {
    let tester = tester();
    let drawing = tester.resource("index:Drawing", "a");
    let square = value!({ "kind": "Square", "side": 1 });
    for (shape, port, property, reason) in [
        (
            value!({ "side": 1 }),
            value!(1),
            "shape.kind",
            "expected one of circle, Square",
        ),
        (
            value!({ "kind": "oval" }),
            value!(1),
            "shape.kind",
            "expected one of circle, Square",
        ),
        (
            value!("oval"),
            value!(1),
            "shape",
            "expected an object, found a string",
        ),
        (
            value!({ "kind": "circle", "radius": "2" }),
            value!(1),
            "shape.radius",
            "expected a number, found a string",
        ),
        (
            square.clone(),
            value!({ "from": "1" }),
            "port.from",
            "expected an integer, found a string",
        ),
        (
            square,
            value!(true),
            "port",
            "expected an integer or a string or an object, found a boolean",
        ),
    ] {
        let inputs = value!({ "shape": shape, "port": port });
        let found = drawing.failures(inputs).unwrap();
        assert_eq!(found, [(property.to_owned(), reason.to_owned())]);
    }
}

#[test]
fn a_tag_is_no_property_of_the_struct() {
    #[derive(Clone, Debug, Properties)]
    struct Disc {
        kind: String,
    }
    #[derive(Clone, Debug, EnumType)]
    #[property(tag = "kind")]
    enum Round {
        Disc(Disc),
        Number(i64),
    }
    #[derive(Clone, Debug, Properties)]
    struct Args {
        round: Round,
    }
    struct Thing;
    #[plumb_provider::resource]
    impl Resource for Thing {
        type Args = Args;
        type State = Args;

        async fn create(_: &Cx, args: Args) -> Result<Created<Args>> {
            Ok(Created::new("1", args))
        }
    }
    let error = Tester::new(Provider::new("wrong", "0.1.0").resource::<Thing>()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`index:Disc` cannot have the tag `kind`"),
        "{text}"
    );
    assert!(
        text.contains("the variant `Number` with the tag `kind` is no struct"),
        "{text}"
    );
}
