//! TLS: rustls with ring, certificates as the system checks them.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::NetError;

/// Makes the configuration. Nothing of it is shared with others in the process.
pub(super) fn config() -> Result<ClientConfig, NetError> {
    let start = || {
        let provider = Arc::new(ring::default_provider());
        ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| NetError::Setup { reason: error.to_string() })
    };
    // A machine without certificates can still speak to itself; nobody else is trusted then.
    match start()?.with_platform_verifier() {
        Ok(config) => Ok(config.with_no_client_auth()),
        Err(_) => Ok(start()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth()),
    }
}
