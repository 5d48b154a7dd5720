//! Encrypted connections, and what of the server's certificate is verified.

use std::sync::Arc;

use plumb_provider::prelude::*;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::settings::{Encryption, Settings};

/// Makes encrypted connections as the settings have it.
pub(crate) fn connector(settings: &Settings) -> Result<MakeRustlsConnect> {
    let roots = settings.ssl_root_cert.as_deref();
    let is_verified = match settings.ssl_mode {
        Encryption::Disable | Encryption::Prefer => false,
        Encryption::Require => roots.is_some(),
        Encryption::VerifyCa | Encryption::VerifyFull => true,
    };
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        issuers: is_verified
            .then(|| issuers(roots, Arc::clone(&provider)))
            .transpose()?,
        any_name: settings.ssl_mode != Encryption::VerifyFull,
        provider: Arc::clone(&provider),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The issuers in the file, or else those that the system trusts.
fn issuers(file: Option<&str>, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
    let certificates = match file {
        Some(path) => {
            let text = std::fs::read(path).context(format!("cannot read `{path}`"))?;
            let certificates: std::result::Result<Vec<_>, _> =
                CertificateDer::pem_slice_iter(&text).collect();
            certificates.context(format!("`{path}` has no certificates"))?
        }
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    Ok(WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build()?)
}

/// Verifies certificates as the settings have it.
#[derive(Debug)]
struct Verifier {
    /// `None` if every certificate will do.
    issuers: Option<Arc<WebPkiServerVerifier>>,
    /// Whether the certificate may be for another host.
    any_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(issuers) = &self.issuers else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            issuers.verify_server_cert(certificate, intermediates, host, ocsp_response, now);
        match verified {
            // The name is checked last, so every other check has passed.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
