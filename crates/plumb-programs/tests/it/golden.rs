//! Exact output of the generators.

use plumb_pcl::{Leniency, Sources};
use plumb_programs::{ProgramLanguage, Project};
use pretty_assertions::assert_eq;

use super::corpus::{load, made};

/// Schema of a package with nested objects, enums and functions.
pub(crate) const SHAPES: &str = r##"{
  "name": "shapes", "version": "1.2.3",
  "types": {
    "shapes:paint:Color": {"type": "string", "enum": [{"value": "dark-red"}, {"name": "Blue", "value": "b"}]},
    "shapes:paint:Coat": {"type": "object", "properties": {
      "mainColor": {"$ref": "#/types/shapes:paint:Color"}, "layerCount": {"type": "integer"},
      "under": {"$ref": "#/types/shapes:paint:Coat"}}, "required": ["mainColor"]},
    "shapes:paint:Tiles": {"type": "object", "properties": {"tileCount": {"type": "integer"}}, "required": ["tileCount"]}
  },
  "resources": {
    "shapes:paint:Wall": {
      "inputProperties": {
        "coat": {"$ref": "#/types/shapes:paint:Coat"},
        "coats": {"type": "array", "items": {"$ref": "#/types/shapes:paint:Coat"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "lineHeight": {"type": "number"},
        "cover": {"oneOf": [{"$ref": "#/types/shapes:paint:Coat"}, {"$ref": "#/types/shapes:paint:Tiles"}]}
      },
      "properties": {
        "coat": {"$ref": "#/types/shapes:paint:Coat"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "lineHeight": {"type": "number"},
        "wallName": {"type": "string"}
      },
      "required": ["labels", "wallName"],
      "methods": {"inspect": "shapes:paint:Wall/inspect"}
    },
    "shapes:paint:House": {
      "isComponent": true,
      "inputProperties": {
        "door": {"$ref": "#/types/shapes:paint:Coat", "plain": true},
        "front": {"$ref": "#/resources/shapes:paint:Wall", "plain": true},
        "names": {"type": "array", "plain": true, "items": {"type": "string"}},
        "roof": {"$ref": "#/types/shapes:paint:Coat", "plain": true},
        "sizes": {"type": "object", "plain": true, "additionalProperties": {"type": "array", "plain": true, "items": {"type": "integer", "plain": true}}},
        "walls": {"type": "array", "plain": true, "items": {"$ref": "#/types/shapes:paint:Coat", "plain": true}}
      },
      "requiredInputs": ["door"]
    }
  },
  "functions": {
    "shapes:paint:Wall/inspect": {
      "inputs": {"properties": {"__self__": {"$ref": "#/resources/shapes:paint:Wall"}, "depth": {"type": "integer"}}, "required": ["__self__"]},
      "outputs": {"properties": {"note": {"type": "string"}}, "required": ["note"]}
    },
    "shapes:paint:findColor": {
      "inputs": {"properties": {"wallName": {"type": "string"}}, "required": ["wallName"]},
      "outputs": {"properties": {"colorName": {"type": "string"}}, "required": ["colorName"]}
    },
    "shapes:paint:getRecipe": {
      "outputs": {"properties": {"recipe": {"type": "string", "secret": true}}, "required": ["recipe"]}
    }
  }
}"##;

#[track_caller]
fn check(pcl: &str, python: &str, typescript: &str, go: &str) {
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    for (language, file, expected) in [
        (ProgramLanguage::Python, "__main__.py", python),
        (ProgramLanguage::Nodejs, "index.ts", typescript),
        (ProgramLanguage::Go, "main.go", go),
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
fn objects_of_one_of_several_types_are_classes_in_python() {
    check(
        "resource wall \"shapes:paint:Wall\" {\n  cover = { tileCount = 4 }\n}\n",
        "import pulumi
import pulumi_shapes as shapes

wall = shapes.paint.Wall(\"wall\", cover=shapes.paint.TilesArgs(tile_count=4))
",
        "import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

const wall = new shapes.paint.Wall(\"wall\", { cover: { tileCount: 4 } });
",
        "package main

import (
	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		_, err := paint.NewWall(ctx, \"wall\", &paint.WallArgs{
			Cover: &paint.TilesArgs{TileCount: pulumi.Int(4)},
		})
		if err != nil {
			return err
		}
		return nil
	})
}
",
    );
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
        "package main

import (
	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		_, err := paint.NewWall(ctx, \"wall\", &paint.WallArgs{
			Coat: &paint.CoatArgs{
				MainColor:  paint.ColorBlue,
				LayerCount: pulumi.Int(2),
				Under:      &paint.CoatArgs{MainColor: paint.Color_Dark_Red},
			},
			Labels:     pulumi.StringMap{\"mainColor\": pulumi.String(\"x\")},
			LineHeight: pulumi.Float64(1.5),
		})
		if err != nil {
			return err
		}
		return nil
	})
}
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
        "package main

import (
	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		wall, err := paint.NewWall(ctx, \"wall\", nil)
		if err != nil {
			return err
		}
		_, err = paint.NewWall(ctx, \"next\", &paint.WallArgs{
			Labels: pulumi.StringMap{
				\"a\": wall.Labels.MapIndex(pulumi.String(\"b\")),
				\"c\": pulumi.Sprintf(\"<%s>\", wall.WallName),
			},
			LineHeight: wall.LineHeight,
		})
		if err != nil {
			return err
		}
		ctx.Export(\"color\", wall.Coat.MainColor())
		ctx.Export(\"both\", wall.LineHeight.Elem().ApplyT(func(lineHeight float64) float64 {
			return lineHeight*2 + lineHeight
		}).(pulumi.Float64Output))
		return nil
	})
}
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
        "package main

