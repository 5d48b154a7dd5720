//! Reading a pipe line by line.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::oneshot;

use super::Launch;
use super::tail::Tail;
use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};

/// Maximum length in bytes; longer lines are split.
const MAX_LINE: usize = 1 << 20;

/// Destination of the lines of one stream.
pub(super) struct LineSink {
    pub(super) source: Arc<str>,
    pub(super) stream: OutputStream,
    pub(super) level: OutputLevel,
    pub(super) keep_blank_lines: bool,
    pub(super) output: OutputSink,
    pub(super) tail: Arc<Tail>,
}

impl LineSink {
    pub(super) fn new(launch: &Launch, stream: OutputStream, tail: Arc<Tail>) -> Self {
        LineSink {
            source: launch.source.clone(),
            stream,
            level: launch.level,
            keep_blank_lines: launch.keep_blank_lines,
            output: launch.output.clone(),
            tail,
        }
    }

    fn take(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let is_blank = is_blank(&text);
        if is_blank && !self.keep_blank_lines {
            return;
        }
        if !is_blank {
            self.tail.push(&text);
        }
        (self.output)(OutputLine {
            source: self.source.clone(),
            stream: self.stream,
            level: self.level,
            text: text.into_owned(),
        });
    }
}

/// Whether a line shows no text; it may hold colour codes.
fn is_blank(line: &str) -> bool {
    let mut rest = line.trim_start();
    while let Some(code) = rest.strip_prefix("\u{1b}[") {
        let is_number = |c: char| c.is_ascii_digit() || c == ';';
        let Some(behind) = code.trim_start_matches(is_number).strip_prefix('m') else {
            return false;
        };
        rest = behind.trim_start();
    }
    rest.is_empty()
}

/// Sends the first line to `first_line`, if set, and all others to `sink`, until the pipe is closed.
pub(super) async fn forward(
    pipe: impl AsyncRead + Unpin,
    sink: LineSink,
    mut first_line: Option<oneshot::Sender<Vec<u8>>>,
) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while let Ok(is_complete) = read_line(&mut reader, &mut line).await {
        if line.is_empty() && !is_complete {
            return;
        }
        let is_last = !is_complete && line.len() < MAX_LINE;
        let taken = if is_complete || is_last {
            line.len()
        } else {
            whole_characters(&line)
        };
        match first_line.take() {
            Some(sender) if is_complete => {
                // The receiver is dropped when the start has been given up.
                let _ = sender.send(std::mem::take(&mut line));
            }
            _ => {
                sink.take(&line[..taken]);
                line.drain(..taken);
            }
        }
        if is_last {
            return;
        }
    }
}

/// Length of the piece without a character that continues in the next piece.
fn whole_characters(piece: &[u8]) -> usize {
    let length = |first: u8| match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    };
    (piece.len().saturating_sub(3)..piece.len())
        .find(|at| at + length(piece[*at]) > piece.len())
        .unwrap_or(piece.len())
}

/// Reads up to the end of a line or of the input, or the maximum length. The line end is removed; returns whether there was
/// one.
async fn read_line(
    reader: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<bool> {
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(false);
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let wanted = newline.unwrap_or(chunk.len());
        let taken = wanted.min(MAX_LINE - line.len());
        line.extend_from_slice(&chunk[..taken]);
        let is_complete = newline == Some(taken);
        reader.consume(taken + usize::from(is_complete));
        if is_complete {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(true);
        }
        if line.len() == MAX_LINE {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Lines emitted for `text`, without blank lines.
    async fn heard(text: &str) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let heard = lines.clone();
        let sink = LineSink {
            source: "test".into(),
            stream: OutputStream::Stdout,
            level: OutputLevel::Info,
            keep_blank_lines: false,
            output: Arc::new(move |line| heard.lock().unwrap().push(line.text)),
            tail: Arc::default(),
        };
        forward(text.as_bytes(), sink, None).await;
        std::mem::take(&mut lines.lock().unwrap())
    }

    #[tokio::test]
    async fn long_lines_are_cut_between_characters() {
        for before in 0..4 {
            let text = "x".repeat(before) + &"é✓🙂".repeat(MAX_LINE / 4);
            let pieces = heard(&format!("{text}\nnext\n")).await;
            assert_eq!(pieces.len(), 4, "{before}");
            assert!(pieces[..3].concat() == text, "{before}");
        }
    }

    #[tokio::test]
    async fn lines_that_only_switch_colours_are_blank() {
        let said = heard("\u{1b}[0m \u{1b}[1;32m\n\u{1b}[1mbold\u{1b}[0m\n\u{1b}[2J\n").await;
        assert_eq!(said, ["\u{1b}[1mbold\u{1b}[0m", "\u{1b}[2J"]);
    }
}
