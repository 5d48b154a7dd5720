//! Build tools that run programs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::language::ProgramInfo;

use super::debugging::Agent;
use super::java;
use crate::LanguageOptions;
use crate::compiled::{ArgumentStyle, CompiledError, Executable, Purpose, prebuilt, text_option};
use crate::debugging::Waiting;
use crate::tool::{Tool, find_executable};

/// Class of the SDK that lists packages, and its argument.
const PACKAGES_CLASS: &str = "com.pulumi.bootstrap.internal.Main";
const PACKAGES: &str = "packages";
const MAVEN_FLAGS: [&str; 2] = [
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "--no-transfer-progress",
];

/// With its version, because older versions use another syntax for the repository.
const MAVEN_DEPLOY: &str = "org.apache.maven.plugins:maven-deploy-plugin:3.1.4:deploy";

/// A kind of build tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Jar,
    Maven,
    Gradle,
    JBang,
    Sbt,
}

/// Form in which a tool reports dependencies.
pub(super) enum Listing {
    /// A file with a line `group:artifact:type:version:scope` for each.
    Lines(Tool),
    /// A tree on standard output.
    Tree(Tool),
}

/// A build tool and its folders.
#[derive(Debug)]
pub(super) struct Executor {
    kind: Kind,
    /// Folder of the tool's files, at or above that of the program.
    directory: PathBuf,
    /// Folder of the program.
    program: PathBuf,
    /// The jar, or the source file of a single-file program.
    file: PathBuf,
}

impl Executor {
    /// The tool named by the project file, or else the one whose files are nearest.
    pub(super) fn find(
        info: &ProgramInfo,
        options: &LanguageOptions,
    ) -> Result<Self, CompiledError> {
        let program = &info.program_directory;
        if let Some(binary) = text_option(info, "binary")? {
            return Ok(Executor {
                kind: Kind::Jar,
                directory: program.clone(),
                program: program.clone(),
                file: prebuilt(binary, info, options)?,
            });
        }
        let wanted = match text_option(info, "use-executor")? {
            None => vec![Kind::Maven, Kind::Gradle, Kind::JBang, Kind::Sbt],
            Some(name) => vec![named(name)?],
        };
        // The nearest files take precedence, because a program may be below the sources of another project.
        wanted
            .into_iter()
            .filter_map(|kind| Some((distance(kind, program)?, kind)))
            .min_by_key(|(distance, _)| *distance)
            .and_then(|(_, kind)| Executor::detect(kind, program))
            .ok_or_else(|| CompiledError::NoSources {
                wanted: "a pom.xml, a settings.gradle, a build.gradle, a build.sbt or a single .java file",
                directory: program.clone(),
            })
    }

    fn detect(kind: Kind, program: &Path) -> Option<Self> {
        let found = |directory: PathBuf, file: PathBuf| Executor {
            kind,
            directory,
            program: program.to_owned(),
            file,
        };
        if kind == Kind::JBang {
            return Some(found(program.to_owned(), single_source(program)?));
        }
        // Earlier names take precedence over nearer folders, because Gradle's settings file is above its projects.
        files_of(kind).iter().find_map(|name| {
            let directory = crate::files::find_upwards(program, name)?;
            Some(found(directory.clone(), directory.join(name)))
        })
    }

    /// The `pom.xml`, if the tool is Maven.
    pub(super) fn pom(&self) -> Option<PathBuf> {
        (self.kind == Kind::Maven).then(|| self.directory.join("pom.xml"))
    }

    pub(super) fn executable(
        &self,
        options: &LanguageOptions,
        purpose: Purpose,
    ) -> Result<Executable, CompiledError> {
        match purpose {
            Purpose::Program => self.program(options),
            Purpose::Plugin => self.plugin(options),
        }
    }

    /// Executable that waits for a debugger. With Maven, the virtual machine of Maven itself waits, because it also runs
    /// the program.
    pub(super) fn debugged(
        &self,
        options: &LanguageOptions,
        purpose: Purpose,
    ) -> Result<(Executable, Waiting), CompiledError> {
        let agent = Agent::new()?;
        let executable = match self.kind {
            Kind::Jar => {
                let mut executable = self.executable(options, purpose)?;
                executable.args.insert(0, agent.flag.clone().into());
                executable
            }
            Kind::Maven => {
                let executable = self.executable(options, purpose)?;
                agent.through_variable("MAVEN_OPTS", executable, options)
            }
            Kind::Gradle | Kind::JBang | Kind::Sbt => {
                return Err(CompiledError::NoDebugger {
                    language: "java",
                    what: purpose.described(),
                    advice: "Gradle, JBang and sbt run it in a process of their own; build a jar and name it with the runtime \
                             option `binary`, or use Maven",
                });
            }
        };
        Ok((executable, agent.waiting()))
    }

