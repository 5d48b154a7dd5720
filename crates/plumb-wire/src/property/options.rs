//! Options for encoding and decoding, by call and features of the peer.

/// Options for encoding and decoding property values (`protocol.md` 2.5).
///
/// Start with [`MarshalOptions::PLAIN`] and enable the options of the call. Every method takes a condition, so that
/// negotiated features can be passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarshalOptions {
    /// Unknowns are kept. Otherwise unknown map entries are omitted; unknown array elements are omitted when encoded, and
    /// become null when decoded.
    pub keep_unknowns: bool,
    /// An unknown is an error, even with `keep_unknowns`.
    pub reject_unknowns: bool,
    /// Null map entries are omitted.
    pub skip_nulls: bool,
    /// Secrets are kept; otherwise they become plain values.
    pub keep_secrets: bool,
    /// Resource references are kept; otherwise they become the id or the URN.
    pub keep_resources: bool,
    /// Outputs are kept; otherwise they become plain, secret or unknown values.
    pub keep_output_values: bool,
    /// Strings that are not valid UTF-8 may be encoded. They can always be decoded.
    pub keep_byte_strings: bool,
    /// Secrets and unknowns become outputs. Requires `keep_output_values`.
    pub upgrade_to_output_values: bool,
    /// Only the hash of assets and archives is encoded.
    pub elide_asset_contents: bool,
    /// An asset or archive is an error.
    pub reject_assets: bool,
    /// Top-level keys that start with `__` are omitted.
    pub skip_internal_keys: bool,
    /// An absent map is distinguished from an empty map.
    pub propagate_nil: bool,
}

impl MarshalOptions {
    /// No option is set.
    pub const PLAIN: MarshalOptions = MarshalOptions {
        keep_unknowns: false,
        reject_unknowns: false,
        skip_nulls: false,
        keep_secrets: false,
        keep_resources: false,
        keep_output_values: false,
        keep_byte_strings: false,
        upgrade_to_output_values: false,
        elide_asset_contents: false,
        reject_assets: false,
        skip_internal_keys: false,
        propagate_nil: false,
    };

    /// Unknowns, secrets and resource references are kept, as in most calls.
    pub const RICH: MarshalOptions = MarshalOptions::PLAIN
        .unknowns(true)
        .secrets(true)
        .resources(true);

    /// Sets [`MarshalOptions::keep_unknowns`].
    #[must_use]
    pub const fn unknowns(mut self, keep: bool) -> Self {
        self.keep_unknowns = keep;
        self
    }

    /// Sets [`MarshalOptions::keep_unknowns`] when `allowed`, else [`MarshalOptions::reject_unknowns`].
    #[must_use]
    pub const fn unknowns_or_reject(mut self, allowed: bool) -> Self {
        self.keep_unknowns = allowed;
        self.reject_unknowns = !allowed;
        self
    }

    /// Sets [`MarshalOptions::skip_nulls`].
    #[must_use]
    pub const fn without_nulls(mut self, skip: bool) -> Self {
        self.skip_nulls = skip;
        self
    }

    /// Sets [`MarshalOptions::keep_secrets`].
    #[must_use]
    pub const fn secrets(mut self, keep: bool) -> Self {
        self.keep_secrets = keep;
        self
    }

    /// Sets [`MarshalOptions::keep_resources`].
    #[must_use]
    pub const fn resources(mut self, keep: bool) -> Self {
        self.keep_resources = keep;
        self
    }

    /// Sets [`MarshalOptions::keep_output_values`].
    #[must_use]
    pub const fn outputs(mut self, keep: bool) -> Self {
        self.keep_output_values = keep;
        self
    }

    /// Sets [`MarshalOptions::keep_byte_strings`].
    #[must_use]
    pub const fn byte_strings(mut self, keep: bool) -> Self {
        self.keep_byte_strings = keep;
        self
    }

    /// Sets [`MarshalOptions::upgrade_to_output_values`].
    #[must_use]
    pub const fn upgraded(mut self, upgrade: bool) -> Self {
        self.upgrade_to_output_values = upgrade;
        self
    }

