//! Keys pressed while the tree is on the screen.
//!
//! The terminal is set to deliver single keys without echo, because echoed text would tear the tree. Ctrl-C remains a
//! signal. **Dropping [`Keys`] restores the terminal**; this happens before any question.

use plumb_display::Scroll;

/// Keyboard of the terminal, read key by key.
pub(super) struct Keys(imp::Terminal);

impl Keys {
    /// Takes the keyboard; `None` if there is no terminal, or this process is in the background.
    pub(super) fn take() -> Option<Self> {
        imp::Terminal::take().map(Keys)
    }

    /// Scroll commands for the keys pressed since the last call; `page` is the height of a page in lines.
    pub(super) fn pressed(&self, page: usize) -> Vec<Scroll> {
        scrolls(&self.0.read(), page)
    }
}

/// Scroll command of a key, given the height of a page.
type Meaning = fn(usize) -> Scroll;

/// Scroll commands for the bytes of keys; other keys are ignored.
fn scrolls(bytes: &[u8], page: usize) -> Vec<Scroll> {
    const KEYS: [(&[u8], Meaning); 18] = [
        (b"\x1b[A", |_| Scroll::Up(1)),
        (b"\x1bOA", |_| Scroll::Up(1)),
        (b"k", |_| Scroll::Up(1)),
        (b"\x1b[B", |_| Scroll::Down(1)),
        (b"\x1bOB", |_| Scroll::Down(1)),
        (b"j", |_| Scroll::Down(1)),
        (b"\x1b[5~", Scroll::Up),
        (b"\x1b[6~", Scroll::Down),
        (b" ", Scroll::Down),
        (b"b", Scroll::Up),
        (b"\x1b[H", |_| Scroll::First),
        (b"\x1b[1~", |_| Scroll::First),
        (b"g", |_| Scroll::First),
        (b"\x1b[F", |_| Scroll::Last),
        (b"\x1b[4~", |_| Scroll::Last),
        (b"G", |_| Scroll::Last),
        (b"q", |_| Scroll::Follow),
        (b"\x1b", |_| Scroll::Follow),
    ];
    let mut rest = bytes;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let known = KEYS.iter().find(|(key, _)| rest.starts_with(key));
        match known {
            // Drops an unknown escape sequence, which is not the escape key.
            Some((b"\x1b", _)) if rest.len() > 1 => rest = &[],
            Some((key, scroll)) => {
                found.push(scroll(page));
                rest = &rest[key.len()..];
            }
            None => rest = &rest[1..],
        }
    }
    found
}

#[cfg(unix)]
mod imp {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::stdio::stdin;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

    /// Settings of the terminal to restore.
    pub(super) struct Terminal {
        before: Termios,
    }

    impl Terminal {
        pub(super) fn take() -> Option<Self> {
            let before = tcgetattr(stdin()).ok()?;
            // A background process that changes the settings would be stopped by a signal.
            if tcgetpgrp(stdin()).ok()? != rustix::process::getpgrp() {
                return None;
            }
            let mut during = before.clone();
            during
                .local_modes
                .remove(LocalModes::ICANON | LocalModes::ECHO);
            // Otherwise Ctrl-C would discard output that the terminal has not shown yet.
            during.local_modes.insert(LocalModes::NOFLSH);
            tcsetattr(stdin(), OptionalActions::Now, &during).ok()?;
            Some(Terminal { before })
        }

        /// Pending input.
        #[expect(
            clippy::unused_self,
            reason = "only who has the terminal may read from it"
        )]
        pub(super) fn read(&self) -> Vec<u8> {
            let mut bytes = Vec::new();
            let at_once = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            loop {
                let mut ready = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
                let has_input = poll(&mut ready, Some(&at_once)).is_ok_and(|count| count > 0)
                    && ready[0].revents().contains(PollFlags::IN);
                let mut buffer = [0; 64];
                match has_input.then(|| rustix::io::read(stdin(), &mut buffer)) {
                    Some(Ok(count)) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
                    _ => return bytes,
                }
            }
        }
    }

    impl Drop for Terminal {
        fn drop(&mut self) {
            // Discards keys that were not read, because they would answer the next question.
            let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    /// No keyboard support on this system; users scroll with the terminal.
    pub(super) struct Terminal;

    impl Terminal {
        pub(super) fn take() -> Option<Self> {
            None
        }

        pub(super) fn read(&self) -> Vec<u8> {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_scroll_and_unknown_ones_do_nothing() {
        assert_eq!(
            scrolls(b"j\x1b[A\x1b[6~xG\x1b", 20),
            [
                Scroll::Down(1),
                Scroll::Up(1),
                Scroll::Down(20),
                Scroll::Last,
                Scroll::Follow
            ]
        );
        assert_eq!(scrolls(b"\x1b[17~", 20), []);
    }
}
