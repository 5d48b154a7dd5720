//! The program as a language host, when it is started as `pulumi-language-NAME` (`languages.md` 1).

use std::sync::Arc;

use plumb_language::serve::{Server, WATCH_INTERVAL};
use plumb_language::{Language, LanguageOptions};
use plumb_operate::acquire::{language_options, output_to};
use plumb_operate::signals::StopSignals;
use plumb_operate::{Environment, Error, ExitStatus, Printer, VERSION};
use tokio_util::sync::CancellationToken;

const PREFIX: &str = "pulumi-language-";

/// Language in the name under which the program was started.
pub(crate) fn name(environment: &Environment) -> Option<String> {
    environment
        .program
        .strip_prefix(PREFIX)
        .map(ToOwned::to_owned)
}

/// Request on the command line.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    /// Print the version.
    Version,
    /// Serve the host for the engine at this address; without one, an engine connects and announces itself.
    Serve { engine_address: String },
}

/// Serves the host `name` until it is interrupted or its engine has gone.
pub(crate) fn run(
    name: &str,
    environment: &Environment,
    printer: &Arc<Printer>,
) -> Result<ExitStatus, Error> {
    let language = plumb_language::language(name).ok_or_else(|| {
        let known: Vec<&str> = plumb_language::LANGUAGES
            .iter()
            .map(|language| language.name)
            .collect();
        Error::user(format!(
            "there is no language host for {name} here; there are hosts for {}",
            known.join(", ")
        ))
    })?;
    match parse(&environment.arguments)? {
        Wish::Version => printer.line(VERSION),
        Wish::Serve { engine_address } => serve(language, engine_address, environment, printer)?,
    }
    Ok(ExitStatus::Success)
}

/// Parses the words. Flags that engines pass to all plugins are accepted and ignored.
fn parse(words: &[String]) -> Result<Wish, Error> {
    let mut engine_address = String::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-') else {
            engine_address.clone_from(word);
            continue;
        };
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        match flag.split_once('=').unwrap_or((flag, "")).0 {
            "version" => return Ok(Wish::Version),
            "logtostderr" | "v" => {}
            "tracing" | "root" if flag.contains('=') => {}
            "tracing" | "root" => drop(words.next()),
            _ => return Err(Error::user(format!("unknown flag: {word}"))),
        }
    }
    Ok(Wish::Serve { engine_address })
}

fn serve(
    language: Language,
    engine_address: String,
    environment: &Environment,
    printer: &Arc<Printer>,
) -> Result<(), Error> {
    let options = LanguageOptions {
        engine_address,
        // Only the engine knows whether debug messages are shown.
        debug_messages: true,
        ..language_options(environment, output_to(Arc::clone(printer)))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = Server::bind(language, options).await?;
        let stop = CancellationToken::new();
        let interrupted = stop.clone();
        let mut signals = StopSignals::listen()?;
        let interrupts = tokio::spawn(async move {
            signals.next().await;
            interrupted.cancel();
        });
        // The engine reads the port on the first line, and takes the rest as output of programs.
        printer.line(&server.port().to_string());
        let served = server.run(WATCH_INTERVAL, stop).await;
        interrupts.abort();
        served.map_err(|error| Error::user(plumb_operate::error::chain(&error)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Wish) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(parse(&words).unwrap(), expected, "{words:?}");
    }

    #[test]
    fn engines_may_give_flags_before_their_address() {
        let address = || Wish::Serve {
            engine_address: "127.0.0.1:7".to_owned(),
        };
        check(&["127.0.0.1:7"], address());
        check(&["--logtostderr", "-v=9", "127.0.0.1:7"], address());
        check(&["-tracing", "file:x", "127.0.0.1:7"], address());
        check(&["--tracing=file:x", "127.0.0.1:7"], address());
        check(&["-version"], Wish::Version);
        assert!(parse(&["--what".to_owned()]).is_err());
    }
}