    /// Sets [`MarshalOptions::elide_asset_contents`].
    #[must_use]
    pub const fn elided(mut self, elide: bool) -> Self {
        self.elide_asset_contents = elide;
        self
    }

    /// Sets [`MarshalOptions::reject_assets`].
    #[must_use]
    pub const fn no_assets(mut self, reject: bool) -> Self {
        self.reject_assets = reject;
        self
    }

    /// Sets [`MarshalOptions::skip_internal_keys`].
    #[must_use]
    pub const fn without_internal_keys(mut self, skip: bool) -> Self {
        self.skip_internal_keys = skip;
        self
    }

    /// Sets [`MarshalOptions::propagate_nil`].
    #[must_use]
    pub const fn nil(mut self, propagate: bool) -> Self {
        self.propagate_nil = propagate;
        self
    }

    /// Whether secrets and unknowns become outputs.
    pub(crate) const fn upgrades(self) -> bool {
        self.keep_output_values && self.upgrade_to_output_values
    }
}

/// Options of the resource monitor, from the engine's side (`protocol.md` 3.3).
///
/// If hashes of assets are required, call [`fill_hashes`](crate::assets::fill_hashes) on the decoded map.
pub mod monitor {
    use super::MarshalOptions;

    /// Decodes `object` of RegisterResource. Hashes are required.
    pub const REGISTER_OBJECT: MarshalOptions = MarshalOptions::RICH.outputs(true).upgraded(true);
    /// Decodes `replacement_trigger` of RegisterResource. Hashes are required.
    pub const REPLACEMENT_TRIGGER: MarshalOptions = MarshalOptions::RICH.outputs(true);
    /// Decodes `outputs` of RegisterResourceOutputs. Hashes are required.
    pub const REGISTER_OUTPUTS: MarshalOptions = MarshalOptions::RICH;
    /// Decodes `properties` of ReadResource.
    pub const READ_PROPERTIES: MarshalOptions = MarshalOptions::RICH;
    /// Decodes `args` of Invoke.
    pub const INVOKE_ARGS: MarshalOptions = MarshalOptions::RICH;
    /// Decodes `args` of Call.
    pub const CALL_ARGS: MarshalOptions = MarshalOptions::RICH.outputs(true);
    /// Encodes `return` of Call.
    pub const CALL_RETURN: MarshalOptions = MarshalOptions::RICH.byte_strings(true);

    /// Encodes responses of RegisterResource and ReadResource, according to the flags of the request.
    pub const fn state(
        accept_secrets: bool,
        accept_resources: bool,
        accept_byte_strings: bool,
    ) -> MarshalOptions {
        MarshalOptions::PLAIN
            .unknowns(true)
            .secrets(accept_secrets)
            .resources(accept_resources)
            .byte_strings(accept_byte_strings)
    }

    /// Encodes `return` of Invoke; `accept_resources` counts as set for `pulumi:pulumi:getResource`.
    pub const fn invoke_return(accept_resources: bool) -> MarshalOptions {
        state(true, accept_resources, true)
    }
}

/// Options of calls to other peers, from the engine's side (`protocol.md` 3.4).
pub mod peers {
    use super::MarshalOptions;

    /// Decodes views that providers publish to ResourceStatus.
    pub const VIEW_STATE: MarshalOptions = MarshalOptions::PLAIN.unknowns(true).secrets(true);
    /// Encodes resources for Analyze and AnalyzeStack.
    pub const ANALYZER: MarshalOptions = MarshalOptions::PLAIN
        .unknowns(true)
        .secrets(true)
        .without_internal_keys(true);
    /// Encodes and decodes resources for Remediate.
    pub const REMEDIATE: MarshalOptions = MarshalOptions::PLAIN.unknowns(true).secrets(true);
    /// Decodes states from converters.
    pub const CONVERTER: MarshalOptions = MarshalOptions::PLAIN.secrets(true);

    /// Encodes and decodes arguments and results of transforms and hooks.
    pub const fn callback(accepts_byte_string: bool) -> MarshalOptions {
        MarshalOptions::RICH
            .outputs(true)
            .byte_strings(accepts_byte_string)
    }
}
