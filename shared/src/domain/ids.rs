//! All ids of the service. They are `UUIDv7`, so ids sort by creation.

use std::fmt;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::wire::fields::{FieldCode, FieldErrors};

/// Parses a uuid as the API writes it: hyphenated; upper case is accepted.
fn parse_uuid(text: &str) -> Option<Uuid> {
    const HYPHENATED_CHARS: usize = 36;
    (text.len() == HYPHENATED_CHARS).then(|| Uuid::try_parse(text).ok()).flatten()
}

macro_rules! ids {
    ($($(#[$about:meta])* $name:ident;)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = Uuid, example = "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35")]
        pub struct $name(Uuid);

        impl $name {
            /// A new id, greater than all earlier ones.
            #[must_use]
            #[allow(clippy::new_without_default, reason = "two new ids are never equal, so none is the default")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The id as used by the API, the store and logs.
            #[must_use]
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_uuid(text).map(Self).ok_or(InvalidId)
            }
        }

        impl Deserr<FieldErrors> for $name {
            fn deserialize_from_value<V: IntoValue>(
                value: Value<V>,
                location: ValuePointerRef<'_>,
            ) -> Result<Self, FieldErrors> {
                let text = String::deserialize_from_value(value, location)?;
                parse_uuid(&text).map(Self).ok_or_else(|| {
                    FieldErrors::at(location, FieldCode::InvalidFormat, "must be a uuid such as 01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35")
                })
            }
        }
    )+};
}

/// The text is not a uuid.
#[derive(Debug, thiserror::Error)]
#[error("not a uuid")]
pub struct InvalidId;

ids! {
    /// An agreement.
    AgreementId;
    /// A person or entity that an organization knows.
    ContactId;
    /// A document of an agreement.
    DocumentId;
    /// An endpoint, to which an organization's events are delivered.
    EndpointId;
    /// Evidence that was filed for a movement.
    EvidenceId;
    /// An event that subscribers get.
    EventId;
    /// A question of an information request.
    FieldId;
    /// One asset that has to move into a trust.
    FundingItemId;
    /// A condition of a stage.
    GateId;
    /// An invitation to an organization.
    InvitationId;
    /// A member of an organization, who signs in to the app.
    MemberId;
    /// Money that moves between real banks.
    MovementId;
    /// A promise of an agreement that is owed.
    ObligationId;
    /// One time at which an obligation is due.
    OccurrenceId;
    /// An organization: the tenant that every record belongs to.
    OrgId;
    /// An account that a member marked as the organization's own.
    OwnAccountId;
    /// A record that a participant signed a document on paper.
    PaperSignatureId;
    /// A contact's part in an agreement.
    ParticipantId;
    /// A promise in an agreement, which becomes an obligation.
    PromiseId;
    /// Proof from the receiving side that an asset moved into a trust.
    ProofId;
    /// A protected effect that waits for a member's decision.
    ProposalId;
    /// What an act of a participant left behind.
    ReceiptId;
    /// One call, quoted to support.
    RequestId;
    /// A session of the app, as its account knows it.
    SessionId;
    /// A place where a participant signs.
    SignatureBlockId;
    /// A step of an agreement.
    StageId;
    /// A bank statement that a member uploaded.
    StatementId;
    /// A participant's answers to an information request, as they were sent.
    SubmissionId;
    /// A template that a member kept of an agreement.
    TemplateId;
    /// An organization's access token; not the secret value itself.
    TokenId;
    /// An event that makes a promise due, once a person declares that it happened.
    TriggerId;
    /// A trust whose funding is run.
    TrustId;
    /// A record that a participant's identity was verified.
    VerificationId;
    /// One deal or matter.
    WorkspaceId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hyphenated_form_is_an_id() {
        let id = ContactId::new();
        assert_eq!(id.to_string().parse::<ContactId>().unwrap(), id);
        assert_eq!(id.to_string().to_uppercase().parse::<ContactId>().unwrap(), id);
        for text in
            ["", "1", &id.uuid().simple().to_string(), &id.uuid().braced().to_string(), &id.uuid().urn().to_string()]
        {
            assert!(text.parse::<ContactId>().is_err(), "{text}");
        }
    }

    #[test]
    fn later_ids_are_greater() {
        let ids: Vec<_> = (0..1000).map(|_| ContactId::new()).collect();
        assert!(ids.is_sorted());
    }
}
