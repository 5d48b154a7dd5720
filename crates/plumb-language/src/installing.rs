//! The words around an installation.

use std::future::Future;

use plumb_plugin::{OutputLevel, OutputLine, OutputSink, OutputStream};

/// Runs `work`, with a word before and one after it if it goes well.
pub(crate) async fn announced<E>(
    language: &str,
    output: &OutputSink,
    work: impl Future<Output = Result<(), E>>,
) -> Result<(), E> {
    let say = |text: &str| {
        output(OutputLine {
            source: language.into(),
            stream: OutputStream::Stdout,
            level: OutputLevel::Info,
            text: text.to_owned(),
        });
        output(OutputLine {
            source: language.into(),
            stream: OutputStream::Stdout,
            level: OutputLevel::Info,
            text: String::new(),
        });
    };
    say("Installing dependencies...");
    work.await?;
    say("Finished installing dependencies");
    Ok(())
}
