//! Process handles for plugins that a language host runs, fed by a stream of events.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::lines::{LineSink, forward};
use super::tail::Tail;
use super::{Control, Exit, Process};
use crate::language::PluginEvent;
use crate::output::{OutputLevel, OutputSink, OutputStream};

const PIPE: usize = 64 * 1024;

impl Process {
    /// A handle for a plugin that runs as a child of a language host; its `id` is 0. Killing and interrupting drop the
    /// stream, which makes the host end the plugin.
    pub(super) fn from_stream(
        source: Arc<str>,
        events: BoxStream<'static, PluginEvent>,
        level: OutputLevel,
        output: OutputSink,
    ) -> (Self, oneshot::Receiver<Vec<u8>>) {
        let tail = Arc::new(Tail::default());
        let mut readers = JoinSet::new();
        let (first_line, receiver) = oneshot::channel();
        let sink = |stream| LineSink {
            source: source.clone(),
            stream,
            level,
            keep_blank_lines: false,
            output: output.clone(),
            tail: tail.clone(),
        };
        let (stdout, reader) = duplex(PIPE);
        readers.spawn(forward(
            reader,
            sink(OutputStream::Stdout),
            Some(first_line),
        ));
        let (stderr, reader) = duplex(PIPE);
        readers.spawn(forward(reader, sink(OutputStream::Stderr), None));
        let (control, commands) = mpsc::channel(4);
        let (exited, exit) = watch::channel(None);
        // The task ends when the control channel closes, like that of a real process.
        tokio::spawn(pump(events, [stdout, stderr], readers, commands, exited));
        (
            Process {
                id: 0,
                control,
                exit,
                tail,
            },
            receiver,
        )
    }
}

async fn pump(
    mut events: BoxStream<'static, PluginEvent>,
    [mut stdout, mut stderr]: [DuplexStream; 2],
    mut readers: JoinSet<()>,
    mut commands: mpsc::Receiver<Control>,
    exited: watch::Sender<Option<Exit>>,
) {
    let exit = loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = commands.recv() => break Exit::Unknown,
        };
        // Writing fails only if the reader was dropped, and then the text is not needed.
        let _ = match event {
            Some(PluginEvent::Stdout(bytes)) => stdout.write_all(&bytes).await,
            Some(PluginEvent::Stderr(bytes)) => stderr.write_all(&bytes).await,
            Some(PluginEvent::Failed(message)) => {
                let written = stderr.write_all(message.as_bytes()).await;
                let _ = stderr.write_all(b"\n").await;
                written
            }
            Some(PluginEvent::Exited(code)) => break Exit::Code(code),
            None => break Exit::Unknown,
        };
    };
    drop((events, stdout, stderr));
    while readers.join_next().await.is_some() {}
    exited.send_replace(Some(exit));
}
