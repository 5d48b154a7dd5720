//! Errors of programs.
//!
//! An [`Error`] is opaque and cheap to clone: one failure travels through every output that depends on it and is reported
//! once. It knows the line of the program it belongs to, a chain of contexts, and whether the program has dealt with it.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The result of almost everything here.
///
/// ```
/// use plumb::prelude::*;
///
/// fn port(text: &str) -> plumb::Result<u16> {
///     let port: u16 = text.parse().context("the port is no number")?;
///     if port == 0 {
///         plumb::bail!("the port is zero");
///     }
///     Ok(port)
/// }
/// assert!(port("http").unwrap_err().to_string().contains("the port is no number"));
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, with the line of the program that it belongs to.
///
/// Errors of other libraries become one with `?`, which also records the line:
///
/// ```
/// fn read_port(text: &str) -> plumb::Result<u16> {
///     Ok(text.parse()?)
/// }
/// assert!(read_port("x").unwrap_err().to_string().contains("invalid digit"));
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    message: String,
    cause: Option<Error>,
    location: Option<&'static Location<'static>>,
    kind: Kind,
    handled: AtomicBool,
}

/// How the program reacts to an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The error is reported, and the program fails.
    Plain,
    /// The engine has gone or has said everything already: the program ends without a word.
    Quiet,
}

impl Error {
    /// An error with a message, at the line of the caller.
    #[track_caller]
    pub fn new(message: impl Into<String>) -> Self {
        Error::at(message, Some(Location::caller()))
    }

    pub(crate) fn at(
        message: impl Into<String>,
        location: Option<&'static Location<'static>>,
    ) -> Self {
        Error(Arc::new(Inner {
            message: message.into(),
            cause: None,
            location,
            kind: Kind::Plain,
            handled: AtomicBool::new(false),
        }))
    }

    /// An error that nobody needs to hear of.
    pub(crate) fn quiet(message: impl Into<String>) -> Self {
        Error(Arc::new(Inner {
            message: message.into(),
            cause: None,
            location: None,
            kind: Kind::Quiet,
            handled: AtomicBool::new(false),
        }))
    }

    /// This failure with a text in front that says what was being tried.
    #[must_use]
    pub fn context(self, message: impl Into<String>) -> Self {
        Error(Arc::new(Inner {
            message: message.into(),
            location: None,
            kind: self.0.kind,
            handled: AtomicBool::new(false),
            cause: Some(self),
        }))
    }

    /// The line of the program that the failure belongs to, if it is known.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0
            .location
            .or_else(|| self.0.cause.as_ref()?.location())
    }

    /// The message and the line of the program: the text that is reported.
    pub fn report(&self) -> String {
        match self.location() {
            Some(location) => format!("{self}\n  at {location}"),
            None => self.to_string(),
        }
    }

    /// The failure with this line, unless it has one of the program already.
    ///
    /// A conversion that is not the `?` operator sees a line of a library, whose path is absolute.
    pub(crate) fn located(self, location: &'static Location<'static>) -> Self {
        match self.location() {
            Some(own) if !own.file().starts_with('/') => self,
            _ if self.is_quiet() => self,
            _ => Error::at(self.to_string(), Some(location)),
        }
    }

    /// How many contexts were put in front of the failure.
    pub(crate) fn depth(&self) -> usize {
        self.0.cause.as_ref().map_or(0, |cause| cause.depth() + 1)
    }

    /// Marks the failure as dealt with, so that it does not fail the program.
    pub(crate) fn handle(&self) {
        self.root().0.handled.store(true, Ordering::Release);
    }

    pub(crate) fn is_handled(&self) -> bool {
        self.root().0.handled.load(Ordering::Acquire)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.0.kind == Kind::Quiet
    }

    /// Whether both come from one failure.
    pub(crate) fn is_same(&self, other: &Error) -> bool {
        Arc::ptr_eq(&self.root().0, &other.root().0)
    }

    fn root(&self) -> &Error {
        self.0.cause.as_ref().map_or(self, Error::root)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            let text = inner.to_string();
            // Some libraries repeat the source in their own message.
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            source = inner.source();
        }
        Error::new(message)
    }
}

/// Adds what was being tried to errors of any kind.
///
/// ```
/// use plumb::Context as _;
/// let error = "x".parse::<u16>().context("cannot read the port").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read the port: invalid digit"));
/// ```
pub trait Context<T> {
    /// Puts `message` in front of the error.
    #[track_caller]
    fn context(self, message: impl Into<String>) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    #[track_caller]
    fn context(self, message: impl Into<String>) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => {
                let error: Error = error.into();
                Err(error.located(Location::caller()).context(message))
            }
        }
    }
}

impl<T> Context<T> for Option<T> {
    #[track_caller]
    fn context(self, message: impl Into<String>) -> Result<T> {
        match self {
            Some(value) => Ok(value),
            None => Err(Error::new(message)),
        }
    }
}

/// Returns an error with a formatted message from the function.
///
/// ```
/// fn check(count: u32) -> plumb::Result<()> {
///     if count == 0 {
///         plumb::bail!("the count has to be positive, not {count}");
///     }
///     Ok(())
/// }
/// assert!(check(0).is_err());
/// ```
#[macro_export]
macro_rules! bail {
    ($($message:tt)*) => {
        return ::std::result::Result::Err($crate::Error::new(::std::format!($($message)*)))
    };
}