import (
	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		found, err := paint.FindColor(ctx, &paint.FindColorArgs{
			WallName: \"w\",
		})
		if err != nil {
			return err
		}
		ctx.Export(\"name\", pulumi.String(found.ColorName))
		return nil
	})
}
",
    );
}

#[test]
fn components_of_the_same_name_have_types_and_files_of_their_own_in_go() {
    let inner = "output x {\n  value = 1\n}\n".to_owned();
    let main = "component one \"./a/site\" {}\ncomponent two \"./b/site\" {}\ncomponent three \"./main\" {}\n";
    let mut files = vec![("main.pp".to_owned(), main.to_owned())];
    files.extend(["a/site", "b/site", "main"].map(|it| (format!("{it}/main.pp"), inner.clone())));
    let generated = made(&Sources::new(files), ProgramLanguage::Go);
    for (file, class) in [
        ("aSite.go", "Site"),
        ("bSite.go", "BSite"),
        ("main2.go", "Main"),
    ] {
        let text = &generated.files[file];
        assert!(text.contains(&format!("type {class} struct")), "{text}");
        let creation = format!("New{class}(ctx, ");
        assert!(generated.files["main.go"].contains(&creation));
    }
}

#[test]
fn attempts_are_calls_that_return_errors_in_go() {
    let pcl = "config all any {}\noutput it {\n  value = try(all.a, all.b.c, \"none\")\n}\noutput has {\n  value = can(all.a)\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    let text = &made(&sources, ProgramLanguage::Go).files["main.go"];
    let expected = "\t\tfound, err := find(all, \"a\")
		if err != nil {
			found, err = func() (interface{}, error) {
				b, err := find(all, \"b\")
				if err != nil {
					return nil, err
				}
				c, err := find(b, \"c\")
				if err != nil {
					return nil, err
				}
				return c, nil
			}()
			if err != nil {
				found = \"none\"
			}
		}
		ctx.Export(\"it\", pulumi.Any(found))
		_, failure := find(all, \"a\")
		ctx.Export(\"has\", pulumi.Bool(failure == nil))
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn numbers_become_integers_in_go() {
    let text = "config size \"number\" {}\n\
        config names \"list(string)\" {}\n\
        component part \"./part\" {\n  size = size\n}\n\
        resource pet \"random:index/randomPet:RandomPet\" {\n  length = size\n}\n\
        joined = invoke(\"std:index:distinct\", { input = names })\n";
    let part = "config size \"number\" {}\n\
        resource pet \"random:index/randomPet:RandomPet\" {\n  length = size\n}\n";
    let files = [("main.pp", text), ("part/main.pp", part)];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let generated = made(&Sources::new(files), ProgramLanguage::Go);
    let (main, part) = (&generated.files["main.go"], &generated.files["part.go"]);
    assert!(main.contains("Length: pulumi.Int(int(size))"), "{main}");
    assert!(main.contains("Input: anys(names)"), "{main}");
    let whole = "args.Size.ToFloat64Output().ApplyT(func(value float64) int { return int(value) }).(pulumi.IntOutput)";
    assert!(part.contains(whole), "{part}");
}

#[test]
fn local_sdks_replace_their_modules_in_go() {
    let pcl = "resource wall \"shapes:paint:Wall\" {}\n".to_owned();
    let sources = Sources::new([("main.pp".to_owned(), pcl)]);
    let project = Project {
        name: "log".to_owned(),
        local_dependencies: [("shapes".to_owned(), "sdks/shapes".to_owned())].into(),
        ..Project::default()
    };
    let loaded = load(&sources, Leniency::NONE);
    let files = plumb_programs::project(&loaded.program, ProgramLanguage::Go, &project).files;
    assert_eq!(
        files["go.mod"],
        "module log-program

go 1.25

require (
	example.com/pulumi-shapes/sdk/go v0.0.0
	github.com/pulumi/pulumi/sdk/v3 v3.260.0
)

replace example.com/pulumi-shapes/sdk/go => ./sdks/shapes
"
    );
}

#[test]
fn all_files_of_a_project_lie_in_its_main_folder() {
    let pcl = "resource wall \"shapes:paint:Wall\" {}\n\
        output name {\n  value = pulumiResourceName(wall)\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    let project = Project {
        name: "log".to_owned(),
        main: "src/app".to_owned(),
        local_dependencies: [("shapes".to_owned(), "sdks/shapes".to_owned())].into(),
        ..Project::default()
    };
    let loaded = load(&sources, Leniency::NONE);
    let files = plumb_programs::project(&loaded.program, ProgramLanguage::Nodejs, &project).files;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let wanted = [
        "src/app/.gitignore",
        "src/app/index.ts",
        "src/app/package.json",
        "src/app/tsconfig.json",
    ];
    assert_eq!(names, wanted);
    let manifest = &files["src/app/package.json"];
    assert!(
        manifest.contains("\"file:../../sdks/shapes\""),
        "{manifest}"
    );
    let program = &files["src/app/index.ts"];
    assert!(program.contains("= pulumi.resourceName(wall)"), "{program}");
}

#[test]
fn hooks_run_their_commands_with_what_they_are_told() {
    check(
        "hook resource seen {\n  command = [\"echo\", args.name, args.urn]\n  onDryRun = true\n}\nhook error again {\n  command = [\"true\"]\n}\nresource wall \"shapes:paint:Wall\" {\n  options {\n    hooks = {\n      afterCreate = [seen]\n      onError = [again]\n    }\n  }\n}\n",
        "import subprocess

import pulumi
import pulumi_shapes as shapes

def run_seen(args):
    subprocess.run([\"echo\", args.name, args.urn], check=True)

seen = pulumi.ResourceHook(\"seen\", run_seen, pulumi.ResourceHookOptions(on_dry_run=True))

def run_again(args):
    return subprocess.run([\"true\"]).returncode == 0

again = pulumi.ErrorHook(\"again\", run_again)
wall = shapes.paint.Wall(
    \"wall\",
    opts=pulumi.ResourceOptions(
        hooks=pulumi.ResourceHookBinding(after_create=[seen], on_error=[again]),
    ),
)
",
        "import * as child_process from \"child_process\";
import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

const seen = new pulumi.ResourceHook(\"seen\", (args) => {
    child_process.execFileSync(\"echo\", [args.name, args.urn]);
}, { onDryRun: true });
const again = new pulumi.ErrorHook(\"again\", (args) => {
    return child_process.spawnSync(\"true\", []).status === 0;
});
const wall = new shapes.paint.Wall(\"wall\", {}, { hooks: { afterCreate: [seen], onError: [again] } });
",
        "package main

import (
	\"os/exec\"

	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		seen, err := ctx.RegisterResourceHook(\"seen\", func(args *pulumi.ResourceHookArgs) error {
			return exec.Command(\"echo\", args.Name, string(args.URN)).Run()
		}, &pulumi.ResourceHookOptions{OnDryRun: true})
		if err != nil {
			return err
		}
		again, err := ctx.RegisterErrorHook(\"again\", func(args *pulumi.ErrorHookArgs) (bool, error) {
			return exec.Command(\"true\").Run() == nil, nil
		})
		if err != nil {
			return err
		}
		_, err = paint.NewWall(ctx, \"wall\", nil, pulumi.ResourceHooks(&pulumi.ResourceHookBinding{
			AfterCreate: []*pulumi.ResourceHook{seen},
			OnError:     []*pulumi.ErrorHook{again},
		}))
		if err != nil {
			return err
		}
		return nil
	})
}
",
    );
}

#[test]
fn results_that_may_be_secret_are_outputs() {
    check(
        "output recipe {\n  value = invoke(\"shapes:paint:getRecipe\").recipe\n}\n",
        "import pulumi
import pulumi_shapes as shapes

pulumi.export(\"recipe\", shapes.paint.get_recipe_output().recipe)
",
        "import * as pulumi from \"@pulumi/pulumi\";
import * as shapes from \"@pulumi/shapes\";

export const recipe = shapes.paint.getRecipeOutput().recipe;
",
        "package main

import (
	\"example.com/pulumi-shapes/sdk/go/shapes/paint\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		ctx.Export(\"recipe\", paint.GetRecipeOutput(ctx).Recipe())
		return nil
	})
}
",
    );
}

#[test]
fn lengths_of_texts_count_characters_as_people_see_them_in_python() {
    let pcl =
        "config title string {}\noutput it {\n  value = length(title) + length(\"abcd\")\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    let text = &made(&sources, ProgramLanguage::Python).files["__main__.py"];
    assert!(text.starts_with("import unicodedata\n"), "{text}");
    let expected = "pulumi.export(\"it\", length_of_text(title) + len(\"abcd\"))\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn typescript_is_told_what_it_cannot_know() {
    let pcl = r#"
config color "string" {
  nullable = true
}
config place "string" {}
config flags "map(bool)" {}
rooms = {
  kitchen = "blue"
  bath    = "red"
}
output found {
  value = invoke("shapes:paint:findColor", { wallName = color })
}
output room {
  value = rooms[place]
}
output either {
  value = lookup(flags, "a", false) || place == "red"
}
"#;
    let sources = Sources::new([("main.pp".to_owned(), pcl.to_owned())]);
    let text = &made(&sources, ProgramLanguage::Nodejs).files["index.ts"];
    for expected in [
        "{ wallName: color! }",
        "(rooms as Record<string, any>)[place]",
        "(flags[\"a\"] ?? false) || place === \"red\"",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
