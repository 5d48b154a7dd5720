//! Features negotiated between a provider and the engine.

use plumb_proto::pulumirpc;

use crate::MarshalOptions;

/// Features of a provider, from Handshake or, for older providers, from Configure (`protocol.md` 4.2).
///
/// The default is a provider without features, which is also the state of an older provider until it has been configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderFeatures {
    /// Accepts secrets.
    pub accept_secrets: bool,
    /// Accepts resource references.
    pub accept_resources: bool,
    /// Accepts output values in Construct and Call.
    pub accept_outputs: bool,
    /// Accepts strings that are not valid UTF-8.
    pub accepts_byte_strings: bool,
    /// Accepts a rule for the resource's name in Check.
    pub supports_autonaming: bool,
    /// Supports Create and Update in previews.
    pub supports_preview: bool,
    /// Whether the provider answered Handshake; if so, the answer to Configure changes nothing.
    pub handshake: bool,
}

impl ProviderFeatures {
    /// The features in the response of Handshake.
    pub fn from_handshake(response: &pulumirpc::ProviderHandshakeResponse) -> Self {
        ProviderFeatures {
            accept_secrets: response.accept_secrets,
            accept_resources: response.accept_resources,
            accept_outputs: response.accept_outputs,
            accepts_byte_strings: response.accepts_byte_string,
            supports_autonaming: response.supports_autonaming_configuration,
            supports_preview: true,
            handshake: true,
        }
    }

    /// The features after the response of Configure, which is ignored after a Handshake.
    #[must_use]
    pub fn after_configure(self, response: &pulumirpc::ConfigureResponse) -> Self {
        if self.handshake {
            return self;
        }
        ProviderFeatures {
            accept_secrets: response.accept_secrets,
            accept_resources: response.accept_resources,
            accept_outputs: response.accept_outputs,
            accepts_byte_strings: false,
            supports_autonaming: response.supports_autonaming_configuration,
            supports_preview: response.supports_preview,
            handshake: false,
        }
    }

    /// Options for requests to the provider, by its features except output values.
    pub fn request_options(&self) -> MarshalOptions {
        MarshalOptions::PLAIN
            .secrets(self.accept_secrets)
            .resources(self.accept_resources)
            .byte_strings(self.accepts_byte_strings)
            .nil(true)
    }
}
