//! Timelines at play: when each event is due, which answers a model gives, and where in the script a request is.

mod request;
mod request_key;
mod schedule;
mod schedule_lanes;
mod speed;

#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod testing;

pub use crate::profiles::{AdvertisedTool, ToolInput};
pub use request::{
    Endpoint, Message, Part, PreviousAnswer, Request, RequestedCall, RequestedResult, Role,
    ToolChoice,
};
pub use request_key::RequestKey;
pub use schedule::{EventTimes, Lane, Points, Schedule, ScheduleReading, lane_of};
pub use speed::Speed;
