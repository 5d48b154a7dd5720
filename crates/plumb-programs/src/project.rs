//! Project files other than the program, for its installation and execution (`codegen.md` 13.1).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path};

use plumb_codegen::programs::{PackageNames, ProgramLanguage, go_module, rust_items};
use plumb_pcl::Program;
use serde_json::{Map, Value as Json, json};

use crate::{Generated, components, generate};

/// Module of the core SDK in Go.
const GO_SDK: &str = "github.com/pulumi/pulumi/sdk/v3";

/// Lowest version of the core SDK that generated programs work with.
const GO_SDK_VERSION: &str = "v3.260.0";

/// Version of the core SDK for Java.
const JAVA_SDK_VERSION: &str = "1.36.1";

/// Version of the core SDK for Rust.
const RUST_SDK_VERSION: &str = "0.1";

/// `pom.xml` of a Java program.
const POM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>app</groupId>
  <artifactId>@name@</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <mainClass>app.App</mainClass>
    <mainArgs/>
  </properties>
  <dependencies>
@dependencies@  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.codehaus.mojo</groupId>
        <artifactId>exec-maven-plugin</artifactId>
        <version>3.5.0</version>
        <configuration>
          <mainClass>${mainClass}</mainClass>
          <commandlineArgs>${mainArgs}</commandlineArgs>
        </configuration>
      </plugin>
@sources@    </plugins>
  </build>
</project>
"#;

/// Project file of a C# program.
const CSPROJ: &str = r#"<Project Sdk="Microsoft.NET.Sdk">

  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net8.0</TargetFramework>
    <Nullable>enable</Nullable>
  </PropertyGroup>

  <ItemGroup>
    @references@
  </ItemGroup>

</Project>
"#;

/// Plugin of Maven that adds source folders.
const SOURCES: &str = "      <plugin>
        <groupId>org.codehaus.mojo</groupId>
        <artifactId>build-helper-maven-plugin</artifactId>
        <version>3.6.0</version>
        <executions>
          <execution>
            <id>sdk-sources</id>
            <phase>generate-sources</phase>
            <goals><goal>add-source</goal></goals>
            <configuration>
              <sources>
@sources@              </sources>
            </configuration>
          </execution>
          <execution>
            <id>sdk-resources</id>
            <phase>generate-resources</phase>
            <goals><goal>add-resource</goal></goals>
            <configuration>
              <resources>
@resources@              </resources>
            </configuration>
          </execution>
        </executions>
      </plugin>
";

/// Settings of a project.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Name of the project.
    pub name: String,
    /// Name of the runtime.
    pub runtime: String,
    /// Folder of the program relative to that of the project; empty for the same folder.
    pub main: String,
    /// Paths of packages that are installed from files or folders, by name; relative ones start at the project's folder.
    pub local_dependencies: BTreeMap<String, String>,
}

impl Project {
    /// Path of the file or folder that a package is installed from, as the program's folder names it.
    fn local(&self, package: &str) -> Option<String> {
        let path = self.local_dependencies.get(package)?;
        let is_absolute = Path::new(path).is_absolute() || path.contains(':');
        let depth = Path::new(&self.main).components();
        let depth = depth.filter(|step| matches!(step, Component::Normal(_)));
        let up = if is_absolute { 0 } else { depth.count() };
        Some("../".repeat(up) + path)
    }
}

/// `runtime` in the project file.
pub fn runtime(name: &str) -> Json {
    match name {
        "python" => {
            json!({"name": "python", "options": {"toolchain": "pip", "virtualenv": "venv"}})
        }
        "typescript" | "javascript" => json!("nodejs"),
        "csharp" => json!("dotnet"),
        other => json!(other),
    }
}

