//! Looks around in the changes of a preview, on the whole screen of the terminal.
//!
//! [`Browser`] decides what a key does and what is on the screen; this reads the keys and paints. **Dropping [`Screen`]
//! gives the terminal back as it was.**

use std::io::{self, Write as _};

use crossterm::event::{self, Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, queue};
use plumb_display::{Browser, BrowserKey, ChangeReport, Options, plain};
use plumb_events::Event;

use crate::output::terminal_size;
use crate::{Error, prompt};

/// Shows the changes among `events` until the reader has seen enough.
pub(super) fn changes<'e>(
    options: Options,
    events: impl IntoIterator<Item = &'e Event>,
    has_few_characters: bool,
) -> Result<(), Error> {
    let mut report = ChangeReport::new(options);
    for event in events {
        report.handle(event);
    }
    let size = terminal_size();
    let mut browser = Browser::new(&report, size.width, size.height);
    let screen = Screen::take()?;
    loop {
        screen.paint(&browser.frame(), has_few_characters)?;
        match event::read()? {
            Input::Key(key) if is_interrupt(key) => return Err(prompt::cancelled()),
            Input::Key(key) if key.kind == KeyEventKind::Release => {}
            Input::Key(key) if meaning(key.code).is_some_and(|key| !browser.press(key)) => {
                return Ok(());
            }
            Input::Resize(width, height) => browser.resize(width.into(), height.into()),
            _ => {}
        }
    }
}

/// Ctrl-C, which is not a signal while keys are read one by one.
fn is_interrupt(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn meaning(key: KeyCode) -> Option<BrowserKey> {
    Some(match key {
        KeyCode::Up => BrowserKey::Up,
        KeyCode::Down => BrowserKey::Down,
        KeyCode::Left => BrowserKey::Left,
        KeyCode::Right => BrowserKey::Right,
        KeyCode::PageUp => BrowserKey::PageUp,
        KeyCode::PageDown => BrowserKey::PageDown,
        KeyCode::Home => BrowserKey::Home,
        KeyCode::End => BrowserKey::End,
        KeyCode::Enter => BrowserKey::Enter,
        KeyCode::Esc => BrowserKey::Escape,
        KeyCode::Backspace => BrowserKey::Backspace,
        KeyCode::Char(letter) => BrowserKey::Letter(letter),
        _ => return None,
    })
}

/// The whole screen of the terminal. What was on it comes back.
struct Screen;

impl Screen {
    fn take() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Screen;
        let mut out = io::stdout().lock();
        queue!(out, EnterAlternateScreen, cursor::Hide)?;
        out.flush()?;
        Ok(screen)
    }

    #[expect(
        clippy::unused_self,
        reason = "only who has the screen may paint on it"
    )]
    fn paint(&self, lines: &[String], has_few_characters: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for (at, line) in lines.iter().enumerate() {
            let line = if has_few_characters {
                plain(line)
            } else {
                line.into()
            };
            queue!(
                out,
                cursor::MoveTo(0, u16::try_from(at).unwrap_or(u16::MAX))
            )?;
            out.write_all(line.as_bytes())?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        let _ = queue!(out, LeaveAlternateScreen, cursor::Show);
        let _ = out.flush();
        let _ = terminal::disable_raw_mode();
    }
}
