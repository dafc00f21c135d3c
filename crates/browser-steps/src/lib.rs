//! Browser scenarios and the steps that they become: the models, the formats, exports to other notations, what a model is
//! asked about a sentence, and whether its answer can be used.
//!
//! Files become scenarios and steps, steps become files again. Never sees a browser, and does no I/O.

pub mod format;
pub mod model;
pub mod question;
