//! Processes that left their group (`setsid`, a double fork), found in the tree of processes.
//!
//! Orphans among our descendants become our children instead of those of the system's first process, so that none
//! leaves the tree. Whose they were says a variable of their environment, which a process can overwrite: such a one is
//! ended with the last of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Once;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpgrp, getpid, kill_process, pidfd_open,
    set_child_subreaper, waitpid,
};

/// Names the group in the environment of each of its processes.
pub(super) const VARIABLE: &str = "CUECARD_PROCESS_GROUP";

/// Whoever starts new processes faster than we find them wins in the end.
const MAX_ROUNDS: usize = 20;

/// Makes us the parent of orphans.
pub(super) fn adopt_orphans() {
    static ADOPT: Once = Once::new();
    ADOPT.call_once(|| {
        // Where the system can't, orphans outside of their group are lost.
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// Reaps orphans that have ended: we are their parent, and nobody else waits for them. Called whenever a group is
/// started, so that what a long run leaves behind doesn't fill the table of processes; what one server leaves while nothing
/// is started waits until then.
pub(super) fn reap_orphans() {
    let us = getpid().as_raw_nonzero().get();
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for id in children.split_whitespace().filter_map(|id| id.parse().ok()) {
            if let Some(process) = Process::of(id) {
                process.reap(id, us);
            }
        }
    }
}

/// Kills what stems from `leader`, or has `marker` in its environment, outside of the leader's group. Returns their ids.
pub(super) fn kill_of(leader: i32, marker: &str) -> BTreeSet<i32> {
    let wanted = format!("{VARIABLE}={marker}");
    let is_marked = |id: i32| {
        fs::read(format!("/proc/{id}/environ")).is_ok_and(|environment| {
            environment
                .split(|&byte| byte == 0)
                .any(|variable| variable == wanted.as_bytes())
        })
    };
    kill(
        |tree, id| tree.stems_from(id, leader) || is_marked(id),
        leader,
    )
}

/// Kills all our descendants outside of our group.
pub(super) fn kill_all() {
    let _ = kill(|_, _| true, 0);
}

/// Waits until each of `killed` has ended, for `limit` at most, and reaps those that have become ours, which nobody else
/// waits for.
pub(super) fn reap_killed(killed: &BTreeSet<i32>, limit: Duration) {
    let us = getpid().as_raw_nonzero().get();
    let limit = Timespec::try_from(limit).ok();
    let pids = || killed.iter().filter_map(|&id| Pid::from_raw(id));
    for process in pids().filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], limit.as_ref());
    }
    for pid in pids() {
        let process = Process::of(pid.as_raw_nonzero().get());
        if process.is_some_and(|process| process.is_dead && process.parent == us) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Kills those of our descendants that are wanted, until no new ones are found; none of our group or `group`.
fn kill(is_wanted: impl Fn(&Tree, i32) -> bool, group: i32) -> BTreeSet<i32> {
    let (us, ours) = (
        getpid().as_raw_nonzero().get(),
        getpgrp().as_raw_nonzero().get(),
    );
    let mut killed = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let tree = Tree::read();
        let before = killed.len();
        for (&id, process) in &tree.processes {
            let Some(pid) =
                Pid::from_raw(id).filter(|_| process.group != ours && process.group != group)
            else {
                continue;
            };
            if process.is_dead {
                process.reap(id, us);
            } else if !killed.contains(&id) && tree.stems_from(id, us) && is_wanted(&tree, id) {
                // One that has gone already is what we want.
                let _ = kill_process(pid, Signal::KILL);
                killed.insert(id);
            }
        }
        if killed.len() == before {
            break;
        }
    }
    killed
}

/// All processes.
struct Tree {
    processes: BTreeMap<i32, Process>,
}

struct Process {
    parent: i32,
    group: i32,
    is_dead: bool,
}

impl Tree {
    fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Self {
            processes: ids.filter_map(|id| Some((id, Process::of(id)?))).collect(),
        }
    }

    fn stems_from(&self, id: i32, ancestor: i32) -> bool {
        let mut at = id;
        // A parent may have changed while the processes were read, so that there may be a circle.
        for _ in 0..self.processes.len() {
            match self.processes.get(&at) {
                Some(process) if process.parent == ancestor => return true,
                Some(process) => at = process.parent,
                None => return false,
            }
        }
        false
    }
}

impl Process {
    fn of(id: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Self::read(&stat)
    }

    /// Reaps an orphan that has ended. The leader of a group may be a child that we started and wait for, and so may
    /// be one in our own group.
    fn reap(&self, id: i32, us: i32) {
        let ours = getpgrp().as_raw_nonzero().get();
        let is_orphan = self.parent == us && id != self.group && self.group != ours;
        if self.is_dead && is_orphan {
            let _ = waitpid(Pid::from_raw(id), WaitOptions::NOHANG);
        }
    }

    /// Reads `1 (any name) S 0 1 …`.
    fn read(stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        Some(Self {
            is_dead: matches!(fields.next()?, "Z" | "X"),
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_called_anything() {
        let process = Process::read("7 (a) Z (b) S 3 4 5 0\n").expect("well formed");
        assert_eq!(
            (process.parent, process.group, process.is_dead),
            (3, 4, false)
        );
        assert!(Process::read("7 (a").is_none());
    }
}
