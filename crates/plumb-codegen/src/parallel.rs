//! Generation of files on several threads, with a single writer.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::{FilePath, GenerateError, Sink};

/// Maximum number of finished jobs that wait for the sink, so that an SDK is never in memory as a whole.
const WAITING: usize = 64;

/// Generates the files of each job, on as many threads as the machine has cores, and writes them to the sink as they
/// are finished.
///
/// If several jobs fail, returns the error of the first one in job order, independent of scheduling.
pub fn write<J: Sync>(
    jobs: &[J],
    make: impl Fn(&J) -> Result<Vec<(FilePath, String)>, GenerateError> + Sync,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut failed: Option<(usize, GenerateError)> = None;
    thread::scope(|scope| {
        let (sender, files) = mpsc::sync_channel(WAITING);
        for _ in 0..threads.min(jobs.len()) {
            let (sender, next, make) = (sender.clone(), &next, &make);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    // The receiver is gone; no file can be written.
                    if sender.send((index, make(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (index, made) in files {
            let handed = made.and_then(|made| {
                made.into_iter()
                    .try_for_each(|(path, text)| sink.file(path, text))
            });
            if let Err(error) = handed
                && failed.as_ref().is_none_or(|(first, _)| index < *first)
            {
                failed = Some((index, error));
            }
        }
    });
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileMap;

    #[test]
    fn all_jobs_are_done_and_the_first_failure_is_told() {
        let jobs: Vec<usize> = (0..500).collect();
        let make = |job: &usize| Ok(vec![(FilePath::new(&job.to_string())?, format!("{job}"))]);
        let mut files = FileMap::default();
        write(&jobs, make, &mut files).unwrap();
        assert_eq!(files.0.len(), 500);

        let fail = |job: &usize| match job {
            17 | 300 => Err(GenerateError::SameFile(FilePath::new(&job.to_string())?)),
            _ => Ok(Vec::new()),
        };
        let error = write(&jobs, fail, &mut FileMap::default()).unwrap_err();
        assert!(error.to_string().ends_with(", 17"), "{error}");
    }
}
