//! Files with everything that a machine needs to join a fleet.

use std::path::Path;
use std::sync::Arc;

use async_nats::rustls::pki_types::{CertificateDer, pem::PemObject};
use async_nats::rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde::{Deserialize, Serialize};

use crate::FleetError;

/// Name of the user of coordinators. All others are workers.
pub(crate) const COORDINATOR: &str = "coordinator";

/// The server and a user of it, as `crownhead fleet up` writes them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credentials {
    /// URL of the server.
    pub(crate) url: String,
    /// Name of the user: `coordinator`, or the name of a worker.
    pub(crate) name: String,
    pub(crate) password: String,
    /// Certificate of the authority that signed the server's.
    pub(crate) ca: String,
}

impl Credentials {
    /// Reads a file.
    pub(crate) fn load(file: &Path) -> Result<Credentials, FleetError> {
        let failed = |error: String| FleetError::File(format!("{}: {error}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }

    /// Returns whether a file has this format, and not that of NATS.
    pub(crate) fn is_own_format(file: &Path) -> bool {
        std::fs::read_to_string(file).is_ok_and(|text| text.trim_start().starts_with('{'))
    }

    /// Trusts the authority of the fleet only.
    pub(crate) fn tls_config(&self) -> Result<ClientConfig, FleetError> {
        let failed = |error: &dyn std::fmt::Display| {
            FleetError::File(format!("the certificate in the credentials is invalid: {error}"))
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(self.ca.as_bytes()) {
            let certificate = certificate.map_err(|error| failed(&error))?;
            roots.add(certificate).map_err(|error| failed(&error))?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config =
            config.with_safe_default_protocol_versions().map_err(|error| failed(&error))?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }
}

/// Prefix of the subjects at which a user gets answers. Nobody else may subscribe to them.
pub(crate) fn inbox(name: &str) -> String {
    format!("_INBOX_{name}")
}