/// Generates the program and its other files, except the project file, which the caller writes.
pub fn project(program: &Program, language: ProgramLanguage, project: &Project) -> Generated {
    let mut generated = generate(program, language);
    let packages = components::all_packages(program);
    let packages: Vec<(String, PackageNames)> = packages
        .iter()
        .filter(|package| package.name() != "pulumi")
        .map(|package| {
            (
                package.name().to_owned(),
                PackageNames::new(package, language),
            )
        })
        .collect();
    let files = match language {
        ProgramLanguage::Python => python(&packages, project),
        ProgramLanguage::Nodejs => nodejs(&packages, project, &generated),
        ProgramLanguage::Go => go(program, project),
        ProgramLanguage::Java => java(&packages, project),
        ProgramLanguage::Csharp => csharp(&packages, project),
        ProgramLanguage::Rust => rust(program, project, &generated),
    };
    generated.files.extend(files);
    let main = project.main.trim_matches('/');
    if !main.is_empty() {
        let files = std::mem::take(&mut generated.files).into_iter();
        let moved = files.map(|(path, text)| (format!("{main}/{path}"), text));
        generated.files = moved.collect();
    }
    generated
}

fn python(packages: &[(String, PackageNames)], project: &Project) -> BTreeMap<String, String> {
    let mut requirements = Vec::with_capacity(packages.len() + 1);
    let pulumi = project.local("pulumi");
    requirements.push(pulumi.unwrap_or_else(|| "pulumi>=3.0.0,<4.0.0".to_owned()));
    for (name, names) in packages {
        let distribution = names.import.replace('_', "-");
        requirements.push(match (project.local(name), names.requirement()) {
            (Some(path), _) => path,
            (None, Some(version)) => format!("{distribution}=={version}"),
            (None, None) => distribution,
        });
    }
    requirements.sort();
    BTreeMap::from([
        (
            "requirements.txt".to_owned(),
            requirements.join("\n") + "\n",
        ),
        (
            ".gitignore".to_owned(),
            "*.pyc\n__pycache__/\nvenv/\n".to_owned(),
        ),
    ])
}

fn nodejs(
    packages: &[(String, PackageNames)],
    project: &Project,
    generated: &Generated,
) -> BTreeMap<String, String> {
    let mut dependencies = Map::new();
    let pulumi = project.local("pulumi");
    let pulumi = pulumi.map_or_else(|| "^3.0.0".to_owned(), |path| from_file(&path));
    dependencies.insert("@pulumi/pulumi".to_owned(), pulumi.into());
    for (name, names) in packages {
        let version = match (project.local(name), names.requirement()) {
            (Some(path), _) => from_file(&path),
            (None, Some(version)) => version,
            (None, None) => "*".to_owned(),
        };
        dependencies.insert(names.import.clone(), version.into());
    }
    let manifest = json!({
        "name": project.name,
        "main": "index.ts",
        "devDependencies": {"@types/node": "^20", "typescript": "^5.0.0"},
        "dependencies": dependencies,
    });
    let sources: Vec<&String> = generated.files.keys().collect();
    let settings = json!({
        "compilerOptions": {
            "strict": true,
            "outDir": "bin",
            "target": "es2022",
            "module": "nodenext",
            "moduleResolution": "nodenext",
            "sourceMap": true,
            "skipLibCheck": true,
            "forceConsistentCasingInFileNames": true,
        },
        "files": sources,
    });
    BTreeMap::from([
        ("package.json".to_owned(), text(&manifest)),
        ("tsconfig.json".to_owned(), text(&settings)),
        (
            ".gitignore".to_owned(),
            "/bin/\n/node_modules/\n".to_owned(),
        ),
    ])
}

/// `pom.xml`: the core SDK and the SDKs of all packages; those in folders are compiled with the program.
fn java(packages: &[(String, PackageNames)], project: &Project) -> BTreeMap<String, String> {
    let mut dependencies = vec![(
        "com.pulumi".to_owned(),
        "pulumi".to_owned(),
        JAVA_SDK_VERSION.to_owned(),
    )];
    let mut folders = Vec::new();
    for (name, names) in packages {
        match (project.local(name), names.requirement()) {
            (Some(path), _) => folders.push(path),
            (None, version) => {
                let version = version.unwrap_or_else(|| "LATEST".to_owned());
                dependencies.push((names.import.clone(), name.clone(), version));
            }
        }
    }
    if !folders.is_empty() {
        // Libraries that the code of SDKs depends on.
        for (group, artifact, version) in [
            ("com.google.code.findbugs", "jsr305", "3.0.2"),
            ("com.google.code.gson", "gson", "2.10"),
        ] {
            dependencies.push((group.to_owned(), artifact.to_owned(), version.to_owned()));
        }
    }
    let mut elements = String::new();
    for (group, artifact, version) in dependencies {
        let _ = write!(
            elements,
            "    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{artifact}</artifactId>\n      \
             <version>{version}</version>\n    </dependency>\n"
        );
    }
    let text = POM
        .replace("@name@", &module_name(&project.name))
        .replace("@dependencies@", &elements)
        .replace("@sources@", &sources(&folders));
    BTreeMap::from([
        ("pom.xml".to_owned(), text),
        (".gitignore".to_owned(), "target/\n".to_owned()),
    ])
}