    /// Command that runs the program.
    fn program(&self, options: &LanguageOptions) -> Result<Executable, CompiledError> {
        let tool = match self.kind {
            Kind::Jar => self.java(&[OsString::from("-jar"), self.file.clone().into()], options)?,
            Kind::Maven => self.maven(&["compile", "exec:java"], options)?,
            Kind::Gradle => self.gradle(&[&self.task("run"), "--console=plain"], options)?,
            Kind::JBang => self.jbang(&["run"], &[], options)?,
            Kind::Sbt => self.sbt(&["run"], options)?,
        };
        Ok(executable(tool))
    }

    /// Command that runs a plugin; its arguments are appended.
    fn plugin(&self, options: &LanguageOptions) -> Result<Executable, CompiledError> {
        let joined = |tool| Executable {
            style: ArgumentStyle::Joined,
            ..executable(tool)
        };
        Ok(match self.kind {
            Kind::Jar | Kind::JBang => self.program(options)?,
            Kind::Maven => {
                let words = ["--quiet", "compile", "exec:java", "-DmainArgs="];
                joined(self.maven(&words, options)?)
            }
            Kind::Gradle => {
                let words = ["-q", "--console=plain", &self.task("run"), "--args="];
                joined(self.gradle(&words, options)?)
            }
            Kind::Sbt => joined(self.sbt(&["run "], options)?),
        })
    }

    /// Command that prints the packages of the program as JSON, possibly between other lines.
    pub(super) fn packages(&self, options: &LanguageOptions) -> Result<Tool, CompiledError> {
        match self.kind {
            Kind::Jar => {
                let words = ["-cp".into(), self.file.clone().into()];
                let class = [PACKAGES_CLASS, PACKAGES].map(OsString::from);
                self.java(&[&words[..], &class[..]].concat(), options)
            }
            Kind::Maven => {
                let class = format!("-DmainClass={PACKAGES_CLASS}");
                let args = format!("-DmainArgs={PACKAGES}");
                self.maven(&["--quiet", "compile", "exec:java", &class, &args], options)
            }
            Kind::Gradle => {
                let class = format!("-PmainClass={PACKAGES_CLASS}");
                let args = format!("--args={PACKAGES}");
                let words = ["-q", "--console=plain", &self.task("run"), &class, &args];
                self.gradle(&words, options)
            }
            Kind::JBang => {
                let class = format!("--main={PACKAGES_CLASS}");
                self.jbang(&["run", &class], &[PACKAGES], options)
            }
            Kind::Sbt => {
                let run = format!("runMain {PACKAGES_CLASS} {PACKAGES}");
                self.sbt(&["-error", &run], options)
            }
        }
    }

    /// Command that compiles the program; `None` for a jar.
    pub(super) fn build(&self, options: &LanguageOptions) -> Result<Option<Tool>, CompiledError> {
        Ok(Some(match self.kind {
            Kind::Jar => return Ok(None),
            Kind::Maven => self.maven(&["compile"], options)?,
            Kind::Gradle => self.gradle(&[&self.task("classes"), "--console=plain"], options)?,
            Kind::JBang => self.jbang(&["build"], &[], options)?,
            Kind::Sbt => self.sbt(&["compile"], options)?,
        }))
    }

    /// Command that lists the program's dependencies: Maven writes them to the file `list`, Gradle to standard output.
    pub(super) fn dependencies(
        &self,
        options: &LanguageOptions,
        list: &Path,
        transitive: bool,
    ) -> Result<Listing, CompiledError> {
        match self.kind {
            Kind::Maven => {
                let file = format!("-DoutputFile={}", list.display());
                let direct = format!("-DexcludeTransitive={}", !transitive);
                let scope = "-DincludeScope=runtime";
                let words = ["--quiet", "dependency:list", scope, &file, &direct];
                Ok(Listing::Lines(self.maven(&words, options)?))
            }
            Kind::Gradle => {
                let task = self.task("dependencies");
                let only = ["--configuration", "runtimeClasspath"];
                let words = ["-q", "--console=plain", &task, only[0], only[1]];
                Ok(Listing::Tree(self.gradle(&words, options)?))
            }
            Kind::Jar | Kind::JBang | Kind::Sbt => Err(CompiledError::unsupported::<super::Java>(
                "listing dependencies with other tools than Maven and Gradle",
            )),
        }
    }

    /// Command that publishes the library to a Maven repository at `repository`.
    pub(super) fn publish(
        &self,
        options: &LanguageOptions,
        repository: &Path,
    ) -> Result<Tool, CompiledError> {
        match self.kind {
            Kind::Maven => {
                let target = format!(
                    "-DaltDeploymentRepository=packed::file:{}",
                    repository.display()
                );
                let words = ["--quiet", "package", MAVEN_DEPLOY, "-DskipTests", &target];
                self.maven(&words, options)
            }
            Kind::Gradle => {
                let target = format!("-Dmaven.repo.local={}", repository.display());
                self.gradle(
                    &["-q", "--console=plain", &target, "publishToMavenLocal"],
                    options,
                )
            }
            Kind::Jar | Kind::JBang | Kind::Sbt => Err(CompiledError::unsupported::<super::Java>(
                "packing libraries with other tools than Maven and Gradle",
            )),
        }
    }

