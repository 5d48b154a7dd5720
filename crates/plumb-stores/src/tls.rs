//! Verification of a database server's certificate, as configured by `sslmode`.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;

/// Level of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// `disable`: no encryption.
    Clear,
    /// `require`: encryption without verification, unless root certificates are configured.
    Encrypted,
    /// `verify-ca`: the certificate must have a trusted issuer.
    Signed,
    /// `verify-full`: the certificate must also match the host name.
    Named,
}

impl Trust {
    /// Level for an `sslmode`; `None` if it is unknown.
    pub(crate) fn of(mode: &str) -> Option<Self> {
        match mode {
            "disable" => Some(Trust::Clear),
            "require" => Some(Trust::Encrypted),
            "verify-ca" => Some(Trust::Signed),
            "verify-full" => Some(Trust::Named),
            _ => None,
        }
    }
}

/// TLS connector; `None` for connections without encryption.
pub(crate) fn connector(
    trust: Trust,
    roots: Option<&str>,
) -> Result<Option<MakeRustlsConnect>, OpenError> {
    let trust = match (trust, roots) {
        (Trust::Clear, _) => return Ok(None),
        // As in PostgreSQL's own clients: configured certificates are always used for verification.
        (Trust::Encrypted, Some(_)) => Trust::Signed,
        (trust, _) => trust,
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let (given, known) = match trust {
        Trust::Clear | Trust::Encrypted => (Vec::new(), None),
        Trust::Signed | Trust::Named => {
            let given = certificates(roots)?;
            let known = verifier(given.clone(), provider.clone())?;
            (given, Some(known))
        }
    };
    let verifier = Verifier {
        trust,
        given,
        known,
        provider: provider.clone(),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// Root certificates from a file, otherwise those of the system.
fn certificates(roots: Option<&str>) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let Some(path) = roots else {
        return Ok(rustls_native_certs::load_native_certs().certs);
    };
    let text = std::fs::read(Path::new(path)).map_err(|source| OpenError::File {
        path: path.to_owned(),
        source,
    })?;
    let found = CertificateDer::pem_slice_iter(&text);
    Ok(found.filter_map(Result::ok).collect())
}

fn verifier(
    given: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, OpenError> {
    let settings = |problem: String| OpenError::Settings {
        url: "postgres://".to_owned(),
        problem,
    };
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(given);
    if store.is_empty() {
        return Err(settings("there are no certificates to trust".to_owned()));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
        .build()
        .map_err(|error| settings(error.to_string()))
}

/// Verifies certificates according to `sslmode`.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    /// Configured root certificates.
    given: Vec<CertificateDer<'static>>,
    known: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else {
            return Ok(ServerCertVerified::assertion());
        };
        // A self-signed server certificate that is itself configured has no chain to a root.
        if self
            .given
            .iter()
            .any(|given| given.as_ref() == end_entity.as_ref())
        {
            if self.trust == Trust::Named {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        let verified =
            known.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is checked last, so every other check has passed.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.trust == Trust::Signed => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
