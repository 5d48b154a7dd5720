//! Inputs before anything is done with them.

use plumb::provider::Members;
use plumb::{FromValue, IntoValue, Result, Value};

use crate::protocol::check_request::autonaming_options::Mode;
use crate::schema::Failure;
use crate::values::read_known;

/// Inputs of a resource before anything is done with them.
///
/// In a preview some are unknown: [`get`](Check::get) says `None` for them as for those that are not there.
///
/// ```
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)]
/// # struct Args { text: String, size: Option<i64> }
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// #     async fn create(_: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
/// async fn check(_: &Cx, check: &mut Check) -> Result<()> {
///     check.default_to("size", 10);
///     if check.get::<i64>("size")?.is_some_and(|size| size < 0) {
///         check.fail("size", "a size is not negative");
///     }
///     Ok(())
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Check {
    pub(crate) name: String,
    pub(crate) inputs: Members,
    pub(crate) old: Members,
    pub(crate) failures: Vec<Failure>,
    pub(crate) seed: Vec<u8>,
    pub(crate) proposal: Option<(String, Mode)>,
}

impl Check {
    /// The inputs, with their markers.
    pub fn inputs(&self) -> &Members {
        &self.inputs
    }

    /// An input, if it is there and known.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<Option<T>> {
        read_known(&self.inputs, name)
    }

    /// An input that the resource has had so far; `None` if the resource is new.
    pub fn old<T: FromValue>(&self, name: &str) -> Result<Option<T>> {
        read_known(&self.old, name)
    }

    /// Whether an input has a value, known or not.
    pub fn is_set(&self, name: &str) -> bool {
        self.inputs.get(name).is_some_and(|it| *it != Value::Null)
    }

    /// Sets an input.
    pub fn set(&mut self, name: &str, value: impl IntoValue) {
        self.inputs.insert(name.to_owned(), value.into_value());
    }

    /// Sets an input that has no value.
    pub fn default_to(&mut self, name: &str, value: impl IntoValue) {
        if !self.is_set(name) {
            self.set(name, value);
        }
    }

    /// Says what is wrong with a property; `rules[0].port` is the path of one inside.
    pub fn fail(&mut self, property: &str, reason: impl Into<String>) {
        self.failures.push(Failure {
            property: property.to_owned(),
            reason: reason.into(),
        });
    }

    /// Gives an input without a value a name of its own, made of the name of the resource: `logs-5f0e1a2`.
    ///
    /// The resource keeps the name that it has. The rules that a project has for names (`pulumi:autonaming`) decide first.
    pub fn autoname(&mut self, input: &str) -> Result<()> {
        if self.is_set(input) {
            return Ok(());
        }
        if let Some(old) = self.old::<String>(input)? {
            self.set(input, old);
            return Ok(());
        }
        let name = match &self.proposal {
            Some((_, Mode::Disable)) => {
                self.fail(
                    input,
                    "it has to be set, because automatic names are switched off",
                );
                return Ok(());
            }
            Some((proposed, Mode::Propose | Mode::Enforce)) if !proposed.is_empty() => {
                proposed.clone()
            }
            _ => format!("{}-{}", self.name, suffix(&self.seed)),
        };
        self.set(input, name);
        Ok(())
    }
}

/// Seven hexadecimal digits; the same for the same seed.
fn suffix(seed: &[u8]) -> String {
    // FNV-1a: any function will do that spreads the seed, which is random already.
    let hash = seed.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:07x}", hash >> 36)
}
