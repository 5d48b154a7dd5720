//! Unique identities of processes, so that a lock is taken over only if its process is known to have ended.
//!
//! Process id and host name are not enough: containers choose their own host names and count their own process ids. A
//! process is **known to have ended** if all of these hold:
//!
//! 1. It ran under the current boot of this kernel (boot id), so its ids belong to this kernel.
//! 2. It ran in the pid namespace of this process, so its id has the same meaning here. The inode number of a namespace
//!    is reused only after all of its processes have ended.
//! 3. No process has its id now, or the one that has it started at another time. Start times are compared within one
//!    time namespace, because each has its own offset.
//!
//! Systems without this information (other than Linux, or with a `/proc` of another namespace) give no proof.

use serde::{Deserialize, Serialize};

/// Identity of a process, unique for this kernel. Part of lock files; other programs ignore it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessIdentity {
    /// Random id of the kernel's boot.
    pub boot_id: String,
    /// Pid namespace, as named in `/proc`.
    pub pid_namespace: String,
    /// Time namespace; empty if the kernel has none.
    pub time_namespace: String,
    /// Process id.
    pub pid: u32,
    /// Start time, in clock ticks since the boot.
    pub start_time: u64,
}

impl ProcessIdentity {
    /// Identity of this process; `None` if the system does not provide it.
    pub fn own() -> Option<Self> {
        system::own()
    }

    /// Whether `other` is known to have ended. False means unknown.
    pub fn knows_dead(&self, other: &ProcessIdentity) -> bool {
        self.is_comparable(other) && system::has_ended(other)
    }

    fn is_comparable(&self, other: &ProcessIdentity) -> bool {
        !self.boot_id.is_empty()
            && self.boot_id == other.boot_id
            && self.pid_namespace == other.pid_namespace
            && self.time_namespace == other.time_namespace
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    use super::ProcessIdentity;

    pub(super) fn own() -> Option<ProcessIdentity> {
        let pid = std::process::id();
        // A `/proc` of another namespace describes other processes.
        let shown = fs::read_link("/proc/self").ok()?;
        if shown.to_str()? != pid.to_string() {
            return None;
        }
        let namespace = |name: &str| {
            let link = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
            Some(link.to_str()?.to_owned())
        };
        Some(ProcessIdentity {
            boot_id: fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .ok()?
                .trim()
                .to_owned(),
            pid_namespace: namespace("pid")?,
            time_namespace: namespace("time").unwrap_or_default(),
            pid,
            start_time: start_time(pid)?,
        })
    }

    /// Whether the process no longer exists in this namespace.
    pub(super) fn has_ended(other: &ProcessIdentity) -> bool {
        let Some(pid) = i32::try_from(other.pid).ok().and_then(Pid::from_raw) else {
            return false;
        };
        if test_kill_process(pid) == Err(Errno::SRCH) {
            return true;
        }
        start_time(other.pid).is_some_and(|time| time != other.start_time)
    }

    /// Field 22 of `/proc/PID/stat`. The second field is the program name, which may contain any characters.
    fn start_time(pid: u32) -> Option<u64> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
        rest.split_ascii_whitespace().nth(19)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::ProcessIdentity;

    pub(super) fn own() -> Option<ProcessIdentity> {
        None
    }

    pub(super) fn has_ended(_: &ProcessIdentity) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn own() -> ProcessIdentity {
        ProcessIdentity::own().expect("this system says who a process is")
    }

    /// The identity of a process that has ended and been waited for.
    fn ended() -> ProcessIdentity {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        ProcessIdentity { pid, ..own() }
    }

    #[test]
    fn a_process_that_has_ended_is_known_dead() {
        assert!(own().knows_dead(&ended()));
    }

    #[test]
    fn a_running_process_is_not_dead_and_its_id_used_again_is() {
        let own = own();
        assert!(!own.knows_dead(&own));
        let former = ProcessIdentity {
            start_time: own.start_time - 1,
            ..own.clone()
        };
        assert!(own.knows_dead(&former));
    }

    #[test]
    fn nothing_is_known_of_other_boots_and_namespaces() {
        let own = own();
        let elsewhere = [
            ProcessIdentity {
                boot_id: "another".to_owned(),
                ..ended()
            },
            ProcessIdentity {
                pid_namespace: "pid:[1]".to_owned(),
                ..ended()
            },
            ProcessIdentity {
                time_namespace: "time:[1]".to_owned(),
                ..ended()
            },
            ProcessIdentity { pid: 0, ..ended() },
            ProcessIdentity {
                pid: u32::MAX,
                ..ended()
            },
        ];
        for other in elsewhere {
            assert!(!own.knows_dead(&other), "{other:?}");
        }
    }
}
