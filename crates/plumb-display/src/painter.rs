//! Repainting lines in place on a terminal.
//!
//! 1. A frame goes over the one before it: the cursor goes up, lines that are the same are passed over, others are written
//!    anew. All of it is one write between marks that have the terminal show it at once, so nothing flickers.
//! 2. Where the terminal became narrower than what stands on it, nobody knows how many lines that is now: terminals differ.
//!    What stands on the screen is then moved out of sight, above, and the frame painted at the top. Nothing is erased that
//!    somebody may want to read.
//! 3. Text by others goes where the frame is: [`Painter::clear`] takes the frame away, and the next one stands below.

use std::fmt::Write as _;
use std::io::{self, Write};

use plumb_events::strip_color;
use unicode_width::UnicodeWidthStr;

const BEGIN: &str = "\u{1b}[?2026h\u{1b}[?25l";
const END: &str = "\u{1b}[?2026l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_REST_OF_LINE: &str = "\u{1b}[K";
const ERASE_BELOW: &str = "\u{1b}[J";

/// Columns and lines of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

/// Puts each frame where the one before it stands.
#[derive(Debug, Default)]
pub struct Painter {
    /// What stands on the screen.
    painted: Vec<String>,
    /// The columns that it takes.
    widest: usize,
    hides_cursor: bool,
}

impl Painter {
    /// A painter that has painted nothing.
    pub fn new() -> Self {
        Painter::default()
    }

    /// Paints `lines`, which must not be wider than the terminal, over the last frame.
    pub fn repaint(
        &mut self,
        out: &mut dyn Write,
        lines: Vec<String>,
        size: ScreenSize,
    ) -> io::Result<()> {
        let mut text = String::from(BEGIN);
        self.hides_cursor = true;
        text.push_str(&self.fit(size));
        if !self.painted.is_empty() {
            let _ = write!(text, "\r\u{1b}[{}A", self.painted.len());
        }
        for (at, line) in lines.iter().enumerate() {
            let stands = self.painted.get(at).is_some_and(|painted| painted == line);
            if !stands || line.is_empty() {
                text.push_str(line);
                // In the last column, the cursor stands on what was written last.
                if width(line) < size.width {
                    text.push_str(ERASE_REST_OF_LINE);
                }
            }
            text.push_str("\r\n");
        }
        text.push_str(ERASE_BELOW);
        text.push_str(END);
        self.widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
        self.painted = lines;
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Whether a frame stands on the screen.
    pub fn is_painted(&self) -> bool {
        !self.painted.is_empty()
    }

    /// Comes to terms with a terminal of another size than that of the last frame; answers what is to be written for that.
    fn fit(&mut self, size: ScreenSize) -> String {
        let mut text = String::new();
        if self.widest > size.width {
            text.push_str(&"\r\n".repeat(size.height));
            text.push_str("\u{1b}[H");
            self.painted.clear();
        }
        if self.painted.len() >= size.height {
            // What does not fit any more has left the screen.
            self.painted.truncate(size.height.saturating_sub(1));
            self.painted.iter_mut().for_each(String::clear);
        }
        text
    }

    /// Removes the last frame, so that other text can be written in its place.
    pub fn clear(&mut self, out: &mut dyn Write, size: ScreenSize) -> io::Result<()> {
        if !self.painted.is_empty() {
            out.write_all(self.fit(size).as_bytes())?;
        }
        if !self.painted.is_empty() {
            write!(out, "\r\u{1b}[{}A{ERASE_BELOW}", self.painted.len())?;
            self.painted.clear();
            self.widest = 0;
            // What follows may go to the same terminal by another stream.
            out.flush()?;
        }
        Ok(())
    }

    /// Leaves the last frame where it is; the next one starts below it.
    pub fn keep(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.painted.clear();
        self.widest = 0;
        if std::mem::take(&mut self.hides_cursor) {
            out.write_all(SHOW_CURSOR.as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }
}

fn width(line: &str) -> usize {
    strip_color(line).width()
}
