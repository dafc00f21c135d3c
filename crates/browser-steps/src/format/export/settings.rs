//! The options of steps, as far as exports say them.

use crate::model::{BrowserOptions, OnDialog, Viewport};
use cuecard_source::value::Json;

/// Reads what is well formed; the rest has its default, as the steps were made with options that were checked.
pub(super) fn settings(options: &Json) -> BrowserOptions {
    let mut settings = BrowserOptions::default();
    let number = |key: &str| options.get(key).and_then(Json::as_u64);
    let text = |key: &str| options.get(key).and_then(Json::as_str).map(str::to_owned);
    for (key, into) in [
        ("timeoutMs", &mut settings.timeout_ms),
        ("actionTimeoutMs", &mut settings.action_timeout_ms),
        ("assertTimeoutMs", &mut settings.assert_timeout_ms),
    ] {
        *into = number(key).unwrap_or(*into);
    }
    let side = |key: &str| {
        let side = options.pointer(&format!("/viewport/{key}"))?.as_u64()?;
        u32::try_from(side).ok()
    };
    if let (Some(width), Some(height)) = (side("width"), side("height")) {
        settings.viewport = Viewport { width, height };
    }
    settings.locale = text("locale").unwrap_or(settings.locale);
    settings.timezone = text("timezone").unwrap_or(settings.timezone);
    settings.test_id_attribute = text("testIdAttribute").unwrap_or(settings.test_id_attribute);
    settings.storage_state = text("storageState").map(Into::into);
    if text("onDialog").as_deref() == Some("accept") {
        settings.on_dialog = OnDialog::Accept;
    }
    settings
}
