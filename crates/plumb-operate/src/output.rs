//! All output of the program.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plumb_display::{Painter, ScreenSize, colorize, plain, with_program};
use plumb_events::ColorMode;

use crate::{Environment, Error};

/// Colour tag that ends colours.
pub const RESET: &str = "<{%reset%}>";
const ERROR: &str = "<{%fg 1%}>";
const WARNING: &str = "<{%fg 3%}>";
const HINT: &str = "<{%fg 6%}>";
const HEADLINE: &str = "<{%fg 13%}><{%bold%}>";
const ATTENTION: &str = "<{%fg 9%}>";

/// Writes data to stdout and all other text to stderr.
///
/// When the reader of a stream closes it, further output to it is dropped silently. Other output replaces the frame that
/// is painted on the terminal; the next frame is painted below it.
///
/// Texts for people show the name under which they started the program ([`with_program`]); data is left as it is.
#[derive(Debug)]
pub struct Printer {
    color: ColorMode,
    /// Colour mode of the labels of messages on stderr.
    labels: ColorMode,
    program: String,
    plain: Plain,
    painter: Mutex<Painter>,
    stdout_gone: AtomicBool,
    stderr_gone: AtomicBool,
}

impl Printer {
    /// A printer with a colour mode, for the program name `program`.
    pub fn new(color: ColorMode, program: &str) -> Self {
        Printer {
            color,
            labels: color,
            program: program.to_owned(),
            plain: Plain::default(),
            painter: Mutex::default(),
            stdout_gone: AtomicBool::new(false),
            stderr_gone: AtomicBool::new(false),
        }
    }

    /// Enables replacements for terminals with few characters. Output that is not to a terminal is unchanged.
    #[must_use]
    pub fn for_terminals_of(mut self, environment: &Environment) -> Self {
        let is_limited = environment.has_few_characters();
        self.plain = Plain {
            stdout: is_limited && environment.stdout_is_terminal,
            stderr: is_limited && environment.stderr_is_terminal,
        };
        self
    }

    /// Printer for the value of `--color`.
    pub fn for_flag(flag: &str, environment: &Environment) -> Result<Self, Error> {
        let color = match flag {
            "auto" => environment.auto_color(),
            "always" => ColorMode::Always,
            "never" => ColorMode::Never,
            "raw" => ColorMode::Raw,
            other => {
                return Err(Error::user(format!(
                    "unsupported color option: '{other}'.  Supported values are: auto, always, never, raw"
                )));
            }
        };
        // `--color always` is about what a command shows: messages have colours on terminals only, as in the reference.
        let labels = if environment.stderr_is_terminal {
            color
        } else {
            ColorMode::Never
        };
        Ok(Printer {
            labels,
            ..Printer::new(color, &environment.program).for_terminals_of(environment)
        })
    }

    /// Colour mode.
    pub fn color(&self) -> ColorMode {
        self.color
    }

    /// Name the program was started with.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// A text with the name under which the program was started.
    pub fn named<'t>(&self, text: &'t str) -> Cow<'t, str> {
        with_program(text, &self.program)
    }

    /// Text in the style of headlines, with colour tags.
    pub fn headline(text: &str) -> String {
        format!("{HEADLINE}{text}{RESET}")
    }

    /// Text in the style for attention, with colour tags.
    pub fn attention(text: &str) -> String {
        format!("{ATTENTION}{text}{RESET}")
    }

    /// Text in the style of warnings, with colour tags.
    pub fn caution(text: &str) -> String {
        format!("{WARNING}{text}{RESET}")
    }

    /// Paints a frame over the last one, cut to `size`.
    pub fn paint(&self, mut lines: Vec<String>, size: ScreenSize) {
        if self.plain.stdout {
            for line in &mut lines {
                *line = plain(line).into_owned();
            }
        }
        // An error means that the terminal is gone.
        let _ = self
            .painter()
            .repaint(&mut io::stdout().lock(), lines, size);
    }

    /// Leaves the frame on the screen, and restores the terminal.
    pub fn end_painting(&self) {
        let _ = self.painter().keep(&mut io::stdout().lock());
    }

    /// Shows the cursor once more after an interrupt from the keyboard, unless frames still hide it.
    pub fn show_cursor_again(&self) {
        let _ = self.painter().show_cursor_again(&mut io::stdout().lock());
    }

    /// Whether a frame is on the terminal.
    pub fn is_painting(&self) -> bool {
        self.painter().is_painted()
    }

    fn painter(&self) -> MutexGuard<'_, Painter> {
        self.painter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_way(&self) -> MutexGuard<'_, Painter> {
        let mut painter = self.painter();
        if painter.is_painted() {
            let _ = painter.clear(&mut io::stdout().lock(), terminal_size());
        }
        painter
    }

    /// Writes data to stdout, unchanged.
    pub fn data(&self, text: &str) {
        let _way = self.make_way();
        let text = shown(text, self.plain.stdout);
        write_to(&mut io::stdout().lock(), &self.stdout_gone, &text);
    }

    /// Writes a line of data to stdout, unchanged.
    pub fn line(&self, text: &str) {
        self.data(&format!("{text}\n"));
    }

    /// Text with colour tags in the form for stdout.
    pub fn rendered(&self, text: &str) -> String {
        let text = colorize(text, self.color);
        shown(&text, self.plain.stdout).into_owned()
    }

    /// Writes text with colour tags to stdout.
    pub fn styled(&self, text: &str) {
        self.data(&colorize(text, self.color));
    }

    /// Writes a line with colour tags to stdout.
    pub fn styled_line(&self, text: &str) {
        self.line(&colorize(text, self.color));
    }

    /// Writes a line of our own text to stdout.
    pub fn note(&self, text: &str) {
        self.line(&self.named(text));
    }

    /// Writes a line for the user to stderr.
    pub fn info(&self, text: &str) {
        self.stderr(&format!("{}\n", self.named(text)));
    }

    /// Writes a warning.
    pub fn warning(&self, text: &str) {
        self.labelled(WARNING, "warning: ", text);
    }

    /// Writes an error.
    pub fn error(&self, text: &str) {
        self.labelled(ERROR, "error: ", text);
    }

    /// Writes a hint for an error.
    pub fn hint(&self, code: &str, text: &str) {
        self.labelled(HINT, &format!("hint[{code}]: "), text);
    }

    /// Writes text to stderr, unchanged.
    pub fn stderr(&self, text: &str) {
        let _way = self.make_way();
        let text = shown(text, self.plain.stderr);
        write_to(&mut io::stderr().lock(), &self.stderr_gone, &text);
    }

    fn labelled(&self, style: &str, label: &str, text: &str) {
        let label = colorize(&format!("{style}{label}{RESET}"), self.labels).into_owned();
        self.stderr(&format!("{label}{}\n", self.named(text)));
    }
}

/// Streams that go to terminals with few characters.
#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    stdout: bool,
    stderr: bool,
}

fn shown(text: &str, is_plain: bool) -> Cow<'_, str> {
    if is_plain {
        plain(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// Size of the terminal.
pub fn terminal_size() -> ScreenSize {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((80, 24), |(width, height)| (width.0, height.0));
    ScreenSize {
        width: usize::from(width),
        height: usize::from(height),
    }
}

fn write_to(stream: &mut dyn Write, gone: &AtomicBool, text: &str) {
    if gone.load(Ordering::Relaxed) {
        return;
    }
    if stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush())
        .is_err()
    {
        gone.store(true, Ordering::Relaxed);
    }
}
