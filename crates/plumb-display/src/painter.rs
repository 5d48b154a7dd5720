//! Repainting lines in place on a terminal.

use std::io::{self, Write};

/// Puts each frame where the one before it stands.
#[derive(Debug, Default)]
pub struct Painter {
    painted: usize,
}

impl Painter {
    /// A painter that has painted nothing.
    pub fn new() -> Self {
        Painter::default()
    }

    /// Paints `lines`, which must not be wider than the terminal nor more than it has lines, over the last frame.
    pub fn repaint(&mut self, out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
        self.clear(out)?;
        for line in lines {
            write!(out, "{line}\r\n")?;
        }
        self.painted = lines.len();
        out.flush()
    }

    /// Removes the last frame, so that other text can be written in its place.
    pub fn clear(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.painted > 0 {
            write!(out, "\u{1b}[{}A\r\u{1b}[J", self.painted)?;
            self.painted = 0;
        }
        Ok(())
    }

    /// Leaves the last frame where it is; the next one starts below it.
    pub fn keep(&mut self) {
        self.painted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_replaces_the_one_before() {
        let mut out = Vec::new();
        let mut painter = Painter::new();
        painter
            .repaint(&mut out, &["a".into(), "b".into()])
            .unwrap();
        painter.repaint(&mut out, &["c".into()]).unwrap();
        painter.keep();
        painter.repaint(&mut out, &["d".into()]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\r\nb\r\n\u{1b}[2A\r\u{1b}[Jc\r\nd\r\n"
        );
    }
}
