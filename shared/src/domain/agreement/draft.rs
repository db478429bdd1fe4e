//! Writable drafts: the check that every edit passes on its way to the store.

use std::ops::Deref;

use super::{Agreement, Lifecycle};
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

/// A draft within the size limit. Without a member's act, only drafts are written: no edit publishes or cancels.
///
/// ```
/// use shared::domain::agreement::{Agreement, Lifecycle};
///
/// fn name(agreement: &Agreement) -> Option<&str> {
///     let draft = agreement.as_draft().ok()?;
///     assert_eq!(draft.lifecycle(), Lifecycle::Draft);
///     Some(agreement.name.as_str())
/// }
/// ```
///
/// The state of an agreement can't be set:
///
/// ```compile_fail
/// use shared::domain::agreement::{Agreement, Life};
/// use shared::domain::time::Timestamp;
///
/// fn publish(mut agreement: Agreement, published_at: Timestamp) -> Agreement {
///     agreement.life = Life::Active { published_at };
///     agreement
/// }
/// ```
///
/// Nor can its id, so that no draft is written in place of an active agreement:
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
///
/// fn in_place_of(active: &Agreement, mut draft: Agreement) -> Agreement {
///     draft.id = active.id();
///     draft
/// }
/// ```
///
/// And nothing else makes a draft:
///
/// ```compile_fail
/// use shared::domain::agreement::Agreement;
/// use shared::domain::agreement::draft::Draft;
///
/// fn unchecked(agreement: Agreement) -> Draft {
///     Draft(agreement)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft(Agreement);

impl Deref for Draft {
    type Target = Agreement;

    fn deref(&self) -> &Agreement {
        &self.0
    }
}

/// Why an agreement can't be written as a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotEditable {
    /// It has been published or cancelled.
    NotADraft,
    /// It exceeds the size limit.
    TooLarge,
}

impl NotEditable {
    /// The error at the field that names the agreement.
    #[must_use]
    pub fn at(self, field: &str) -> FieldErrors {
        match self {
            Self::NotADraft => FieldErrors::one(field, FieldCode::WrongState, "only a draft can be changed"),
            Self::TooLarge => {
                let message = "the agreement is as large as one may be; shorten its texts, or split it";
                FieldErrors::one(field, FieldCode::LimitReached, message)
            }
        }
    }
}

impl Agreement {
    /// The agreement as a writable draft, if it is a draft and its stored form fits the size limit.
    pub fn as_draft(&self) -> Result<Draft, NotEditable> {
        if self.lifecycle() != Lifecycle::Draft {
            return Err(NotEditable::NotADraft);
        }
        let bytes = serde_json::to_vec(self).map_or(usize::MAX, |bytes| bytes.len());
        if bytes > limits::AGREEMENT_BYTES_MAX {
            return Err(NotEditable::TooLarge);
        }
        Ok(Draft(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Deal, label, noon, published};
    use super::*;

    fn refused(agreement: &Agreement) -> FieldCode {
        let error = agreement.as_draft().unwrap_err().at("path.agreement_id").into_list().remove(0);
        assert_eq!(error.field, "path.agreement_id");
        error.code
    }

    #[test]
    fn only_a_draft_is_one() {
        let draft = Deal::complete().draft;
        assert_eq!(*draft.as_draft().unwrap(), draft);
        assert_eq!(refused(&published(&draft)), FieldCode::WrongState);
        assert_eq!(refused(&draft.cancelled(noon())), FieldCode::WrongState);
    }

    #[test]
    fn whatever_makes_it_too_large_is_refused() {
        let mut draft = Deal::complete().draft;
        let question = super::super::fixtures::question(&"w".repeat(limits::NAME_CHARS_MAX));
        let fields = vec![question; limits::GATE_FIELDS_MAX];
        let rule = super::super::gate::GateRule::InformationRequest { participant_ids: [].into(), fields };
        while draft.as_draft().is_ok() {
            let (more, stage) = draft.add_stage(label("More"), [].into(), noon()).unwrap();
            draft = more;
            for _ in 0..10 {
                draft = draft.add_gate(stage, rule.clone(), noon()).unwrap().0;
            }
        }
        assert_eq!(refused(&draft), FieldCode::LimitReached);
    }
}
