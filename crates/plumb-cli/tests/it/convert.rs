//! `convert`: programs in other languages.

use crate::context::TestContext;

const YAML: &str = "name: pets
runtime: yaml
description: Some pets
config:
  size:
    type: integer
    default: 2
resources:
  pet:
    type: random:RandomPet
    properties:
      length: ${size}
outputs:
  name: pet-${pet.id}
";

#[test]
fn yaml_becomes_python_with_what_it_needs() {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", YAML);
    context.write("data/note.txt", "kept\n");
    context.ok(&[
        "convert",
        "--language",
        "python",
        "--out",
        "out",
        "--generate-only",
    ]);
    assert_eq!(
        context.read("out/__main__.py"),
        "import pulumi
import pulumi_random as random

config = pulumi.Config()
size = config.get_int(\"size\", 2)
pet = random.RandomPet(\"pet\", length=size)
pulumi.export(\"name\", pulumi.Output.concat(\"pet-\", pet.id))
"
    );
    let project = context.read("out/Pulumi.yaml");
    assert!(project.starts_with("name: pets\nruntime:\n"), "{project}");
    assert!(project.contains("description: Some pets"), "{project}");
    assert!(!project.contains("resources"), "{project}");
    assert!(
        context
            .read("out/requirements.txt")
            .contains("pulumi-random==")
    );
    assert_eq!(context.read("out/data/note.txt"), "kept\n");
}

#[test]
fn yaml_becomes_go_with_a_module() {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", YAML);
    context.ok(&[
        "convert",
        "--language",
        "go",
        "--out",
        "out",
        "--generate-only",
    ]);
    assert_eq!(
        context.read("out/main.go"),
        "package main

import (
	\"github.com/pulumi/pulumi-random/sdk/v4/go/random\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"
	\"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config\"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		cfg := config.New(ctx, \"\")
		size := 2
		if _, err := cfg.Try(\"size\"); err == nil {
			size = cfg.RequireInt(\"size\")
		}
		pet, err := random.NewRandomPet(ctx, \"pet\", &random.RandomPetArgs{
			Length: pulumi.Int(size),
		})
		if err != nil {
			return err
		}
		ctx.Export(\"name\", pulumi.Sprintf(\"pet-%s\", pet.ID()))
		return nil
	})
}
"
    );
    let module = context.read("out/go.mod");
    assert!(module.starts_with("module pets\n\ngo "), "{module}");
    assert!(
        module.contains("\tgithub.com/pulumi/pulumi-random/sdk/v4 v4."),
        "{module}"
    );
    assert!(context.read("out/Pulumi.yaml").contains("runtime: go\n"));
}

#[test]
fn yaml_becomes_pcl_and_pcl_typescript() {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", YAML);
    context.ok(&["convert", "--language", "pcl", "--out", "pcl"]);
    assert_eq!(
        context.read("pcl/main.pp"),
        "config size \"int\" {
  default = 2
}

resource pet \"random:RandomPet\" {
  length = size
}

output name {
  value = \"pet-${pet.id}\"
}
"
    );
    let context = TestContext::without_project();
    context.write(
        "main.pp",
        "resource pet \"random:RandomPet\" {\n  length = 1\n}\n",
    );
    context.ok(&[
        "convert",
        "--from",
        "pcl",
        "--language",
        "typescript",
        "--generate-only",
        "--name",
        "pets",
        "--out",
        "ts",
    ]);
    assert!(
        context
            .read("ts/index.ts")
            .contains("new random.RandomPet(\"pet\", { length: 1 });")
    );
    assert!(
        context
            .read("ts/package.json")
            .contains("\"name\": \"pets\"")
    );
}

#[test]
fn mistakes_and_languages_without_programs_are_told() {
    let context = TestContext::without_project();
    context.write(
        "main.pp",
        "resource pet \"random:RandomPet\" {\n  lenth = 1\n}\n",
    );
    let strict = [
        "convert",
        "--from",
        "pcl",
        "--language",
        "python",
        "--strict",
        "--out",
        "out",
    ];
    let told = context.fails(1, &strict);
    assert!(
        told.contains("main.pp:2:3: unsupported attribute 'lenth'"),
        "{told}"
    );
    assert!(told.contains("conversion failed"), "{told}");
    for (words, expected) in [
        (
            &["convert", "--language", "ruby"][..],
            "programs are not converted to ruby yet",
        ),
        (&["convert"][..], "required flag(s) \"language\" not set"),
        (
            &["convert", "--language", "python", "--from", "bicep"][..],
            "load converter plugin: load \"bicep\": no converter plugin 'pulumi-converter-bicep' found",
        ),
    ] {
        let told = context.fails(1, words);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn settings_that_are_there_survive_another_conversion() {
    let context = TestContext::without_project();
    context.write(
        "main.tf",
        "variable \"size\" {}\n\noutput \"size\" {\n  value = var.size\n}\n",
    );
    context.write("terraform.tfvars", "size = 3\n");
    let convert = [
        "convert",
        "--from",
        "terraform",
        "--language",
        "python",
        "--out",
        "out",
        "--name",
        "sized",
        "--generate-only",
    ];
    context.ok(&convert);
    assert_eq!(
        context.read("out/Pulumi.dev.yaml"),
        "config:\n  sized:size: 3\n"
    );
    let changed = "encryptionsalt: v1:abc\nconfig:\n  sized:size: 4\n";
    context.write("out/Pulumi.dev.yaml", changed);
    context.ok(&convert);
    assert_eq!(context.read("out/Pulumi.dev.yaml"), changed);
}
