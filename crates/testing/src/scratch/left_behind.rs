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
        let found = find(home);
        if found.is_empty() {
            return Vec::new();
        }
        if Instant::now() >= deadline {
            return found
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

#[cfg(target_os = "linux")]
fn find(home: &Path) -> Vec<i32> {
    let wanted = [b"HOME=", home.as_os_str().as_encoded_bytes()].concat();
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&id| id != own)
        // A process that has gone meanwhile, or a zombie, has no environment.
        .filter(|id| {
            std::fs::read(format!("/proc/{id}/environ")).is_ok_and(|environ| {
                environ
                    .split(|&byte| byte == 0)
                    .any(|entry| entry == wanted)
            })
        })
        .collect()
}