    fn java(&self, args: &[OsString], options: &LanguageOptions) -> Result<Tool, CompiledError> {
        let mut tool = java(&[], options, &self.directory)?;
        tool.args = args.to_vec();
        Ok(tool)
    }

    fn maven(&self, words: &[&str], options: &LanguageOptions) -> Result<Tool, CompiledError> {
        let advice =
            "install Maven from https://maven.apache.org, or add its wrapper `mvnw` to the project";
        let mut tool = self.tool("mvnw", "mvn", advice, options)?;
        tool.args = MAVEN_FLAGS.iter().chain(words).map(Into::into).collect();
        Ok(tool)
    }

    fn gradle(&self, words: &[&str], options: &LanguageOptions) -> Result<Tool, CompiledError> {
        let advice =
            "install Gradle from https://gradle.org, or add its wrapper `gradlew` to the project";
        let mut tool = self.tool("gradlew", "gradle", advice, options)?;
        tool.args = words.iter().map(Into::into).collect();
        Ok(tool)
    }

    /// Gradle task of the program's own project, which may be below the folder where Gradle runs.
    fn task(&self, name: &str) -> String {
        let below = self.program.strip_prefix(&self.directory);
        let project: Vec<_> = below
            .iter()
            .flat_map(|path| path.components())
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        if project.is_empty() {
            name.to_owned()
        } else {
            format!(":{}:{name}", project.join(":"))
        }
    }

    fn jbang(
        &self,
        before: &[&str],
        after: &[&str],
        options: &LanguageOptions,
    ) -> Result<Tool, CompiledError> {
        let advice = "install JBang from https://www.jbang.dev, or add a pom.xml or a build.gradle to the program";
        let mut tool = self.tool("jbangw", "jbang", advice, options)?;
        tool.args = before.iter().map(Into::into).collect();
        tool.args.push(self.file.clone().into());
        tool.args.extend(after.iter().map(OsString::from));
        Ok(tool)
    }

    fn sbt(&self, words: &[&str], options: &LanguageOptions) -> Result<Tool, CompiledError> {
        let advice = "install sbt from https://www.scala-sbt.org";
        let mut tool = self.tool("sbtw", "sbt", advice, options)?;
        tool.args = ["-batch"].iter().chain(words).map(Into::into).collect();
        Ok(tool)
    }

    /// The project's wrapper script, or else the tool on the PATH.
    fn tool(
        &self,
        wrapper: &str,
        tool: &'static str,
        advice: &'static str,
        options: &LanguageOptions,
    ) -> Result<Tool, CompiledError> {
        let beside = self.directory.join(wrapper);
        let program = if beside.is_file() {
            Some(beside)
        } else {
            find_executable(tool, &options.environment, &self.directory)
        };
        Ok(Tool {
            program: program.ok_or(CompiledError::NoTool { tool, advice })?,
            args: Vec::new(),
            environment: options.environment.clone(),
            working_directory: self.directory.clone(),
        })
    }
}

/// Files that identify a tool.
fn files_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Maven => &["pom.xml"],
        Kind::Gradle => &[
            "settings.gradle",
            "settings.gradle.kts",
            "build.gradle",
            "build.gradle.kts",
        ],
        Kind::Sbt => &["build.sbt"],
        Kind::Jar | Kind::JBang => &[],
    }
}

/// Number of folders between the program and the tool's files.
fn distance(kind: Kind, program: &Path) -> Option<usize> {
    if kind == Kind::JBang {
        return single_source(program).map(|_| 0);
    }
    program.ancestors().position(|folder| {
        files_of(kind)
            .iter()
            .any(|name| folder.join(name).is_file())
    })
}

fn executable(tool: Tool) -> Executable {
    Executable {
        args: tool.args,
        directory: Some(tool.working_directory),
        ..Executable::at(tool.program)
    }
}

/// Tool named by the option `use-executor`: its own name or that of its command.
fn named(name: &str) -> Result<Kind, CompiledError> {
    let command = Path::new(name).file_stem().unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "maven" | "mvn" | "mvnw" => Ok(Kind::Maven),
        "gradle" | "gradlew" => Ok(Kind::Gradle),
        "jbang" => Ok(Kind::JBang),
        "sbt" => Ok(Kind::Sbt),
        _ => Err(CompiledError::UnknownValue {
            option: "use-executor",
            value: name.to_owned(),
            expected: "maven, gradle, jbang or sbt",
        }),
    }
}

/// The source file in the program's folder, if there is exactly one.
fn single_source(program: &Path) -> Option<PathBuf> {
    let mut sources = fs::read_dir(program)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some("java".as_ref()));
    let source = sources.next()?;
    sources.next().is_none().then_some(source)
}
