//! `view-trace` and `convert-trace` (`cli.md` 12): traces written by `--tracing file:PATH`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::signals::StopSignals;
use plumb_operate::trace::{chrome, page, wire};
use plumb_operate::{Context, Error, ExitStatus};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Maximum length of a request.
const REQUEST: usize = 16 * 1024;
/// Timeout of a connection.
const PATIENCE: Duration = Duration::from_mins(1);

/// Show a trace in the browser
///
/// A trace is written by `--tracing file:PATH`, which every command takes. It is served as a page on this machine until it is
/// interrupted.
#[derive(Args, Debug)]
pub struct ViewTraceArgs {
    /// The port to serve the trace at; 0 for any that is free
    #[arg(long, default_value_t = 8008)]
    pub port: i32,
    /// The trace file
    pub file: String,
}

/// Convert a trace to the form that Perfetto and Chrome show
///
/// A trace is written by `--tracing file:PATH`, which every command takes. What is printed can be opened at ui.perfetto.dev, or
/// in Chrome at chrome://tracing.
#[derive(Args, Debug)]
pub struct ConvertTraceArgs {
    /// How far apart samples are taken (not supported yet)
    #[arg(short, long, default_value = "500ms")]
    pub granularity: String,
    /// Print OpenTelemetry JSON, in one document
    #[arg(long)]
    pub otel: bool,
    /// Leave out spans of logs; there are none in traces of ours
    #[arg(long)]
    pub ignore_log_spans: bool,
    /// The trace file
    pub file: String,
}

/// Runs `convert-trace`.
pub fn convert(args: &ConvertTraceArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if ctx.globals.user_flags.contains_key("granularity") {
        return Err(Error::user(
            "`--granularity` is not supported: no samples are taken, every span is converted as it is; leave the flag out",
        ));
    }
    let documents = wire::read(&ctx.environment.cwd.join(&args.file))?;
    let text = if args.otel {
        let document = serde_json::to_value(wire::document(documents))?;
        pretty(&document, Indent::Two)
    } else {
        format!("{}\n", chrome::document(&wire::spans(documents)))
    };
    ctx.printer.data(&text);
    Ok(ExitStatus::Success)
}

/// Runs `view-trace`.
pub fn view(args: &ViewTraceArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let port = u16::try_from(args.port)
        .map_err(|_| Error::user(format!("{} is no port: ports are 0 to 65535", args.port)))?;
    let path = ctx.environment.cwd.join(&args.file);
    let spans = wire::spans(wire::read(&path)?);
    let page = page::page(&title(&path), &spans).into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| {
            Error::user(format!(
                "could not listen at port {port}: {error}; name another with `--port`, 0 for any that is free"
            ))
        })?;
        let address = listener.local_addr()?;
        let mut signals = StopSignals::listen()?;
        ctx.printer
            .line(&format!("Displaying trace at http://{address}"));
        tokio::select! {
            () = serve(&listener, page) => {}
            () = signals.next() => {}
        }
        Ok(ExitStatus::Success)
    })
}

fn title(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("Trace {name}")
}

/// Handles connections concurrently, because browsers open connections in advance.
async fn serve(listener: &TcpListener, page: Arc<str>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(timeout(PATIENCE, answer(stream, page.clone())));
            },
            // Errors of a connection are ignored.
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(mut stream: TcpStream, page: Arc<str>) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let request = String::from_utf8_lossy(&request);
    let (status, kind, body) = match reply(&request) {
        Reply::Page => ("200 OK", "text/html; charset=utf-8", &*page),
        Reply::Nothing => ("404 Not Found", "text/plain", "there is only one page: /\n"),
        Reply::Refused => (
            "403 Forbidden",
            "text/plain",
            "the page is shown to this machine alone\n",
        ),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Reply to a request.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Page,
    Nothing,
    Refused,
}

fn reply(request: &str) -> Reply {
    let host = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let host = host.map(|host| host.rsplit_once(':').map_or(host, |(name, _)| name));
    // Rejects other host names, because another web site could resolve its name to this machine (DNS rebinding) to read the
    // trace.
    if !matches!(host, Some("127.0.0.1" | "localhost")) {
        return Reply::Refused;
    }
    match request.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/"] => Reply::Page,
        _ => Reply::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_for_this_machine_alone() {
        let request =
            |path: &str, host: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(reply(&request("/", "127.0.0.1:8008")), Reply::Page);
        assert_eq!(reply(&request("/", "localhost")), Reply::Page);
        assert_eq!(
            reply(&request("/favicon.ico", "127.0.0.1:8008")),
            Reply::Nothing
        );
        assert_eq!(
            reply(&request("/", "elsewhere.example:8008")),
            Reply::Refused
        );
        assert_eq!(reply("nonsense"), Reply::Refused);
    }
}
