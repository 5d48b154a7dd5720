//! Exact output of the generators.

use plumb_pcl::Sources;
use plumb_programs::ProgramLanguage;
use pretty_assertions::assert_eq;

use super::corpus::made;

/// Schema of a package with nested objects, enums and functions.
pub(crate) const SHAPES: &str = r##"{
  "name": "shapes", "version": "1.2.3",
  "types": {
    "shapes:paint:Color": {"type": "string", "enum": [{"value": "dark-red"}, {"name": "Blue", "value": "b"}]},
    "shapes:paint:Coat": {"type": "object", "properties": {
      "mainColor": {"$ref": "#/types/shapes:paint:Color"}, "layerCount": {"type": "integer"},
      "under": {"$ref": "#/types/shapes:paint:Coat"}}, "required": ["mainColor"]}
  },
  "resources": {
    "shapes:paint:Wall": {
      "inputProperties": {
        "coat": {"$ref": "#/types/shapes:paint:Coat"},
        "coats": {"type": "array", "items": {"$ref": "#/types/shapes:paint:Coat"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "lineHeight": {"type": "number"}
      },
      "properties": {
        "coat": {"$ref": "#/types/shapes:paint:Coat"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "lineHeight": {"type": "number"},
        "wallName": {"type": "string"}
      },
      "required": ["labels", "wallName"]
    }
  },
  "functions": {
    "shapes:paint:findColor": {
      "inputs": {"properties": {"wallName": {"type": "string"}}, "required": ["wallName"]},
      "outputs": {"properties": {"colorName": {"type": "string"}}, "required": ["colorName"]}
    }
  }
}"##;

#[track_caller]
fn check(pcl: &str, python: &str, typescript: &str) {
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    for (language, file, expected) in [
        (ProgramLanguage::Python, "__main__.py", python),
        (ProgramLanguage::Nodejs, "index.ts", typescript),
    ] {
        let generated = made(&sources, language);
        let problems: Vec<String> = generated
            .problems
            .iter()
            .map(plumb_pcl::Problem::one_line)
            .collect();
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(generated.files[file], expected);
    }
}

#[test]
fn objects_and_enums_have_their_types() {
    check(
        "resource wall \"shapes:paint:Wall\" {\n  coat = { mainColor = \"b\", layerCount = 2, under = { mainColor = \"dark-red\" } }\n  labels = { mainColor = \"x\" }\n  lineHeight = \"1.5\"\n}\n",
        "import pulumi
import pulumi_shapes as shapes

wall = shapes.paint.Wall(
    \"wall\",
    coat={
        \"main_color\": shapes.paint.Color.BLUE,
        \"layer_count\": 2,
        \"under\": {\"main_color\": shapes.paint.Color.DARK_RED},
    },
    labels={\"mainColor\": \"x\"},
    line_height=1.5,
)
",
        "import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

const wall = new shapes.paint.Wall(\"wall\", {
    coat: {
        mainColor: shapes.paint.Color.Blue,
        layerCount: 2,
        under: { mainColor: shapes.paint.Color.Dark_red },
    },
    labels: { mainColor: \"x\" },
    lineHeight: 1.5,
});
",
    );
}

#[test]
fn properties_of_outputs_are_asked_for_without_callbacks_where_that_works() {
    check(
        "resource wall \"shapes:paint:Wall\" {}\nresource next \"shapes:paint:Wall\" {\n  labels = { a = wall.labels[\"b\"], c = \"<${wall.wallName}>\" }\n  lineHeight = wall.lineHeight\n}\noutput color {\n  value = wall.coat.mainColor\n}\noutput both {\n  value = wall.lineHeight * 2 + wall.lineHeight\n}\n",
        "import pulumi
import pulumi_shapes as shapes

wall = shapes.paint.Wall(\"wall\")
next = shapes.paint.Wall(
    \"next\",
    labels={\"a\": wall.labels[\"b\"], \"c\": pulumi.Output.concat(\"<\", wall.wall_name, \">\")},
    line_height=wall.line_height,
)
pulumi.export(\"color\", wall.coat.main_color)
pulumi.export(\"both\", wall.line_height.apply(lambda line_height: line_height * 2 + line_height))
",
        "import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

const wall = new shapes.paint.Wall(\"wall\");
const next = new shapes.paint.Wall(\"next\", {
    labels: { a: wall.labels.b, c: pulumi.interpolate`<${wall.wallName}>` },
    lineHeight: wall.lineHeight,
});
export const color = wall.coat.apply((coat) => coat?.mainColor);
export const both = wall.lineHeight.apply((lineHeight) => lineHeight * 2 + lineHeight);
",
    );
}

#[test]
fn functions_of_providers_take_the_form_that_fits() {
    check(
        "found = invoke(\"shapes:paint:findColor\", { wallName = \"w\" })\noutput name {\n  value = found.colorName\n}\n",
        "import pulumi
import pulumi_shapes as shapes

found = shapes.paint.find_color(wall_name=\"w\")
pulumi.export(\"name\", found.color_name)
",
        "import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

const found = shapes.paint.findColorOutput({ wallName: \"w\" });
export const name = found.colorName;
",
    );
}
