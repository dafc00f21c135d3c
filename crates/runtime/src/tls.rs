//! The one place that chooses the cryptography behind TLS.

use std::sync::Once;

/// Installs the process-wide TLS provider (ring). Call it before building an HTTP client, which panics
/// without one; only the first call has an effect.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // An error means that somebody installed a provider before us, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_client_can_be_built_after_any_number_of_calls() {
        super::install();
        super::install();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
        assert!(reqwest::Client::builder().build().is_ok());
    }
}
