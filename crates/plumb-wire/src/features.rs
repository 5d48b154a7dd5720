//! What a provider and the engine agreed on.

use plumb_proto::pulumirpc;

use crate::MarshalOptions;

/// What a provider understands, from Handshake or, with older providers, from Configure (`protocol.md` 4.2).
///
/// The default is a provider that understands nothing special: that is also what an older provider is until it has been
/// configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderFeatures {
    /// Secrets may be sent.
    pub accept_secrets: bool,
    /// Resource references may be sent.
    pub accept_resources: bool,
    /// Outputs may be sent with Construct and Call.
    pub accept_outputs: bool,
    /// Strings that are not valid UTF-8 may be sent.
    pub accepts_byte_strings: bool,
    /// Check may be told how to name resources.
    pub supports_autonaming: bool,
    /// Create and Update may be called in a preview.
    pub supports_preview: bool,
    /// Whether the provider answered Handshake; if so the answer to Configure changes nothing.
    pub handshake: bool,
}

impl ProviderFeatures {
    /// What the answer to Handshake says.
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

    /// These features after the answer to Configure, which counts only without a Handshake.
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

    /// Options for what is sent to the provider: what it accepts, outputs apart.
    pub fn request_options(&self) -> MarshalOptions {
        MarshalOptions::PLAIN
            .secrets(self.accept_secrets)
            .resources(self.accept_resources)
            .byte_strings(self.accepts_byte_strings)
            .nil(true)
    }
}
