//! Scrolling in search of what is not rendered yet.

use super::bridge::BrowserBridge;
use crate::browser::error::BrowserError;

impl BrowserBridge {
    /// Scrolls everything that scrolls on by most of what it shows. False when all of it was at its end.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn advance(&mut self) -> Result<bool, BrowserError> {
        self.scrolled("cuecard.advance()").await
    }

    /// Scrolls everything that scrolls back to its beginning. False when all of it was there.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn rewind(&mut self) -> Result<bool, BrowserError> {
        self.scrolled("cuecard.rewind()").await
    }

    async fn scrolled(&mut self, ask: &str) -> Result<bool, BrowserError> {
        self.happenings().begin();
        let world = self.world().await?;
        Ok(world.value(ask).await?.as_bool().unwrap_or(false))
    }
}
