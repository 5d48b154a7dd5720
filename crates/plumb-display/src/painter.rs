//! In-place repainting of lines on a terminal.
//!
//! 1. A frame overwrites the previous one: the cursor moves up, equal lines are skipped, others are rewritten. Each
//!    frame is one write between synchronized-update marks, which prevents flicker.
//! 2. If the terminal has become narrower than the last frame, the number of lines that the frame now occupies is
//!    unknown, because terminals wrap differently. In that case the screen is scrolled out of view, and the new frame is
//!    painted at the top. Nothing that the user may want to read is erased.
//! 3. Other text takes the place of the frame: [`Painter::clear`] removes the frame, and the next one is painted below
//!    the text.

use std::fmt::Write as _;
use std::io::{self, Write};

use plumb_events::strip_color;
use unicode_width::UnicodeWidthStr;

const BEGIN: &str = "\u{1b}[?2026h\u{1b}[?25l";
const END: &str = "\u{1b}[?2026l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_REST_OF_LINE: &str = "\u{1b}[K";
const ERASE_BELOW: &str = "\u{1b}[J";

/// Size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

/// Paints each frame over the previous one.
#[derive(Debug, Default)]
pub struct Painter {
    /// Lines on the screen.
    painted: Vec<String>,
    /// Width of the widest line.
    widest: usize,
    hides_cursor: bool,
    /// Whether a frame was ever painted.
    has_painted: bool,
}

impl Painter {
    /// A painter without a frame.
    pub fn new() -> Self {
        Painter::default()
    }

    /// Paints `lines` over the last frame. They must not be wider than the terminal.
    pub fn repaint(
        &mut self,
        out: &mut dyn Write,
        lines: Vec<String>,
        size: ScreenSize,
    ) -> io::Result<()> {
        let mut text = String::from(BEGIN);
        self.hides_cursor = true;
        self.has_painted = true;
        text.push_str(&self.fit(size));
        if !self.painted.is_empty() {
            let _ = write!(text, "\r\u{1b}[{}A", self.painted.len());
        }
        for (at, line) in lines.iter().enumerate() {
            let stands = self.painted.get(at).is_some_and(|painted| painted == line);
            if !stands || line.is_empty() {
                text.push_str(line);
                // Not in the last column, where the cursor is still on the last character and would erase it.
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

    /// Whether a frame is on the screen.
    pub fn is_painted(&self) -> bool {
        !self.painted.is_empty()
    }

    /// Adapts to a changed size of the terminal; returns the control sequences for it.
    fn fit(&mut self, size: ScreenSize) -> String {
        let mut text = String::new();
        if self.widest > size.width {
            text.push_str(&"\r\n".repeat(size.height));
            text.push_str("\u{1b}[H");
            self.painted.clear();
        }
        if self.painted.len() >= size.height {
            // Lines that no longer fit have scrolled off the screen.
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
            // Flush, because the following text may be written to the same terminal through another stream.
            out.flush()?;
        }
        Ok(())
    }

    /// Keeps the last frame on the screen; the next one is painted below it.
    pub fn keep(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.painted.clear();
        self.widest = 0;
        if std::mem::take(&mut self.hides_cursor) {
            out.write_all(SHOW_CURSOR.as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }

    /// Shows the cursor once more, unless frames still hide it. An interrupt from the keyboard makes a terminal discard
    /// output that it has not shown yet, which may be what ended the painting.
    pub fn show_cursor_again(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.has_painted && !self.hides_cursor {
            out.write_all(SHOW_CURSOR.as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }
}

fn width(line: &str) -> usize {
    strip_color(line).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: ScreenSize = ScreenSize {
        width: 80,
        height: 24,
    };

    fn again(painter: &Painter) -> String {
        let mut out = Vec::new();
        painter.show_cursor_again(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_interrupt_shows_the_cursor_only_after_the_last_frame() {
        let mut painter = Painter::new();
        assert_eq!(again(&painter), "");
        painter
            .repaint(&mut Vec::new(), vec!["frame".to_owned()], SIZE)
            .unwrap();
        assert_eq!(again(&painter), "");
        painter.keep(&mut Vec::new()).unwrap();
        assert_eq!(again(&painter), SHOW_CURSOR);
    }
}
