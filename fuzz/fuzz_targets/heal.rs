//! Patches for browser steps.

#![no_main]

use cuecard_testing::readers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| readers::heal(text));