/// Project file: the core SDK and the SDKs of all packages; local ones are projects themselves.
fn csharp(packages: &[(String, PackageNames)], project: &Project) -> BTreeMap<String, String> {
    let mut references = vec![r#"<PackageReference Include="Pulumi" Version="3.*" />"#.to_owned()];
    for (name, names) in packages {
        let library = &names.import;
        references.push(match (project.local(name), names.requirement()) {
            (Some(path), _) => {
                let path = xml(&path);
                format!(r#"<ProjectReference Include="{path}/{library}.csproj" />"#)
            }
            (None, version) => {
                let version = version.unwrap_or_else(|| "*".to_owned());
                format!(r#"<PackageReference Include="{library}" Version="{version}" />"#)
            }
        });
    }
    let references = references.join("\n    ");
    let text = CSPROJ.replace("@references@", &references);
    let name = module_name(&project.name);
    BTreeMap::from([
        (format!("{name}.csproj"), text),
        (".gitignore".to_owned(), "bin/\nobj/\n".to_owned()),
    ])
}

/// `Cargo.toml`: the core SDK and the SDKs of all packages, with the modules that the program uses.
fn rust(program: &Program, project: &Project, generated: &Generated) -> BTreeMap<String, String> {
    let name = module_name(&project.name);
    let mut text = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n"
    );
    let sdk = match project.local("pulumi") {
        Some(path) => format!("path = {path:?}"),
        None => format!("version = {RUST_SDK_VERSION:?}"),
    };
    let mut lines = vec![format!("plumb = {{ package = \"plumb-sdk\", {sdk} }}")];
    let is_used = |word: &str| generated.files.values().any(|it| it.contains(word));
    for (library, version) in [
        ("base64", "0.22"),
        ("sha1", "0.10"),
        ("sha2", "0.10"),
        ("unicode_segmentation", "1"),
    ] {
        if is_used(&format!("{library}::")) {
            let name = library.replace('_', "-");
            lines.push(format!("{name} = {version:?}"));
        }
    }
    for package in components::all_packages(program) {
        if package.name() == "pulumi" {
            continue;
        }
        let library = rust_items::crate_name(&package);
        let mut parts = Vec::new();
        match (project.local(package.name()), package.version()) {
            (Some(path), _) => parts.push(format!("path = {path:?}")),
            (None, Some(version)) => parts.push(format!("version = \"={version}\"")),
            (None, None) => parts.push("version = \"*\"".to_owned()),
        }
        let modules = components::modules(program, &package);
        let modules = modules.iter().map(|it| rust_items::module(it));
        let modules: Vec<String> = modules
            .filter(|it| !it.is_empty())
            .map(|it| format!("\"{it}\""))
            .collect();
        if !modules.is_empty() {
            parts.push(format!("features = [{}]", modules.join(", ")));
        }
        lines.push(format!("{library} = {{ {} }}", parts.join(", ")));
    }
    lines.sort();
    text.push_str(&lines.join("\n"));
    text.push('\n');
    BTreeMap::from([
        ("Cargo.toml".to_owned(), text),
        (".gitignore".to_owned(), "/target/\n".to_owned()),
    ])
}

/// Plugin that compiles the SDKs in `folders` with the program.
fn sources(folders: &[String]) -> String {
    if folders.is_empty() {
        return String::new();
    }
    let list = |end: &str| -> String {
        let folders = folders.iter();
        let lines = folders.map(|it| {
            format!(
                "                <source>{}/src/main/{end}</source>\n",
                xml(it)
            )
        });
        lines.collect()
    };
    let resources = list("resources").replace("<source>", "<resource><directory>");
    let resources = resources.replace("</source>", "</directory></resource>");
    SOURCES
        .replace("@sources@", &list("java"))
        .replace("@resources@", &resources)
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// `go.mod`: the core SDK and the SDKs of all packages; local ones are replaced.
fn go(program: &Program, project: &Project) -> BTreeMap<String, String> {
    let language = ProgramLanguage::Go;
    let mut required = vec![(GO_SDK.to_owned(), GO_SDK_VERSION.to_owned())];
    let mut replaced = Vec::new();
    if let Some(path) = project.local("pulumi") {
        replaced.push((GO_SDK.to_owned(), path));
    }
    for package in components::all_packages(program) {
        if package.name() == "pulumi" {
            continue;
        }
        let names = PackageNames::new(&package, language);
        let local = project.local(package.name());
        let module = go_module(&package, &names.import, local.is_some());
        match (local, names.requirement()) {
            (Some(path), _) => {
                let version = major_of(&module);
                required.push((module.clone(), version));
                replaced.push((module, path));
            }
            (None, Some(version)) => required.push((module, version)),
            // `go mod tidy` finds the version.
            (None, None) => {}
        }
    }
    required.sort();
    replaced.sort();
    let name = module_name(&project.name);
    let mut text = format!("module {name}\n\ngo 1.25\n\nrequire (\n");
    for (module, version) in required {
        text.extend(["\t", &module, " ", &version, "\n"]);
    }
    text.push_str(")\n");
    for (module, path) in replaced {
        let path = go_path(&path);
        text.extend(["\nreplace ", &module, " => ", &path, "\n"]);
    }
    BTreeMap::from([("go.mod".to_owned(), text)])
}

/// Packages of the standard library whose path has one step.
const STANDARD_PACKAGES: &[&str] = &[
    "bufio", "bytes", "cmp", "context", "crypto", "embed", "encoding", "errors", "expvar", "flag",
    "fmt", "hash", "html", "image", "io", "iter", "log", "maps", "math", "mime", "net", "os",
    "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings",
    "structs", "sync", "syscall", "testing", "time", "unicode", "unique", "unsafe", "weak",
];

/// Name of the program's module: the name of the project, if it can be the path of a module.
fn module_name(project: &str) -> String {
    let name = project.trim_matches(['.', '-']);
    if name.is_empty() {
        "program".to_owned()
    } else if STANDARD_PACKAGES.contains(&name) {
        // A package of the standard library with the same path would be ambiguous.
        format!("{name}-program")
    } else {
        name.to_owned()
    }
}

/// Version that stands for any version of a module that is replaced.
fn major_of(module: &str) -> String {
    let last = module
        .rsplit('/')
        .next()
        .and_then(|it| it.strip_prefix('v'));
    let number: Option<u32> = last.and_then(|it| it.parse().ok());
    format!("v{}.0.0", number.filter(|it| *it > 1).unwrap_or(0))
}

/// Path of a folder in `replace`, which must not look like a module.
fn go_path(path: &str) -> String {
    if path.starts_with(['/', '.']) {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}

/// Whether a file is TypeScript source.
fn from_file(path: &str) -> String {
    let extension = Path::new(path).extension();
    let is_archive = extension.is_some_and(|it| it == "tgz" || it == "gz");
    if is_archive || path.starts_with("file:") {
        path.to_owned()
    } else {
        format!("file:{path}")
    }
}

/// Indented JSON text.
fn text(json: &Json) -> String {
    use serde::Serialize as _;
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written = json.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "a tree of JSON can be written to memory");
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_names_that_go_accepts() {
        for (project, module) in [
            ("web-site", "web-site"),
            ("", "program"),
            ("log", "log-program"),
            (".hidden.", "hidden"),
        ] {
            assert_eq!(module_name(project), module);
        }
    }

    #[test]
    fn versions_of_local_modules_fit_their_paths() {
        for (module, version) in [
            ("example.com/sdk/go/v3", "v3.0.0"),
            ("example.com/sdk/v3/go", "v0.0.0"),
            ("example.com/video", "v0.0.0"),
        ] {
            assert_eq!(major_of(module), version);
        }
    }
}
