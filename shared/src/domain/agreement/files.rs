//! The bytes of an agreement's evidence files: documents, uploads, payment documents, scans and proof of obligations.
//!
//! - Decision: a file that no bundle could hold is refused when filed. The agreement keeps the sum as a fact.
//! - Decision: a participant may file only while as much as they filed stays free for the others, and never what is
//!   reserved for members. So participants can't keep the proof of a payment out, alone or together.

use super::Agreement;
use super::facts::Facts;
use crate::domain::participant::receipt::Receipt;
use crate::domain::time::Timestamp;
use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::domain) enum Filer {
    Member,
    Participant(u64),
}

impl Filer {
    pub(in crate::domain) fn of_participant(receipts: &[Receipt]) -> Self {
        Self::Participant(receipts.iter().map(Receipt::file_bytes).fold(0, u64::saturating_add))
    }
}

impl Agreement {
    /// Whether the evidence has room for a file of `bytes`, filed by a participant with these receipts.
    #[must_use]
    pub fn has_room_for_participant(&self, bytes: u64, receipts: &[Receipt]) -> bool {
        self.has_room_for(self.facts(), bytes, Filer::of_participant(receipts))
    }

    #[must_use]
    pub(in crate::domain) fn with_file(&self, bytes: u64, now: Timestamp) -> Self {
        let mut after = Self { updated_at: now.max(self.updated_at), ..self.clone() };
        after.facts.file_bytes = after.facts.file_bytes.saturating_add(bytes);
        after
    }

    pub(in crate::domain) fn file_bytes(&self, facts: &Facts) -> u64 {
        let documents = self.documents.iter().filter_map(|document| document.content.as_ref());
        documents.fold(facts.file_bytes, |bytes, content| bytes.saturating_add(content.size_bytes))
    }

    pub(in crate::domain) fn has_room_for(&self, facts: &Facts, bytes: u64, filer: Filer) -> bool {
        const FOR_ALL: u64 = limits::BUNDLE_FILE_BYTES_MAX;
        const FOR_PARTICIPANTS: u64 = FOR_ALL - limits::BUNDLE_FILE_BYTES_OF_MEMBERS;
        let after = self.file_bytes(facts).saturating_add(bytes);
        match filer {
            Filer::Member => after <= FOR_ALL,
            Filer::Participant(before) => {
                FOR_PARTICIPANTS.checked_sub(after).is_some_and(|left| before.saturating_add(bytes) <= left)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{Deal, published};

    fn with_left(left: u64) -> (Agreement, Facts) {
        let agreement = published(&Deal::complete().draft);
        let documents = agreement.file_bytes(&Facts::none());
        assert!(documents > 0, "documents count");
        let facts = Facts { file_bytes: limits::BUNDLE_FILE_BYTES_MAX - documents - left, ..Facts::none() };
        (agreement, facts)
    }

    #[test]
    fn members_may_file_up_to_the_last_byte() {
        let (agreement, facts) = with_left(10);
        assert!(agreement.has_room_for(&facts, 10, Filer::Member));
        assert!(!agreement.has_room_for(&facts, 11, Filer::Member));
        assert!(!agreement.has_room_for(&facts, u64::MAX, Filer::Member));
    }

    #[test]
    fn participants_leave_as_much_as_they_take_and_what_is_reserved_for_members() {
        let (agreement, facts) = with_left(limits::BUNDLE_FILE_BYTES_OF_MEMBERS + 10);
        assert!(agreement.has_room_for(&facts, 5, Filer::Participant(0)), "half of what is left");
        assert!(!agreement.has_room_for(&facts, 6, Filer::Participant(0)));
        assert!(agreement.has_room_for(&facts, 1, Filer::Participant(8)), "with what they filed before");
        assert!(!agreement.has_room_for(&facts, 1, Filer::Participant(9)));
        assert!(!agreement.has_room_for(&facts, u64::MAX, Filer::Participant(0)));
        let (agreement, facts) = with_left(limits::BUNDLE_FILE_BYTES_OF_MEMBERS);
        assert!(!agreement.has_room_for(&facts, 1, Filer::Participant(0)));
        assert!(agreement.has_room_for(&facts, limits::BUNDLE_FILE_BYTES_OF_MEMBERS, Filer::Member));
    }

    #[test]
    fn no_participant_uses_up_everything() {
        const FILE: u64 = 1024 * 1024;
        let (agreement, mut facts) = with_left(200 * FILE);
        for participant in 0..5 {
            let mut own = 0;
            while agreement.has_room_for(&facts, FILE, Filer::Participant(own)) {
                own += FILE;
                facts.file_bytes += FILE;
            }
            assert!(own >= 5 * FILE, "participant {participant}: {own}");
        }
    }
}
