//! Policy packs.

use std::process::ExitCode;
use std::sync::Arc;

use plumb::{Result, plugin};
use tonic::transport::Server;
use tonic::transport::server::Router;

use crate::grpc::Shared;
use crate::policy::{About, Level, OfResource, OfStack, Policy};
use crate::protocol::MAX_MESSAGE_SIZE;
use crate::protocol::analyzer_service::analyzer_server::AnalyzerServer;
use crate::service::{Service, Source};
use crate::{Error, Info};

/// A policy pack: rules with a name and a version.
///
/// ```
/// # use plumb_policy::prelude::*;
/// # use plumb_policy::testing::Tester;
/// let pack = Pack::new("house", "1.0.0")
///     .description("What we agreed on")
///     .level(Level::Advisory)
///     .policy(Policy::resource("named", "Resources have long names").check(|resource, report| {
///         if resource.name().len() < 3 {
///             report.violation("three letters at least");
///         }
///         Ok(())
///     }));
/// let tester = Tester::new(pack)?;
/// assert_eq!(tester.check("a:b:C", "x", value!({}))?.len(), 1);
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
pub struct Pack {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) display_name: String,
    pub(crate) description: String,
    pub(crate) level: Level,
    pub(crate) rules: Vec<Rule>,
}

/// A policy of either kind.
#[derive(Debug)]
pub(crate) enum Rule {
    Resource(Policy<OfResource>),
    Stack(Policy<OfStack>),
}

impl Rule {
    pub(crate) fn about(&self) -> &About {
        match self {
            Rule::Resource(policy) => &policy.about,
            Rule::Stack(policy) => &policy.about,
        }
    }
}

/// A kind of policy that packs have.
pub trait IntoRule {
    #[doc(hidden)]
    fn add_to(self, pack: &mut Pack);
}

impl IntoRule for Policy<OfResource> {
    fn add_to(self, pack: &mut Pack) {
        pack.rules.push(Rule::Resource(self));
    }
}

impl IntoRule for Policy<OfStack> {
    fn add_to(self, pack: &mut Pack) {
        pack.rules.push(Rule::Stack(self));
    }
}

impl Pack {
    /// A pack without rules.
    pub fn new(name: &str, version: &str) -> Self {
        Pack {
            name: name.to_owned(),
            version: version.to_owned(),
            display_name: String::new(),
            description: String::new(),
            level: Level::default(),
            rules: Vec::new(),
        }
    }

    /// The name for people.
    #[must_use]
    pub fn display_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.display_name);
        self
    }

    /// The purpose of the pack.
    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description);
        self
    }

    /// The level of policies without one of their own.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Adds a rule.
    #[must_use]
    pub fn policy(mut self, policy: impl IntoRule) -> Self {
        policy.add_to(&mut self);
        self
    }

    /// Serves the pack until the engine ends: the whole work of `main`.
    pub fn serve(self) -> ExitCode {
        plugin::serve(|_| {
            self.check()?;
            Ok(listening(Source::Pack(Arc::new(self))))
        })
    }

    /// Mistakes in the names.
    pub(crate) fn check(&self) -> Result<()> {
        if self.name.is_empty() || self.version.is_empty() {
            return Err(Error::new("a policy pack needs a name and a version"));
        }
        let mut names: Vec<&str> = Vec::new();
        for rule in &self.rules {
            let About {
                name, description, ..
            } = rule.about();
            if name.is_empty() || description.is_empty() {
                return Err(Error::new(format!(
                    "a policy of the pack `{}` has no name, or no description",
                    self.name
                )));
            }
            if name == "all" {
                return Err(Error::new(
                    "no policy can have the name `all`, which stands for every policy in the configuration of a pack",
                ));
            }
            if names.contains(&name.as_str()) {
                return Err(Error::new(format!(
                    "the pack `{}` has two policies with the name `{name}`",
                    self.name
                )));
            }
            names.push(name);
        }
        Ok(())
    }
}

/// Serves a pack whose rules follow from the stack: `make` is called when the engine has said which stack it is.
///
/// ```no_run
/// use plumb_policy::prelude::*;
///
/// fn main() -> std::process::ExitCode {
///     plumb_policy::serve(|info| {
///         let region = info.config("aws:region").unwrap_or("eu-central-1").to_owned();
///         Ok(Pack::new("regions", "1.0.0").policy(
///             Policy::resource("right-region", "Resources must be where the stack is").check(move |resource, report| {
///                 if resource.get::<String>("region")?.is_some_and(|it| it != region) {
///                     report.violation(format!("the stack is in {region}"));
///                 }
///                 Ok(())
///             }),
///         ))
///     })
/// }
/// ```
pub fn serve(make: impl Fn(&Info) -> Result<Pack> + Send + Sync + 'static) -> ExitCode {
    plugin::serve(|_| Ok(listening(Source::Made(Arc::new(make)))))
}

fn listening(source: Source) -> Router {
    Server::builder().add_service(answering(source))
}

/// The service of one run.
pub(crate) fn answering(source: Source) -> AnalyzerServer<Shared> {
    AnalyzerServer::new(Shared(Arc::new(Service::of(source))))
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX)
}
