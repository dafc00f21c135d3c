//! What every player stands on: the clock, processes, the run directory, the safety policy, the tap that writes the trace,
//! HTTP servers with their guard, faults.
//!
//! The only place that reads the clock, starts processes and decides what a run may do. Knows no protocol and no player.

pub mod browsers;
pub mod clock;
pub mod collect;
pub mod env_file;
#[cfg(test)]
#[allow(warnings)]
mod env_old;
pub mod fault;
pub mod fault_writer;
pub mod findings;
pub mod http_server;
pub mod journal;
pub mod lines;
pub mod listener;
pub mod load;
pub mod media;
pub mod policy;
pub mod process;
pub mod programs;
pub mod provider;
pub mod run_dir;
pub mod scripted_faults;
pub mod start_error;
pub mod tap;
pub mod text_file;
pub mod timelines;
pub mod tls;
pub mod trace_writer;
pub mod workers;
#[cfg(test)]
mod envdiff {
    use proptest::prelude::*;
    proptest! {
        #![proptest_config(ProptestConfig { cases: 40000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn same(text in "(export |export|A|B|=|#|'|\"|\\\\|\\\\n|\\\\q| |\t|\r|\n|\n|n|é|\u{feff}|\0|\\.|\\+){0,24}") {
            let s = cuecard_source::SourceFile::new("x", text.clone());
            let one = super::env_old::parse(&s); let two = super::env_file::parse(&s);
            prop_assert_eq!(&one.0, &two.0);
            let f = |d: &Vec<cuecard_source::diagnostic::Diagnostic>| { let mut v: Vec<_> = d.iter().map(|d| (d.place.as_ref().unwrap().span.start, d.place.as_ref().unwrap().span.end, d.message.clone(), d.label.clone(), d.help.clone(), d.place.as_ref().unwrap().source.text().to_owned())).collect(); v.sort(); v };
            prop_assert_eq!(f(&one.1), f(&two.1));
        }
    }
}
