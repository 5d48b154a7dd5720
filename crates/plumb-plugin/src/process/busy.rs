//! Starting executables that were just written.

use std::io;
use std::thread;
use std::time::Duration;

/// Delay before each retry.
const WAITS: [Duration; 6] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(30),
    Duration::from_millis(100),
];

/// Starts a process with `spawn`, and retries while its executable is still open for writing.
///
/// Unix refuses to run a file that any process has open for writing. A child forked by another thread while this process
/// writes the file inherits the open file until it executes its own program, so the writer cannot know when the file is
/// free. Without retries a plugin that was just unpacked, or a program that was just built, would fail at random.
pub fn retry_busy<T>(mut spawn: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for wait in WAITS {
        match spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(wait),
            result => return result,
        }
    }
    spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_executable_is_started_when_it_is_free() {
        let mut attempts = 0;
        let started = retry_busy(|| {
            attempts += 1;
            if attempts < 4 {
                return Err(io::ErrorKind::ExecutableFileBusy.into());
            }
            Ok(attempts)
        });
        assert_eq!(started.unwrap(), 4);
    }

    #[test]
    fn other_errors_are_final() {
        let mut attempts = 0;
        let refused = retry_busy(|| -> io::Result<()> {
            attempts += 1;
            Err(io::ErrorKind::NotFound.into())
        });
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(attempts, 1);
    }

    #[test]
    fn an_executable_that_stays_busy_is_refused() {
        let refused =
            retry_busy(|| -> io::Result<()> { Err(io::ErrorKind::ExecutableFileBusy.into()) });
        assert_eq!(
            refused.unwrap_err().kind(),
            io::ErrorKind::ExecutableFileBusy
        );
    }
}
