//! What a peer understands, and what a call may carry.

/// How property values are written and read (`protocol.md` 2.5).
///
/// Start from [`MarshalOptions::PLAIN`] and switch on what the call has; every method takes the condition, so that
/// negotiated features can be passed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarshalOptions {
    /// Unknowns travel. Otherwise a map entry that is unknown is left out; an array element is left out when written
    /// and becomes null when read.
    pub keep_unknowns: bool,
    /// An unknown is an error, whatever `keep_unknowns` says.
    pub reject_unknowns: bool,
    /// Map entries that are null are left out.
    pub skip_nulls: bool,
    /// Secrets travel as such, otherwise as the plain value.
    pub keep_secrets: bool,
    /// Resource references travel as such, otherwise as the id or the URN.
    pub keep_resources: bool,
    /// Outputs travel as such, otherwise as plain, secret or unknown values.
    pub keep_output_values: bool,
    /// Strings that are not valid UTF-8 may be written. They can always be read.
    pub keep_byte_strings: bool,
    /// With `keep_output_values`: secrets and unknowns become outputs.
    pub upgrade_to_output_values: bool,
    /// Of assets and archives only the hash is written.
    pub elide_asset_contents: bool,
    /// An asset or archive is an error.
    pub reject_assets: bool,
    /// Top-level keys that start with `__` are left out.
    pub skip_internal_keys: bool,
    /// No map is not the same as an empty map.
    pub propagate_nil: bool,
}

impl MarshalOptions {
    /// Everything off.
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

    /// Unknowns, secrets and resource references kept: what most calls have in common.
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

    /// Whether secrets and unknowns are to become outputs.
    pub(crate) const fn upgrades(self) -> bool {
        self.keep_output_values && self.upgrade_to_output_values
    }
}

/// Options of the resource monitor, seen from the engine (`protocol.md` 3.3).
///
/// Where hashes of assets are wanted, run [`fill_hashes`](crate::assets::fill_hashes) on what was read.
pub mod monitor {
    use super::MarshalOptions;

    /// Reads `object` of RegisterResource. Wants hashes.
    pub const REGISTER_OBJECT: MarshalOptions = MarshalOptions::RICH.outputs(true).upgraded(true);
    /// Reads `replacement_trigger` of RegisterResource. Wants hashes.
    pub const REPLACEMENT_TRIGGER: MarshalOptions = MarshalOptions::RICH.outputs(true);
    /// Reads `outputs` of RegisterResourceOutputs. Wants hashes.
    pub const REGISTER_OUTPUTS: MarshalOptions = MarshalOptions::RICH;
    /// Reads `properties` of ReadResource.
    pub const READ_PROPERTIES: MarshalOptions = MarshalOptions::RICH;
    /// Reads `args` of Invoke.
    pub const INVOKE_ARGS: MarshalOptions = MarshalOptions::RICH;
    /// Reads `args` of Call.
    pub const CALL_ARGS: MarshalOptions = MarshalOptions::RICH.outputs(true);
    /// Writes `return` of Call.
    pub const CALL_RETURN: MarshalOptions = MarshalOptions::RICH.byte_strings(true);

    /// Writes answers of RegisterResource and ReadResource, as the request's flags allow.
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

    /// Writes `return` of Invoke; `accept_resources` counts as set for `pulumi:pulumi:getResource`.
    pub const fn invoke_return(accept_resources: bool) -> MarshalOptions {
        state(true, accept_resources, true)
    }
}

/// Options of calls to other peers, seen from the engine (`protocol.md` 3.4).
pub mod peers {
    use super::MarshalOptions;

    /// Reads views that providers report to ResourceStatus.
    pub const VIEW_STATE: MarshalOptions = MarshalOptions::PLAIN.unknowns(true).secrets(true);
    /// Writes resources for Analyze and AnalyzeStack.
    pub const ANALYZER: MarshalOptions = MarshalOptions::PLAIN
        .unknowns(true)
        .secrets(true)
        .without_internal_keys(true);
    /// Writes and reads resources for Remediate.
    pub const REMEDIATE: MarshalOptions = MarshalOptions::PLAIN.unknowns(true).secrets(true);
    /// Reads states of converters.
    pub const CONVERTER: MarshalOptions = MarshalOptions::PLAIN.secrets(true);

    /// Writes and reads what transforms and hooks get and answer.
    pub const fn callback(accepts_byte_string: bool) -> MarshalOptions {
        MarshalOptions::RICH
            .outputs(true)
            .byte_strings(accepts_byte_string)
    }
}
