use std::collections::BTreeSet;

use super::{ByMember, Counting, Member};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::papers::PendingPaper;
use crate::domain::agreement::{Agreement, Document, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::ids::{DocumentId, ParticipantId, SignatureBlockId};
use crate::domain::note::Note;
use crate::domain::paper_signature::{NewPaperSignature, PaperSignature, PaperState};
use crate::limits;

/// A recorded or decided paper signature, and the agreement that it may have advanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaperChange {
    /// The record.
    pub paper: PaperSignature,
    /// The agreement.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why a paper signature was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRecorded {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// The agreement has no such participant or document.
    Unknown,
    /// The participant has already signed the document.
    Done,
    /// A participant has declined, and no member has reopened the condition.
    Declined,
    /// The participant has nothing to sign in the document now.
    NotAsked,
    /// The document differs from the one shown.
    Replaced,
    /// The signature blocks differ from those shown.
    OtherBlocks,
    /// Another paper signature for the same blocks waits for a second member.
    Waiting,
    /// The participant has [`limits::PAPER_SIGNATURES_PER_PARTICIPANT_MAX`] recorded ones, including rejected ones.
    TooMany,
    /// The agreement has [`limits::PAPER_SIGNATURES_PENDING_MAX`] paper signatures that wait for a second member.
    TooManyWaiting,
    /// The agreement's evidence has no room for the scan.
    NoRoom,
    /// The scan is the unsigned document itself.
    Unsigned,
}

/// Why a paper signature was neither confirmed nor rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDecided {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// The member recorded it, and another member can confirm it.
    Own,
    /// The member counts as one with the recorder: one let the other in, or could act as them.
    OneSelf,
    /// It was already confirmed or rejected.
    Decided,
    /// The participant has signed on screen in the meantime.
    SignedOnScreen,
    /// A participant has declined, and no member has reopened the condition.
    Declined,
    /// The document differs from the signed one.
    Replaced,
    /// Its signature is no longer needed.
    NotAsked,
}

/// The decision on a paper signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaperDecision {
    /// It counts.
    Confirm,
    /// It doesn't, for this reason.
    Reject(Note),
}

/// Records that a participant signed a document on paper. `earlier` are the participant's recorded ones.
pub fn record_paper_signature(
    by: &Member,
    context: AgreementContext<'_>,
    earlier: &[PaperSignature],
    new: NewPaperSignature,
    counting: Counting,
) -> Result<PaperChange, NotRecorded> {
    let current = context.active().map_err(NotRecorded::NotActive)?;
    let (document, block_ids) = to_sign(&current, earlier, &new)?;
    let AgreementContext { facts, moment, .. } = context;
    let scan_bytes = new.scan.content.size_bytes;
    if !current.has_room_for(facts, scan_bytes, Filer::Member) {
        return Err(NotRecorded::NoRoom);
    }
    let paper = PaperSignature {
        id: new.id,
        participant_id: new.participant_id,
        name: new.name,
        signatory: new.signatory,
        document_id: document.id,
        document: document.name.clone(),
        sha256: new.shown_sha256,
        block_ids: block_ids.clone(),
        scan: new.scan,
        signed_on: new.signed_on,
        how_it_came: new.how_it_came,
        note: new.note,
        recorded_by: by.actor(),
        recorded_at: moment.at(),
        state: match counting {
            Counting::Alone => PaperState::CountedAlone { at: moment.at() },
            Counting::Confirmed | Counting::OneSelf => PaperState::Pending,
        },
    };
    Ok(match counting {
        Counting::Alone => counted(by, context, paper, scan_bytes),
        Counting::Confirmed | Counting::OneSelf => {
            let pending = PendingPaper { block_ids, recorded_by: by.id(), recorded_at: moment.at() };
            let after = current.with_pending_paper(paper.id, pending, scan_bytes, moment.at());
            PaperChange { paper, agreement: ByMember::new(after, by, moment), events: Vec::new() }
        }
    })
}

