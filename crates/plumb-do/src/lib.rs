//! `do` (`cli.md` 12): resources and functions of a package from the command line, without a program. Start with [`run`].
//!
//! 1. [`package`] opens the named package: its plugin and its schema.
//! 2. `subject` resolves the first word to a module, a function or a resource of the package.
//! 3. `shape` derives a command description from the schema: flags and their types.
//! 4. `ask` parses the remaining words with this description, and `help` prints it.
//! 5. `inputs` converts files and flags to PCL; `function` and `stateless` evaluate it and call the provider,
//!    `stateful` stores it as a snippet in a stack.

mod ask;
mod complete;
mod function;
mod help;
mod home;
mod inputs;
pub mod names;
mod outcome;
pub mod package;
mod prose;
mod provider;
mod shape;
mod stateful;
mod stateless;
mod steps;
mod subject;

use plumb_automation::values::Secrets;
use plumb_display::with_program;
use plumb_operate::identity::Code;
use plumb_operate::operations::InfoStream;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_resource::provider::ListedObject;
use plumb_schema::{Function, Properties, Resource};

use ask::Asked;
pub use complete::candidates;
use help::Called;
use package::Package;
use shape::{Keeping, Operation, Shape};
use stateless::Work;
use subject::Subject;

/// A request about a package.
#[derive(Clone, Debug)]
pub struct DoRequest {
    /// Whether changes are only previewed.
    pub dry_run: bool,
    /// Whether secrets are shown.
    pub show_secrets: bool,
    /// Whether results are one document of JSON.
    pub is_json: bool,
    /// Whether no stack keeps what is made.
    pub stateless: bool,
    /// The package: a name, perhaps with a version, or the path of a plugin; parameters may follow. Without it, the first of
    /// `arguments` that is no flag names it.
    pub package: Option<String>,
    /// Whether help is shown instead.
    pub wants_help: bool,
    /// The member, the operation and its inputs.
    pub arguments: Vec<String>,
}

/// Options of all commands on packages.
#[derive(Clone, Copy, Debug)]
struct Settings {
    dry_run: bool,
    is_json: bool,
    secrets: Secrets,
}

impl Settings {
    fn shows_secrets(self) -> bool {
        self.secrets == Secrets::Shown
    }

    /// Stream for messages of the provider: with the result, unless that is a document.
    fn info_stream(self) -> InfoStream {
        if self.is_json {
            InfoStream::Stderr
        } else {
            InfoStream::Stdout
        }
    }

    /// Fails if a change needs a confirmation and the session is not interactive.
    fn require_yes(self, yes: bool, ctx: &Context) -> Result<(), Error> {
        if yes || self.dry_run || ctx.is_interactive() {
            return Ok(());
        }
        Err(Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed))
    }
}

/// Does what the request says; `None` if it names no package.
pub fn run(request: &DoRequest, ctx: &Context) -> Result<Option<ExitStatus>, Error> {
    let settings = Settings {
        dry_run: request.dry_run,
        is_json: request.is_json,
        secrets: if request.show_secrets {
            Secrets::Shown
        } else {
            Secrets::Hidden
        },
    };
    let (word, rest) = split(&request.arguments);
    let named = request.package.as_deref().or(word.map(package_of));
    let Some(named) = named else {
        return Ok(None);
    };
    let mut package = Package::open(named, settings.secrets, settings.info_stream(), ctx)?;
    let mut command = Command {
        package: &mut package,
        called: Called {
            package: request
                .package
                .as_deref()
                .filter(|it| word.map(package_of) != Some(it)),
            word: word.unwrap_or_default(),
        },
        keeping: if request.stateless {
            Keeping::Nowhere
        } else {
            Keeping::Stack
        },
        wants_help: request.wants_help,
        settings,
        ctx,
    };
    let done = command.run(word, &rest);
    package.standalone_host.close();
    done.map(Some)
}

