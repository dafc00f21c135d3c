//! How fast the times of a script pass.

/// What delays are multiplied by: 1 as written, 0.5 twice as fast, 0 without waiting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// As written.
    pub const AS_WRITTEN: Self = Self(1.0);

    /// The speed `factor`, at least `minimum`. `None` if one of them is negative or no finite number.
    pub fn new(factor: f64, minimum: f64) -> Option<Self> {
        let is_valid = |number: f64| number.is_finite() && number >= 0.0;
        (is_valid(factor) && is_valid(minimum)).then(|| Self(factor.max(minimum)))
    }

    /// When what is scheduled at `scheduled_ms` happens. Points in time are scaled, never the gaps between them, so
    /// that what is lost by rounding doesn't add up; what came before still does.
    pub fn at(self, scheduled_ms: u64) -> u64 {
        if self == Self::AS_WRITTEN {
            return scheduled_ms;
        }
        // What is too large for an integer becomes the largest one.
        (scheduled_ms as f64 * self.0).round() as u64
    }

    /// How long after `origin_ms` what is scheduled at `scheduled_ms` happens; 0 if it comes before.
    pub fn after(self, origin_ms: u64, scheduled_ms: u64) -> u64 {
        self.at(scheduled_ms).saturating_sub(self.at(origin_ms))
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self::AS_WRITTEN
    }
}