/// The document of a paper signature, and the blocks that it signs.
fn to_sign<'a>(
    current: &'a Agreement,
    earlier: &[PaperSignature],
    new: &NewPaperSignature,
) -> Result<(&'a Document, BTreeSet<SignatureBlockId>), NotRecorded> {
    let document = current.document(new.document_id).ok_or(NotRecorded::Unknown)?;
    current.participant(new.participant_id).ok_or(NotRecorded::Unknown)?;
    if current.has_signed(document, new.participant_id) {
        return Err(NotRecorded::Done);
    }
    let block_ids = current.blocks_to_sign(document, new.participant_id);
    if block_ids.is_empty() {
        let is_on_hold = current.is_on_hold_for(document, new.participant_id);
        return Err(if is_on_hold { NotRecorded::Declined } else { NotRecorded::NotAsked });
    }
    if document.content.as_ref().is_none_or(|content| content.sha256 != new.shown_sha256) {
        return Err(NotRecorded::Replaced);
    }
    if new.scan.content.sha256 == new.shown_sha256 {
        return Err(NotRecorded::Unsigned);
    }
    if new.shown_blocks != block_ids {
        return Err(NotRecorded::OtherBlocks);
    }
    if current.papers_to_confirm().any(|(_, paper)| !paper.block_ids.is_disjoint(&block_ids)) {
        return Err(NotRecorded::Waiting);
    }
    // First the errors that deciding other records can't resolve.
    if earlier.len() >= limits::PAPER_SIGNATURES_PER_PARTICIPANT_MAX {
        return Err(NotRecorded::TooMany);
    }
    if current.papers_to_confirm().count() >= limits::PAPER_SIGNATURES_PENDING_MAX {
        return Err(NotRecorded::TooManyWaiting);
    }
    Ok((document, block_ids))
}

/// Confirms or rejects a paper signature. Anyone may reject; confirming takes a second member, unless none counts.
pub fn decide_paper_signature(
    by: &Member,
    context: AgreementContext<'_>,
    paper: &PaperSignature,
    decision: PaperDecision,
    counting: Counting,
) -> Result<PaperChange, NotDecided> {
    if !paper.is_pending() {
        return Err(NotDecided::Decided);
    }
    let AgreementContext { moment, .. } = context;
    let current = context.active().map_err(NotDecided::NotActive)?;
    match decision {
        PaperDecision::Reject(reason) => {
            let state = PaperState::Rejected { by: by.actor(), at: moment.at(), reason };
            let after = current.into_owned().without_pending_paper(paper.id, moment.at());
            let paper = PaperSignature { state, ..paper.clone() };
            Ok(PaperChange { paper, agreement: ByMember::new(after, by, moment), events: Vec::new() })
        }
        PaperDecision::Confirm => {
            if let Some(obstacle) = obstacle(&current, paper) {
                return Err(obstacle);
            }
            if !current.papers_to_confirm().any(|(id, _)| id == paper.id) {
                return Err(NotDecided::Decided);
            }
            let is_own = paper.recorded_by.is_member(by.id());
            let state = match (counting, is_own) {
                (Counting::Alone, _) => PaperState::CountedAlone { at: moment.at() },
                (_, true) => return Err(NotDecided::Own),
                (Counting::OneSelf, false) => return Err(NotDecided::OneSelf),
                (Counting::Confirmed, false) => PaperState::Confirmed { by: by.actor(), at: moment.at() },
            };
            // The scan was counted when it was recorded.
            Ok(counted(by, context, PaperSignature { state, ..paper.clone() }, 0))
        }
    }
}

