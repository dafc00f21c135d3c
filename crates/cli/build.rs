//! Asks the linker for a smaller binary.

use std::env;
use std::process::Command;

/// The first release of glibc that starts a program with packed relocations: major and minor number.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|known| known == value);
    let is_native = env::var("TARGET").ok() == env::var("HOST").ok();
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Some 65,000 addresses that the loader puts right at the start: 1.6 MB as a list, 20 KB as a bitmap.
    if is("PROFILE", "release")
        && is_native
        && is_gnu
        && glibc().is_some_and(|version| version >= PACKED_SINCE)
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The release of glibc on this machine, from `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
