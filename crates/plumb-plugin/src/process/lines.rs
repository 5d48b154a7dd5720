//! Reading a pipe line by line.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::oneshot;

use super::Launch;
use super::tail::Tail;
use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};

/// Longer lines are cut into pieces of this size.
const MAX_LINE: usize = 1 << 20;

/// Where the lines of one stream go.
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
        let is_blank = text.trim().is_empty();
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

/// Sends the first line to `first_line`, if anybody wants it, and all others to `sink`, until the pipe is closed.
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
        match first_line.take() {
            Some(sender) if is_complete => {
                // The receiver is gone when the start has been given up.
                let _ = sender.send(std::mem::take(&mut line));
            }
            _ => sink.take(&line),
        }
        if !is_complete && line.len() < MAX_LINE {
            return;
        }
        line.clear();
    }
}

/// Reads up to the end of a line, of the input, or of the room. The line end is left out; answers whether there was one.
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
