//! Sentences of browser scripts, and selectors.

#![no_main]

use cuecard_testing::readers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| readers::sentence(text));
