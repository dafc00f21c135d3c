//! Scrolling in search of what is not rendered yet.

use super::bridge::BrowserBridge;
use crate::failure::Failure;
use crate::shapes::SearchMove;

impl BrowserBridge {
    /// Scrolls in search of an element. False when nothing moved.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn search(&mut self, way: SearchMove) -> Result<bool, Failure> {
        let ask = match way {
            SearchMove::Mark => "cuecard.markBegin()",
            SearchMove::Down => "cuecard.advance(1)",
            SearchMove::Up => "cuecard.advance(-1)",
            SearchMove::ToMark => "cuecard.goBackToBegin()",
            SearchMove::ToTop => "cuecard.rewind()",
        };
        self.happenings().begin();
        let world = self.world().await?;
        Ok(world.value(ask).await?.as_bool().unwrap_or(false))
    }
}
