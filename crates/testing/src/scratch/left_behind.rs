//! Finds processes that outlived the command that started them.
//!
//! Each scratch folder has a `HOME` of its own, which children inherit through every allow-list of variables,
//! so a process with that `HOME` in its environment was started by that command, directly or not.

use std::path::Path;

/// The processes with this `HOME`, as `id command line`, after they were given time to go; they are killed.
#[cfg(target_os = "linux")]
pub(super) fn find_and_kill(home: &Path) -> Vec<String> {
    use rustix::process::{Pid, Signal, kill_process};
    use std::time::{Duration, Instant};

    /// A killed process is seen for a moment after the signal was sent.
    const GRACE: Duration = Duration::from_secs(3);
    /// They are not our children, so their end can't be awaited; this is how often we look.
    const LOOK_EVERY: Duration = Duration::from_millis(5);

    let deadline = Instant::now() + GRACE;
    loop {
        let Found { ours, unclear } = find(home);
        if ours.is_empty() && !unclear {
            return Vec::new();
        }
        if Instant::now() >= deadline {
            return ours
                .into_iter()
                .map(|id| {
                    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
                    if let Some(pid) = Pid::from_raw(id) {
                        let _ = kill_process(pid, Signal::KILL);
                    }
                    let words = String::from_utf8_lossy(&command).replace('\0', " ");
                    format!("{id} {}", words.trim_end())
                })
                .collect();
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the end of a process that isn't our child rings no bell"
        )]
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn find_and_kill(_home: &Path) -> Vec<String> {
    Vec::new()
}

/// What a look at all processes shows.
#[cfg(target_os = "linux")]
struct Found {
    /// Those with the wanted `HOME`.
    ours: Vec<i32>,
    /// Whether there are some that nothing can be said of yet.
    unclear: bool,
}

#[cfg(target_os = "linux")]
fn find(home: &Path) -> Found {
    let wanted = [b"HOME=", home.as_os_str().as_encoded_bytes()].concat();
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let mut found = Found {
        ours: Vec::new(),
        unclear: false,
    };
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return found;
    };
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for id in ids.filter(|&id| id != own) {
        // A process that has gone meanwhile, or a zombie, has no environment.
        let Ok(environ) = std::fs::read(format!("/proc/{id}/environ")) else {
            continue;
        };
        if environ.is_empty() {
            found.unclear |= is_becoming_a_program(id);
        } else if environ
            .split(|&byte| byte == 0)
            .any(|entry| entry == wanted)
        {
            found.ours.push(id);
        }
    }
    found
}

/// Whether the process, whose environment was just read as empty, is amid `execve`: it has memory, and its
/// environment is not there yet, or is by now. One without variables has an environment that begins where it
/// ends; a thread of the kernel or a zombie has no memory.
#[cfg(target_os = "linux")]
fn is_becoming_a_program(id: i32) -> bool {
    /// Places among the fields of `/proc/ID/stat` behind the name, which may hold anything: see proc(5).
    const MEMORY: usize = 23 - 3;
    const ENVIRONMENT_START: usize = 50 - 3;
    const ENVIRONMENT_END: usize = 51 - 3;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return false;
    };
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let field = |place: usize| fields.get(place).copied().unwrap_or("0");
    let is_without_variables =
        field(ENVIRONMENT_END) != "0" && field(ENVIRONMENT_START) == field(ENVIRONMENT_END);
    field(MEMORY) != "0" && !is_without_variables
}
