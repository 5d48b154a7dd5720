//! Built-in templates.

use super::template::Kind;

/// Kind, name and files of a template.
pub(super) type BuiltIn = (Kind, &'static str, &'static [(&'static str, &'static str)]);

/// Files of a template, by target name.
macro_rules! files {
    ($folder:literal: $($name:literal = $file:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../templates/", $folder, "/", $file)))),+]
    };
}

/// All built-in templates, by kind and name.
pub(super) const BUILT_IN: [BuiltIn; 16] = [
    (
        Kind::Component,
        "python",
        files!("component-python":
            "PulumiPlugin.yaml" = "PulumiPlugin.yaml",
            "__main__.py" = "__main__.py",
            "greeting.py" = "greeting.py",
            "requirements.txt" = "requirements.txt",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Component,
        "rust",
        files!("component-rust":
            "PulumiPlugin.yaml" = "PulumiPlugin.yaml",
            "Cargo.toml" = "Cargo.toml.in",
            "src/main.rs" = "main.rs",
            "src/greeting.rs" = "greeting.rs",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Component,
        "typescript",
        files!("component-typescript":
            "PulumiPlugin.yaml" = "PulumiPlugin.yaml",
            "package.json" = "package.json",
            "tsconfig.json" = "tsconfig.json",
            "index.ts" = "index.ts",
            "greeting.ts" = "greeting.ts",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Policy,
        "cel",
        files!("policy-cel":
            "PulumiPolicy.yaml" = "PulumiPolicy.yaml",
            "rules.yaml" = "rules.yaml",
            "rules.test.yaml" = "rules.test.yaml",
        ),
    ),
    (
        Kind::Policy,
        "python",
        files!("policy-python":
            "PulumiPolicy.yaml" = "PulumiPolicy.yaml",
            "__main__.py" = "__main__.py",
            "requirements.txt" = "requirements.txt",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Policy,
        "rego",
        files!("policy-rego":
            "PulumiPolicy.yaml" = "PulumiPolicy.yaml",
            "rules.rego" = "rules.rego",
            "rules.test.yaml" = "rules.test.yaml",
        ),
    ),
    (
        Kind::Policy,
        "rust",
        files!("policy-rust":
            "PulumiPolicy.yaml" = "PulumiPolicy.yaml",
            "Cargo.toml" = "Cargo.toml.in",
            "src/main.rs" = "main.rs",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Policy,
        "typescript",
        files!("policy-typescript":
            "PulumiPolicy.yaml" = "PulumiPolicy.yaml",
            "package.json" = "package.json",
            "tsconfig.json" = "tsconfig.json",
            "index.ts" = "index.ts",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "csharp",
        files!("csharp":
            "Pulumi.yaml" = "Pulumi.yaml",
            "${PROJECT}.csproj" = "project.csproj",
            "Program.cs" = "Program.cs",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "go",
        files!("go":
            "Pulumi.yaml" = "Pulumi.yaml",
            "go.mod" = "go.mod",
            "main.go" = "main.go",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "java",
        files!("java":
            "Pulumi.yaml" = "Pulumi.yaml",
            "pom.xml" = "pom.xml",
            "src/main/java/app/App.java" = "App.java",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "javascript",
        files!("javascript":
            "Pulumi.yaml" = "Pulumi.yaml",
            "package.json" = "package.json",
            "index.js" = "index.js",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "python",
        files!("python":
            "Pulumi.yaml" = "Pulumi.yaml",
            "__main__.py" = "__main__.py",
            "requirements.txt" = "requirements.txt",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "rust",
        files!("rust":
            "Pulumi.yaml" = "Pulumi.yaml",
            "Cargo.toml" = "Cargo.toml.in",
            "src/main.rs" = "main.rs",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "typescript",
        files!("typescript":
            "Pulumi.yaml" = "Pulumi.yaml",
            "package.json" = "package.json",
            "tsconfig.json" = "tsconfig.json",
            "index.ts" = "index.ts",
            ".gitignore" = "gitignore",
        ),
    ),
    (
        Kind::Project,
        "yaml",
        files!("yaml": "Pulumi.yaml" = "Pulumi.yaml", ".gitignore" = "gitignore"),
    ),
];