/// The resources of a type that exist, and the token of the type in the schema. `words` are the flags of the list.
pub fn listed(
    word: &str,
    words: &[String],
    ctx: &Context,
) -> Result<(String, Vec<ListedObject>), Error> {
    let mut package = Package::open(package_of(word), Secrets::Hidden, InfoStream::Stderr, ctx)?;
    let mut command = Command {
        package: &mut package,
        called: Called {
            package: None,
            word,
        },
        keeping: Keeping::Nowhere,
        wants_help: false,
        settings: Settings {
            dry_run: false,
            is_json: false,
            secrets: Secrets::Hidden,
        },
        ctx,
    };
    let found = command.listed(word, words);
    package.standalone_host.close();
    found
}

/// Package of a token.
fn package_of(word: &str) -> &str {
    word.split_once(':').map_or(word, |(package, _)| package)
}

/// The word without the package's version: `random:RandomPet` for `random@4.18.0:RandomPet`.
fn without_version(word: &str) -> String {
    match word.split_once(':') {
        Some((package, rest)) => {
            let name = package.split('@').next().unwrap_or(package);
            format!("{name}:{rest}")
        }
        None => word.to_owned(),
    }
}

/// The word that names a member, and all other words. Flags can come before it.
fn split(words: &[String]) -> (Option<&str>, Vec<String>) {
    let is_flag = |word: &String| word.starts_with('-') && word.len() > 1;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !is_flag(word) {
            let rest = words[..at].iter().chain(&words[at + 1..]);
            return (Some(word.as_str()), rest.cloned().collect());
        }
        // A flag without an equals sign is followed by its value.
        let is_pair = !word.contains('=') && words.get(at + 1).is_some_and(|it| !is_flag(it));
        at += if is_pair { 2 } else { 1 };
    }
    (None, words.to_vec())
}

/// A command on an open package.
struct Command<'a> {
    package: &'a mut Package,
    called: Called<'a>,
    keeping: Keeping,
    wants_help: bool,
    settings: Settings,
    ctx: &'a Context,
}