/// Why a paper signature can't be confirmed now. None if it can.
#[must_use]
pub fn obstacle(agreement: &Agreement, paper: &PaperSignature) -> Option<NotDecided> {
    if agreement.lifecycle() != Lifecycle::Active {
        return Some(NotDecided::NotActive(agreement.lifecycle()));
    }
    let Some(document) = agreement.document(paper.document_id) else { return Some(NotDecided::NotAsked) };
    if paper.block_ids.iter().any(|block| agreement.is_signed(*block)) {
        return Some(NotDecided::SignedOnScreen);
    }
    if document.content.as_ref().is_none_or(|content| content.sha256 != paper.sha256) {
        return Some(NotDecided::Replaced);
    }
    if paper.block_ids.is_subset(&agreement.blocks_to_sign(document, paper.participant_id)) {
        return None;
    }
    let is_on_hold = agreement.is_on_hold_for(document, paper.participant_id);
    Some(if is_on_hold { NotDecided::Declined } else { NotDecided::NotAsked })
}

fn counted(by: &Member, context: AgreementContext<'_>, paper: PaperSignature, scan_bytes: u64) -> PaperChange {
    let blocks = paper.block_ids.clone();
    let moment = context.moment;
    let after = context.recorded(|facts| {
        facts.signed.extend(blocks);
        facts.file_bytes += scan_bytes;
    });
    let after = after.without_pending_paper(paper.id, moment.at());
    let (document, participant): (DocumentId, ParticipantId) = (paper.document_id, paper.participant_id);
    let signature = after.signature_completion(document, participant);
    let events = signature.into_iter().chain(after.completion()).collect();
    PaperChange { paper, agreement: ByMember::new(after, by, moment), events }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::agreement::facts::Facts;
    use crate::domain::agreement::fixtures::{Deal, after, label, noon, published, time_scale};
    use crate::domain::agreement::gate::{GateRule, GateStatus};
    use crate::domain::agreement::{DocumentContent, DocumentState};
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::day::Day;
    use crate::domain::file_type::FileType;
    use crate::domain::ids::{GateId, MemberId, OrgId, PaperSignatureId, SignatureBlockId};
    use crate::domain::moment::Moment;
    use crate::domain::organization::{MemberRecord, Role};
    use crate::domain::paper_signature::Scan;

    fn member() -> Member {
        let (name, email) = (DisplayName::parse("Maren Holt").unwrap(), Email::parse("maren@example.org").unwrap());
        let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Member, created_at: noon() };
        Member::of_session(OrgId::new(), &record)
    }

    fn live() -> (Agreement, ParticipantId) {
        let deal = Deal::complete();
        let (ada, document) = (deal.draft.participants[0].id, deal.draft.documents[0].id);
        let mut draft = deal.draft;
        (draft.stages, draft.expires_at) = (Vec::new(), Some(after(48)));
        let (more, stage) = draft.add_stage(label("Step"), [].into(), noon()).unwrap();
        draft = more;
        let rule = GateRule::DocumentSigned { document_id: Some(document) };
        (published(&draft.add_gate(stage, rule, noon()).unwrap().0), ada)
    }

    fn context(agreement: &Agreement, hours: i64) -> AgreementContext<'_> {
        AgreementContext {
            agreement,
            facts: agreement.facts(),
            time_scale: time_scale(),
            moment: Moment::test(after(hours)),
        }
    }

    fn new(agreement: &Agreement, participant_id: ParticipantId) -> NewPaperSignature {
        let document = &agreement.documents[0];
        let content = DocumentContent { sha256: "7".repeat(64), size_bytes: 9 };
        NewPaperSignature {
            id: PaperSignatureId::new(),
            participant_id,
            name: DisplayName::parse("Ada").unwrap(),
            document_id: document.id,
            shown_sha256: document.content.as_ref().unwrap().sha256.clone(),
            shown_blocks: document.blocks.iter().map(|block| block.id).collect(),
            signatory: None,
            scan: Scan {
                file_name: label("Scan.pdf"),
                content,
                file_type: FileType::Pdf,
                has_pages_of_document: false,
            },
            signed_on: Day::parse("2026-03-13").unwrap(),
            how_it_came: label("By post"),
            note: None,
        }
    }

    fn record(by: &Member, agreement: &Agreement, new: NewPaperSignature) -> Result<PaperChange, NotRecorded> {
        record_paper_signature(by, context(agreement, 1), &[], new, Counting::Confirmed)
    }

    fn confirm(by: &Member, agreement: &Agreement, paper: &PaperSignature) -> Result<PaperChange, NotDecided> {
        decide_paper_signature(by, context(agreement, 2), paper, PaperDecision::Confirm, Counting::Confirmed)
    }

    fn reject(by: &Member, agreement: &Agreement, paper: &PaperSignature) -> Result<PaperChange, NotDecided> {
        let decision = PaperDecision::Reject(Note::parse("Not legible.").unwrap());
        decide_paper_signature(by, context(agreement, 2), paper, decision, Counting::Confirmed)
    }

    #[test]
    fn it_counts_once_another_member_confirms_it() {
        let (agreement, ada) = live();
        let (maren, jonas) = (member(), member());
        let recorded = record(&maren, &agreement, new(&agreement, ada)).unwrap();
        let scanned = Facts { file_bytes: 9, ..agreement.facts().clone() };
        assert_eq!((recorded.events.len(), recorded.agreement.facts()), (0, &scanned));
        assert_eq!(recorded.agreement.papers_to_confirm().count(), 1);
        assert_eq!(recorded.agreement.tasks_of(ada), agreement.tasks_of(ada), "she can still sign on screen");
        let again = record(&jonas, &recorded.agreement, new(&agreement, ada));
        assert_eq!(again, Err(NotRecorded::Waiting));
        assert_eq!(confirm(&maren, &recorded.agreement, &recorded.paper), Err(NotDecided::Own));

        let confirmed = confirm(&jonas, &recorded.agreement, &recorded.paper).unwrap();
        let PaperState::Confirmed { by, at } = &confirmed.paper.state else { panic!("{:?}", confirmed.paper.state) };
        assert_eq!((by, *at), (&jonas.actor(), after(2)));
        let [EventKind::SignatureCompleted(data), EventKind::AgreementCompleted(_)] = &confirmed.events[..] else {
            panic!("{:?}", confirmed.events)
        };
        assert_eq!((data.participant_id, data.document_id), (ada, agreement.documents[0].id));
        let after = &*confirmed.agreement;
        assert_eq!((after.lifecycle(), after.documents[0].state), (Lifecycle::Completed, DocumentState::Signed));
        assert_eq!(after.stages[0].gates[0].state.status(), GateStatus::Cleared);
        assert_eq!(after.pending_papers.len(), 0);
        assert_eq!(confirm(&jonas, &recorded.agreement, &confirmed.paper), Err(NotDecided::Decided));
        assert_eq!(reject(&jonas, &recorded.agreement, &confirmed.paper), Err(NotDecided::Decided));
        for change in [recorded, confirmed] {
            let stored: PaperSignature = serde_json::from_str(&serde_json::to_string(&change.paper).unwrap()).unwrap();
            assert_eq!(stored, change.paper);
            let stored: Agreement = serde_json::from_str(&serde_json::to_string(&*change.agreement).unwrap()).unwrap();
            assert_eq!(stored, *change.agreement);
        }
    }

    #[test]
    fn the_only_member_of_an_organization_is_taken_at_their_word() {
        let (agreement, ada) = live();
        let maren = member();
        let alone = (context(&agreement, 1), new(&agreement, ada));
        let counted = record_paper_signature(&maren, alone.0, &[], alone.1, Counting::Alone).unwrap();
        assert_eq!(counted.paper.state, PaperState::CountedAlone { at: after(1) });
        assert_eq!((counted.agreement.lifecycle(), counted.events.len()), (Lifecycle::Completed, 2));
        // Recorded while there was another member, since removed.
        let recorded = record(&maren, &agreement, new(&agreement, ada)).unwrap();
        let context = context(&recorded.agreement, 2);
        let confirmed =
            decide_paper_signature(&maren, context, &recorded.paper, PaperDecision::Confirm, Counting::Alone).unwrap();
        assert_eq!(confirmed.paper.state, PaperState::CountedAlone { at: after(2) }, "not as if confirmed");
        // A remaining member who didn't record it is a second member, unless both count as one.
        let jonas = member();
        let decide = |counting| {
            decide_paper_signature(&jonas, context, &recorded.paper, PaperDecision::Confirm, counting)
                .map(|change| change.paper.state)
        };
        assert!(matches!(decide(Counting::Confirmed), Ok(PaperState::Confirmed { .. })));
        assert_eq!(decide(Counting::OneSelf), Err(NotDecided::OneSelf));
        assert_eq!(decide(Counting::Alone), Ok(PaperState::CountedAlone { at: after(2) }));
    }

    #[test]
    fn a_scan_that_no_bundle_could_hold_is_refused() {
        let (agreement, ada) = live();
        let left = limits::BUNDLE_FILE_BYTES_MAX - agreement.file_bytes(agreement.facts());
        let maren = member();
        for counting in [Counting::Confirmed, Counting::Alone] {
            let record = |filed: u64| {
                let full = agreement.recorded(agreement.facts(), time_scale(), after(1), |facts| {
                    facts.file_bytes = filed;
                });
                record_paper_signature(&maren, context(&full, 1), &[], new(&agreement, ada), counting)
            };
            assert_eq!(record(left - 8), Err(NotRecorded::NoRoom));
            let recorded = record(left - 9).unwrap();
            assert_eq!(recorded.agreement.facts().file_bytes, left, "the scan counts, confirmed or not");
            if counting == Counting::Confirmed {
                let confirmed = confirm(&member(), &recorded.agreement, &recorded.paper).unwrap();
                assert_eq!(confirmed.agreement.facts().file_bytes, left, "and once");
            }
        }
    }

    #[test]
    fn a_rejected_one_never_counts_and_another_can_follow() {
        let (agreement, ada) = live();
        let (maren, jonas) = (member(), member());
        let recorded = record(&maren, &agreement, new(&agreement, ada)).unwrap();
        for by in [&maren, &jonas] {
            let rejected = reject(by, &recorded.agreement, &recorded.paper).unwrap();
            assert_eq!((rejected.events.len(), rejected.agreement.papers_to_confirm().count()), (0, 0));
            assert_eq!(confirm(&jonas, &rejected.agreement, &rejected.paper), Err(NotDecided::Decided));
            assert!(record(&maren, &rejected.agreement, new(&agreement, ada)).is_ok());
        }
    }

    #[test]
    fn what_happened_meanwhile_keeps_it_from_counting() {
        let (agreement, ada) = live();
        let (maren, jonas) = (member(), member());
        let recorded = record(&maren, &agreement, new(&agreement, ada)).unwrap();
        let (paper, before) = (&recorded.paper, Agreement::clone(&recorded.agreement));
        let blocks = paper.block_ids.clone();
        let mut longer = before.clone();
        let mut approval = longer.stages[0].gates[0].clone();
        (approval.id, approval.rule) = (GateId::new(), GateRule::ParticipantApproval { participant_ids: [ada].into() });
        longer.stages[0].gates.push(approval);
        let on_screen = longer.recorded(longer.facts(), time_scale(), after(1), |facts| facts.signed.extend(blocks));
        assert_eq!(confirm(&jonas, &on_screen, paper), Err(NotDecided::SignedOnScreen));
        assert_eq!(on_screen.papers_to_confirm().count(), 0, "it waits for no one");
        assert!(reject(&jonas, &on_screen, paper).is_ok(), "which is how it is closed");
        assert_eq!(record(&maren, &on_screen, new(&agreement, ada)), Err(NotRecorded::Done));

        let gate = [before.stages[0].gates[0].id].into();
        let declined = before.declined(before.facts(), time_scale(), after(1), &gate, ada);
        assert_eq!(confirm(&jonas, &declined, paper), Err(NotDecided::Declined));
        assert_eq!(record(&maren, &declined, new(&agreement, ada)), Err(NotRecorded::Declined));
        let mut replaced = before.clone();
        replaced.documents[0].content.as_mut().unwrap().sha256 = "1".repeat(64);
        assert_eq!(confirm(&jonas, &replaced, paper), Err(NotDecided::Replaced));
        let cancelled = before.cancelled(after(1));
        let ended = NotDecided::NotActive(Lifecycle::Cancelled);
        assert_eq!(confirm(&jonas, &cancelled, paper), Err(ended));
        assert_eq!(reject(&jonas, &cancelled, paper), Err(ended));
        assert_eq!(cancelled.papers_to_confirm().count(), 0);
        let late =
            decide_paper_signature(&jonas, context(&before, 48), paper, PaperDecision::Confirm, Counting::Confirmed);
        assert_eq!(late, Err(NotDecided::NotActive(Lifecycle::Expired)), "the clock has not recorded it yet");
    }

    #[test]
    fn only_what_the_participant_could_sign_now_is_recorded() {
        let (agreement, ada) = live();
        let (maren, ben) = (member(), agreement.participants[1].id);
        let refused = |new: NewPaperSignature| record(&maren, &agreement, new).map(|_| ());
        let of = |participant| new(&agreement, participant);
        assert_eq!(refused(of(ben)), Err(NotRecorded::NotAsked));
        assert_eq!(refused(of(ParticipantId::new())), Err(NotRecorded::Unknown));
        let unknown = NewPaperSignature { document_id: DocumentId::new(), ..of(ada) };
        assert_eq!(refused(unknown), Err(NotRecorded::Unknown));
        let other = NewPaperSignature { shown_sha256: "1".repeat(64), ..of(ada) };
        assert_eq!(refused(other), Err(NotRecorded::Replaced));
        let fewer = NewPaperSignature { shown_blocks: BTreeSet::new(), ..of(ada) };
        assert_eq!(refused(fewer), Err(NotRecorded::OtherBlocks));
    }

    #[test]
    fn a_participant_has_so_many_and_no_more() {
        let (agreement, ada) = live();
        let (maren, of_ada) = (member(), || new(&agreement, ada));
        let pending = record(&maren, &agreement, of_ada()).unwrap();
        let rejected = reject(&maren, &pending.agreement, &pending.paper).unwrap().paper;
        let with = |earlier: &[PaperSignature]| {
            record_paper_signature(&maren, context(&agreement, 1), earlier, of_ada(), Counting::Alone).map(|_| ())
        };
        let most = vec![rejected; limits::PAPER_SIGNATURES_PER_PARTICIPANT_MAX];
        assert_eq!(with(&most), Err(NotRecorded::TooMany));
        assert_eq!(with(&most[1..]), Ok(()), "rejected ones count, and the last one has its place");
    }

    #[test]
    fn so_many_wait_in_an_agreement_and_no_more() {
        let (agreement, ada) = live();
        let maren = member();
        let with_waiting = |count: usize| {
            let paper = || PendingPaper {
                block_ids: [SignatureBlockId::new()].into(),
                recorded_by: maren.id(),
                recorded_at: after(1),
            };
            let mut busy = agreement.clone();
            busy.pending_papers = (0..count).map(|_| (PaperSignatureId::new(), paper())).collect();
            busy
        };
        let most = with_waiting(limits::PAPER_SIGNATURES_PENDING_MAX);
        assert_eq!(record(&maren, &most, new(&agreement, ada)), Err(NotRecorded::TooManyWaiting));
        let fewer = with_waiting(limits::PAPER_SIGNATURES_PENDING_MAX - 1);
        assert!(record(&maren, &fewer, new(&agreement, ada)).is_ok());
        let paper = record(&maren, &agreement, new(&agreement, ada)).unwrap().paper;
        let both = vec![paper; limits::PAPER_SIGNATURES_PER_PARTICIPANT_MAX];
        let refused =
            record_paper_signature(&maren, context(&most, 1), &both, new(&agreement, ada), Counting::Confirmed);
        assert_eq!(refused, Err(NotRecorded::TooMany), "which no decision changes");
    }
}
