//! Messages around an installation.

use std::future::Future;

use plumb_plugin::{OutputLevel, OutputLine, OutputSink, OutputStream};

/// Runs `work`, with a message before it, and one after it if it succeeds.
pub(crate) async fn announced<E>(
    language: &str,
    output: &OutputSink,
    work: impl Future<Output = Result<(), E>>,
) -> Result<(), E> {
    for text in ["Installing dependencies...", ""] {
        say(language, output, text);
    }
    work.await?;
    for text in ["Finished installing dependencies", ""] {
        say(language, output, text);
    }
    Ok(())
}

/// Reports one line of progress.
pub(crate) fn say(language: &str, output: &OutputSink, text: &str) {
    output(OutputLine {
        source: language.into(),
        stream: OutputStream::Stdout,
        level: OutputLevel::Info,
        text: text.to_owned(),
    });
}