impl Command<'_> {
    fn run(&mut self, word: Option<&str>, words: &[String]) -> Result<ExitStatus, Error> {
        let schema = self.package.schema.clone();
        let word = word.map(without_version);
        match Subject::find(&schema, word.as_deref())? {
            Subject::Package => {
                no_words(words)?;
                self.show(&help::of_package(&schema, self.called));
                Ok(ExitStatus::Success)
            }
            Subject::Module(module) => {
                no_words(words)?;
                self.show(&help::of_module(&schema, &module, self.called));
                Ok(ExitStatus::Success)
            }
            Subject::Function(function) => self.function(&function, words),
            Subject::Resource(resource) => self.resource(&resource, words),
        }
    }

    fn shape(&self, operation: Operation, inputs: &Properties) -> Result<Shape, Error> {
        let schema = &self.package.schema;
        let provider = schema.provider()?;
        let provider = &provider.input_properties;
        Ok(Shape::new(
            operation,
            self.keeping,
            schema,
            inputs,
            provider,
        ))
    }

    fn function(&mut self, function: &Function, words: &[String]) -> Result<ExitStatus, Error> {
        let none = Properties::default();
        let inputs = function.inputs.as_ref().map_or(&none, |it| &it.properties);
        let shape = self.shape(Operation::Invoke, inputs)?;
        if self.wants_help {
            let schema = &self.package.schema;
            let text = help::of_function(schema, function, &shape, self.called);
            self.show(&text);
            return Ok(ExitStatus::Success);
        }
        let asked = Asked::read(&shape, words)?;
        self.tell_deprecation(function.deprecation.as_deref(), &function.token);
        function::run(self.package, function, &asked, self.settings, self.ctx)?;
        Ok(ExitStatus::Success)
    }

    fn resource(&mut self, resource: &Resource, words: &[String]) -> Result<ExitStatus, Error> {
        let (word, words) = split(words);
        let Some(word) = word else {
            let text = help::of_resource(&self.package.schema, resource, self.called);
            self.show(&text);
            return Ok(ExitStatus::Success);
        };
        let operation = self.operation(resource, word)?;
        let none = Properties::default();
        let inputs = match operation {
            Operation::List => resource.list_inputs.as_ref().unwrap_or(&none),
            Operation::Read | Operation::Delete => &none,
            _ => &resource.input_properties,
        };
        let shape = self.shape(operation, inputs)?;
        if self.wants_help {
            self.show(&help::of_operation(&shape, self.called));
            return Ok(ExitStatus::Success);
        }
        let mut asked = Asked::read(&shape, &words)?;
        asked.yes |= self.ctx.environment.is_on("PULUMI_SKIP_CONFIRMATIONS");
        self.tell_deprecation(resource.deprecation.as_deref(), &resource.token);
        if self.keeping == Keeping::Stack && operation.changes() {
            let (settings, ctx) = (self.settings, self.ctx);
            return stateful::run(operation, self.package, resource, &asked, settings, ctx);
        }
        let work = Work {
            package: self.package,
            resource,
            asked: &asked,
            settings: self.settings,
            ctx: self.ctx,
        };
        work.run(operation)?;
        Ok(ExitStatus::Success)
    }

    /// All objects of the type called `word`.
    fn listed(
        &mut self,
        word: &str,
        words: &[String],
    ) -> Result<(String, Vec<ListedObject>), Error> {
        let schema = self.package.schema.clone();
        let Subject::Resource(resource) = Subject::find(&schema, Some(&without_version(word)))?
        else {
            return Err(Error::user(format!("{word} is no type of resource")));
        };
        let Some(inputs) = &resource.list_inputs else {
            let package = schema.name();
            return Err(Error::user(format!(
                "the provider {package} cannot list resources of the type {}",
                resource.token
            )));
        };
        let shape = self.shape(Operation::List, inputs)?;
        let mut asked = Asked::read(&shape, words)?;
        asked.all = true;
        let mut work = Work {
            package: self.package,
            resource: &resource,
            asked: &asked,
            settings: self.settings,
            ctx: self.ctx,
        };
        let listed = work.listed()?.unwrap_or_default();
        Ok((resource.token.clone(), listed))
    }

    /// Operation named by `word`, if the resource supports it.
    fn operation(&self, resource: &Resource, word: &str) -> Result<Operation, Error> {
        let has = |it: &Operation| *it != Operation::List || resource.list_inputs.is_some();
        let mut known = Operation::OF_RESOURCES.into_iter().filter(has);
        if let Some(found) = known.clone().find(|it| it.word() == word) {
            return Ok(found);
        }
        let mut text = format!(
            "unknown command \"{word}\" for \"pulumi do {}\"",
            self.called.word
        );
        let near = known.find(|it| strsim::levenshtein(word, it.word()) <= 2);
        if let Some(meant) = near {
            text.push_str("\n\nDid you mean this?\n\t");
            text.push_str(meant.word());
        }
        Err(Error::user(text).known(Code::UnknownCommand))
    }

    fn show(&self, text: &str) {
        let program = &self.ctx.environment.program;
        self.ctx.printer.data(&with_program(text, program));
    }

    fn tell_deprecation(&self, why: Option<&str>, token: &str) {
        if let Some(why) = why {
            self.ctx
                .printer
                .warning(&format!("{token} is deprecated: {why}"));
        }
    }
}

/// Checks that a list has no positional words.
fn no_words(words: &[String]) -> Result<(), Error> {
    match words.first() {
        None => Ok(()),
        Some(word) if word.starts_with('-') => {
            Err(Error::user(format!("unknown flag: {word}")).known(Code::UnknownCommand))
        }
        Some(_) => Err(Error::user(format!(
            "accepts 0 arg(s), received {}",
            words.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_that_is_no_flag_names_the_member() {
        for (line, word, rest) in [
            (
                "pkg:Thing create --name x",
                Some("pkg:Thing"),
                "create --name x",
            ),
            (
                "--input:name x pkg:Thing create",
                Some("pkg:Thing"),
                "--input:name x create",
            ),
            ("--name=x pkg:Thing", Some("pkg:Thing"), "--name=x"),
            ("--name x", None, "--name x"),
            ("", None, ""),
        ] {
            let words = shlex::split(line).unwrap();
            let (found, left) = split(&words);
            assert_eq!((found, left.join(" ").as_str()), (word, rest), "{line}");
        }
    }
}
