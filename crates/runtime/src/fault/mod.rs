//! Faults on purpose: what goes wrong between a server and its client, and when.
//!
//! A [`FaultPlan`] says which answers are hit. A [`FaultInjector`] is told what passes, message by message, and
//! says what is to arrive instead, as [`Act`]s; it does no I/O and knows no time, so the same fault hits the
//! same answer every time. Whoever moves the bytes of a transport carries the acts out.

mod injector;

use std::fmt;
use std::str::FromStr;

pub use injector::{Act, FaultInjector, NOBODYS_ID, STDERR_FLOOD, padded};

/// How many bytes an oversized answer has: one over the largest message accepted anywhere.
pub const OVERSIZE: usize = 64 * 1024 * 1024 + 1;

/// The most calls that one plan names.
const MOST_CALLS: usize = 1_000;

/// One way in which an answer goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends in the middle of the answer.
    Cut,
    /// Neither the answer nor anything else comes any more; the connection stays.
    Stall,
    /// The answer arrives in many small pieces.
    Split,
    /// The answer arrives together with another message, in one piece.
    Merge,
    /// Bytes that are no message arrive in place of the answer.
    Garbage,
    /// The answer arrives twice.
    Duplicate,
    /// The next answer arrives before this one.
    Reorder,
    /// The answer has the id of a request that was never made.
    WrongId,
    /// The answer has [`OVERSIZE`] bytes.
    Oversize,
    /// The server ends instead of answering.
    Crash,
    /// The server writes a flood on standard error before it answers.
    StderrFlood,
}

impl Fault {
    /// Every fault, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Cut,
        Self::Stall,
        Self::Split,
        Self::Merge,
        Self::Garbage,
        Self::Duplicate,
        Self::Reorder,
        Self::WrongId,
        Self::Oversize,
        Self::Crash,
        Self::StderrFlood,
    ];

    /// Its name, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Stall => "stall",
            Self::Split => "split",
            Self::Merge => "merge",
            Self::Garbage => "garbage",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::WrongId => "wrong-id",
            Self::Oversize => "oversize",
            Self::Crash => "crash",
            Self::StderrFlood => "stderr-flood",
        }
    }
}

/// A fault, and the calls whose answers it hits. Written as `cut@2,4`; `cut` alone is `cut@1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPlan {
    /// What goes wrong.
    pub fault: Fault,
    /// The calls, counted from 1 in the order of their answers.
    pub calls: Vec<u64>,
}

/// A text that is no [`FaultPlan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadFaultPlan {
    /// There is no fault of this name.
    Fault(String),
    /// This is not the number of a call.
    Call(String),
    /// It names more calls than this.
    TooMany(usize),
}

impl FromStr for FaultPlan {
    type Err = BadFaultPlan;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, calls) = text.split_once('@').unwrap_or((text, "1"));
        let fault = Fault::ALL
            .into_iter()
            .find(|fault| fault.name() == name)
            .ok_or_else(|| BadFaultPlan::Fault(name.to_owned()))?;
        if calls.split(',').count() > MOST_CALLS {
            return Err(BadFaultPlan::TooMany(MOST_CALLS));
        }
        let calls = calls
            .split(',')
            .map(|call| match call.parse() {
                Ok(0) | Err(_) => Err(BadFaultPlan::Call(call.to_owned())),
                Ok(call) => Ok(call),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { fault, calls })
    }
}

impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<String> = self.calls.iter().map(u64::to_string).collect();
        write!(f, "{}@{}", self.fault.name(), calls.join(","))
    }
}

impl fmt::Display for BadFaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(name) => {
                let known = Fault::ALL.map(Fault::name).join("`, `");
                write!(f, "unknown fault `{name}`; available: `{known}`")
            }
            Self::Call(call) => write!(
                f,
                "`{call}` is not a valid call number; numbers start at 1, as in `cut@1,3`"
            ),
            Self::TooMany(bound) => write!(f, "a fault hits at most {bound} calls"),
        }
    }
}

impl std::error::Error for BadFaultPlan {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_as_they_are_written() {
        for fault in Fault::ALL {
            let plan = FaultPlan {
                fault,
                calls: vec![2, 4],
            };
            assert_eq!(plan.to_string().parse(), Ok(plan));
        }
        let plan: FaultPlan = "wrong-id".parse().expect("a plan");
        assert_eq!(plan.calls, [1]);
    }

    #[test]
    fn what_is_no_plan_says_what_would_be() {
        let error = |text: &str| {
            let error = text.parse::<FaultPlan>().expect_err("it is none");
            error.to_string()
        };
        assert!(error("explode").starts_with("unknown fault `explode`; available: `cut`, "));
        for (text, call) in [("cut@", ""), ("cut@0", "0"), ("cut@1,x", "x")] {
            assert!(error(text).starts_with(&format!("`{call}` is not a valid call number")));
        }
        let many = format!("cut@{}", ["1"; MOST_CALLS + 1].join(","));
        assert_eq!(error(&many), "a fault hits at most 1000 calls");
    }
}
