//! Kinds of steps.

/// Effect of a step on a resource (`engine.md` 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepOp {
    /// Leaves the resource unchanged.
    Same,
    /// Creates a new resource.
    Create,
    /// Changes a resource in place.
    Update,
    /// Deletes a resource.
    Delete,
    /// Marks a replacement; does nothing by itself.
    Replace,
    /// Creates the new half of a replacement.
    CreateReplacement,
    /// Deletes the old half of a replacement.
    DeleteReplaced,
    /// Reads an existing object.
    Read,
    /// Reads an object in place of a managed one.
    ReadReplacement,
    /// Compares the state with the actual object and takes over the difference.
    Refresh,
    /// Drops a read resource from the state.
    Discard,
    /// Drops a read resource that was replaced from the state.
    DiscardReplaced,
    /// Drops the entry of a resource that was deleted for a replacement which was never created.
    RemovePendingReplace,
    /// Imports an existing object.
    Import,
    /// Imports an existing object in place of a managed one.
    ImportReplacement,
}

impl StepOp {
    /// Every kind, in the order used by summaries.
    pub const ALL: [StepOp; 15] = [
        StepOp::Same,
        StepOp::Create,
        StepOp::Update,
        StepOp::Delete,
        StepOp::Replace,
        StepOp::CreateReplacement,
        StepOp::DeleteReplaced,
        StepOp::Read,
        StepOp::ReadReplacement,
        StepOp::Refresh,
        StepOp::Discard,
        StepOp::DiscardReplaced,
        StepOp::RemovePendingReplace,
        StepOp::Import,
        StepOp::ImportReplacement,
    ];

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        StepOp::ALL.into_iter().find(|op| op.as_str() == name)
    }

    /// The name in events, plans and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            StepOp::Same => "same",
            StepOp::Create => "create",
            StepOp::Update => "update",
            StepOp::Delete => "delete",
            StepOp::Replace => "replace",
            StepOp::CreateReplacement => "create-replacement",
            StepOp::DeleteReplaced => "delete-replaced",
            StepOp::Read => "read",
            StepOp::ReadReplacement => "read-replacement",
            StepOp::Refresh => "refresh",
            StepOp::Discard => "discard",
            StepOp::DiscardReplaced => "discard-replaced",
            StepOp::RemovePendingReplace => "remove-pending-replace",
            StepOp::Import => "import",
            StepOp::ImportReplacement => "import-replacement",
        }
    }

    /// Whether the summary counts steps of this kind, and outputs that the resource registers later are shown under them.
    pub fn is_logical(self) -> bool {
        !matches!(
            self,
            StepOp::CreateReplacement
                | StepOp::DeleteReplaced
                | StepOp::ReadReplacement
                | StepOp::Refresh
                | StepOp::DiscardReplaced
                | StepOp::RemovePendingReplace
                | StepOp::ImportReplacement
        )
    }

    /// Whether the step is part of a replacement.
    pub fn is_replacement(self) -> bool {
        matches!(
            self,
            StepOp::Replace
                | StepOp::CreateReplacement
                | StepOp::DeleteReplaced
                | StepOp::ReadReplacement
                | StepOp::DiscardReplaced
                | StepOp::RemovePendingReplace
                | StepOp::ImportReplacement
        )
    }

    /// The operation to record as pending while the step runs.
    pub fn operation_type(self) -> Option<OperationType> {
        match self {
            StepOp::Create | StepOp::CreateReplacement => Some(OperationType::Creating),
            StepOp::Update => Some(OperationType::Updating),
            StepOp::Delete | StepOp::DeleteReplaced | StepOp::Discard | StepOp::DiscardReplaced => {
                Some(OperationType::Deleting)
            }
            StepOp::Read | StepOp::ReadReplacement => Some(OperationType::Reading),
            StepOp::Import | StepOp::ImportReplacement => Some(OperationType::Importing),
            StepOp::Same | StepOp::Replace | StepOp::Refresh | StepOp::RemovePendingReplace => None,
        }
    }
}

/// Operation in flight for a resource when a snapshot was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationType {
    /// Create was sent.
    Creating,
    /// Update was sent.
    Updating,
    /// Delete was sent.
    Deleting,
    /// Read was sent.
    Reading,
    /// An import was sent.
    Importing,
}

impl OperationType {
    /// The name in state files.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationType::Creating => "creating",
            OperationType::Updating => "updating",
            OperationType::Deleting => "deleting",
            OperationType::Reading => "reading",
            OperationType::Importing => "importing",
        }
    }

    /// The operation with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "creating" => OperationType::Creating,
            "updating" => OperationType::Updating,
            "deleting" => OperationType::Deleting,
            "reading" => OperationType::Reading,
            "importing" => OperationType::Importing,
            _ => return None,
        })
    }
}
