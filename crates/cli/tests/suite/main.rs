//! The one integration binary: the program from outside, and the source tree as text.

mod acp;
mod acp_client;
mod adversary;
mod agents;
mod append_kill;
mod background;
mod bridge;
mod browser;
mod browser_actions;
mod browser_runs;
mod browser_scenarios;
mod data_as_code;
mod dependencies;
mod documents;
mod examples;
mod faults;
mod for_agents;
mod golden;
mod inferring;
mod judging;
mod judging_adversary;
mod llm;
mod outcomes;
mod packages;
mod parse;
mod parse_model;
// It looks for processes in `/proc`.
#[cfg(target_os = "linux")]
mod processes;
mod program;
mod prompts;
mod record_mcp;
mod replay_browser;
mod report;
mod requests;
mod resume;
mod run;
mod schemas;
mod seed;
mod sentences;
mod servers;
mod service;
mod targets;
mod tidy;
mod timelines;
mod watching;
