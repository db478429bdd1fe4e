//! Participants sign, approve, upload and decline: each act requires consent, and leaves a receipt.

use std::collections::BTreeSet;

use super::receipt::{Origin, Receipt, ReceiptAct, Signatory, Signature};
use super::{ActingParticipant, ByParticipant};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::files::Filer;
use crate::domain::agreement::gate::{Gate, GateRule, GateStatus};
use crate::domain::agreement::{Agreement, Document, DocumentContent, Label, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::file_type::FileType;
use crate::domain::ids::{DocumentId, GateId, ReceiptId, SignatureBlockId};
use crate::domain::moment::Moment;
use crate::domain::note::Note;

/// An act, and the agreement that it may have advanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acted {
    /// The act's receipt.
    pub receipt: Receipt,
    /// The agreement.
    pub agreement: ByParticipant<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why an act was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotActed {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// The participant has not consented to electronic records, or has withdrawn consent.
    NoConsent,
    /// The participant has already done it.
    Done,
    /// A participant has declined, and no member has reopened the condition.
    Declined,
    /// The agreement doesn't ask the participant for it, now or at all.
    NotAsked,
    /// The document differs from the one shown.
    Replaced,
    /// The signature blocks differ from those shown.
    OtherBlocks,
    /// The participant isn't a person and the signatory is missing, or vice versa.
    OtherSigner,
    /// The draft of the answers was saved in another window since this page was shown.
    OtherDraft,
    /// The answers exceed [`limits::ANSWERS_BYTES_MAX`](crate::limits::ANSWERS_BYTES_MAX) bytes.
    TooLong,
    /// All answers sent in the agreement would exceed [`INFORMATION_BYTES_MAX`](crate::limits::INFORMATION_BYTES_MAX).
    TooMuch,
    /// The agreement's evidence has no room for the file, or none for this participant.
    NoRoom,
    /// The participant has reached the limit of [`Repeatable`](super::receipt::Repeatable).
    TooOften,
}

impl From<Lifecycle> for NotActed {
    fn from(lifecycle: Lifecycle) -> Self {
        Self::NotActive(lifecycle)
    }
}

/// The form of an act: its id and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// The id of the receipt.
    pub id: ReceiptId,
    /// The origin of the act.
    pub origin: Origin,
}

/// What a participant signs, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signing {
    /// The document.
    pub document_id: DocumentId,
    /// The SHA-256 of the bytes shown.
    pub shown_sha256: String,
    /// The blocks shown as those to sign now.
    pub shown_blocks: BTreeSet<SignatureBlockId>,
    /// The signature.
    pub signature: Signature,
    /// Who signs for a participant that is not a person.
    pub signatory: Option<Signatory>,
    /// The sentence above the button.
    pub statement: String,
}

/// Signs all blocks of a document that the participant may sign now.
pub fn sign(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    signing: Signing,
) -> Result<Acted, NotActed> {
    let current = context.active()?;
    let document = current.document(signing.document_id).ok_or(NotActed::NotAsked)?;
    if current.has_signed(document, by.id()) {
        return Err(NotActed::Done);
    }
    let block_ids = current.blocks_to_sign(document, by.id());
    if block_ids.is_empty() {
        return Err(not_to_sign(&current, document, by));
    }
    if document.content.as_ref().is_none_or(|content| content.sha256 != signing.shown_sha256) {
        return Err(NotActed::Replaced);
    }
    // Signs only what was shown, no block opened since by a member or another step.
    if signing.shown_blocks != block_ids {
        return Err(NotActed::OtherBlocks);
    }
    if by.is_person(&current) == signing.signatory.is_some() {
        return Err(NotActed::OtherSigner);
    }
    let act = ReceiptAct::Signed {
        document_id: document.id,
        document: document.name.clone(),
        sha256: signing.shown_sha256,
        block_ids: block_ids.clone(),
        signature: signing.signature,
        signatory: signing.signatory,
        statement: signing.statement,
        consent: consent_of(by)?,
    };
    let after = context.recorded(|facts| facts.signed.extend(block_ids));
    let signature = after.signature_completion(document.id, by.id());
    Ok(acted(by, after, context.moment, occasion, act, signature))
}

fn not_to_sign(agreement: &Agreement, document: &Document, by: &ActingParticipant) -> NotActed {
    if agreement.is_on_hold_for(document, by.id()) { NotActed::Declined } else { NotActed::NotAsked }
}

/// Approves a gate.
pub fn approve(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    gate_id: GateId,
    statement: String,
) -> Result<Acted, NotActed> {
    let current = context.active()?;
    let gate = open_gate(&current, gate_id, by, |rule| matches!(rule, GateRule::ParticipantApproval { .. }))?;
    if !current.unmet_by(gate).contains(&by.id()) {
        return Err(NotActed::Done);
    }
    let act = ReceiptAct::Approved { gate_id, statement, consent: consent_of(by)? };
    let after = context.recorded(|facts| {
        facts.approved.insert((gate_id, by.id()));
    });
    Ok(acted(by, after, context.moment, occasion, act, None))
}

/// A file that a participant uploads for a gate. It is already stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The gate.
    pub gate_id: GateId,
    /// The name that the file has.
    pub file_name: Label,
    /// Its content.
    pub content: DocumentContent,
    /// Its format.
    pub file_type: FileType,
}

/// Records a file uploaded for a gate; more can follow while it is open and no member has accepted the participant's.
/// `earlier` are the participant's receipts.
pub fn upload(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    earlier: &[Receipt],
    upload: Upload,
) -> Result<Acted, NotActed> {
    let Upload { gate_id, file_name, content, file_type } = upload;
    let current = context.active()?;
    let gate = open_gate(&current, gate_id, by, |rule| matches!(rule, GateRule::FileUpload { .. }))?;
    let part = (gate_id, by.id());
    if current.has_accepted(gate_id, by.id()) {
        return Err(NotActed::Done);
    }
    let consented = consent_of(by)?;
    let bytes = content.size_bytes;
    if !current.has_room_for(context.facts, bytes, Filer::of_participant(earlier)) {
        return Err(NotActed::NoRoom);
    }
    let act = ReceiptAct::Uploaded { gate_id, file_name, content, file_type, consent: consented };
    let after = context.recorded(|facts| {
        facts.uploaded.insert(part);
        if gate.rule.is_reviewed() {
            facts.answered.insert(part, context.moment.at());
        }
        facts.file_bytes += bytes;
    });
    Ok(acted(by, after, context.moment, occasion, act, None))
}

/// What a participant declines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declining {
    /// To sign a document.
    Document(DocumentId),
    /// What a gate asks for.
    Gate(GateId),
}

/// Declines what open gates ask of the participant. The gates then wait for a member, even if others still have to act.
pub fn decline(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    occasion: Occasion,
    what: Declining,
    reason: Note,
) -> Result<Acted, NotActed> {
    let current = context.active()?;
    consent_of(by)?;
    let (gate_ids, document): (BTreeSet<GateId>, Option<Label>) = match what {
        Declining::Document(id) => {
            let document = current.document(id).ok_or(NotActed::NotAsked)?;
            if current.has_signed(document, by.id()) {
                return Err(NotActed::Done);
            }
            let blocks = current.blocks_to_sign(document, by.id());
            let asking = blocks.into_iter().flat_map(|block| current.gates_asking_for(document, block));
            let open = asking.filter(|gate| gate.state.status() == GateStatus::Open);
            let open: BTreeSet<GateId> = open.map(|gate| gate.id).collect();
            if open.is_empty() {
                return Err(not_to_sign(&current, document, by));
            }
            (open, Some(document.name.clone()))
        }
        Declining::Gate(id) => {
            let can_decline = |rule: &GateRule| {
                matches!(
                    rule,
                    GateRule::ParticipantApproval { .. }
                        | GateRule::FileUpload { .. }
                        | GateRule::InformationRequest { .. }
                )
            };
            let gate = open_gate(&current, id, by, can_decline)?;
            if !current.unmet_by(gate).contains(&by.id()) {
                return Err(NotActed::Done);
            }
            ([id].into(), None)
        }
    };
    let AgreementContext { agreement, facts, time_scale, moment } = context;
    let after = agreement.declined(facts, time_scale, moment.at(), &gate_ids, by.id());
    let act = ReceiptAct::Declined { gate_ids, document, reason };
    Ok(acted(by, after, context.moment, occasion, act, None))
}

pub(super) fn open_gate<'a>(
    agreement: &'a Agreement,
    id: GateId,
    by: &ActingParticipant,
    is_type: impl Fn(&GateRule) -> bool,
) -> Result<&'a Gate, NotActed> {
    let mut gates = agreement.stages.iter().flat_map(|stage| &stage.gates);
    let gate = gates.find(|gate| gate.id == id).filter(|gate| is_type(&gate.rule)).ok_or(NotActed::NotAsked)?;
    if !gate.rule.named(agreement).contains(&by.id()) {
        return Err(NotActed::NotAsked);
    }
    match gate.state.status() {
        GateStatus::Open => Ok(gate),
        GateStatus::Locked => Err(NotActed::NotAsked),
        GateStatus::Cleared => Err(NotActed::Done),
        GateStatus::Declined => Err(NotActed::Declined),
    }
}

pub(super) fn consent_of(by: &ActingParticipant) -> Result<ReceiptId, NotActed> {
    by.access().consent.ok_or(NotActed::NoConsent)
}

pub(super) fn acted(
    by: &ActingParticipant,
    after: Agreement,
    moment: Moment,
    Occasion { id, origin }: Occasion,
    act: ReceiptAct,
    event: Option<EventKind>,
) -> Acted {
    let receipt = Receipt { id, participant_id: by.id(), name: by.name().clone(), at: moment.at(), origin, act };
    let events = event.into_iter().chain(after.completion()).collect();
    Acted { receipt, agreement: ByParticipant::new(after, by, moment), events }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::agreement::facts::Facts;
    use crate::domain::agreement::fixtures::{Deal, after, contact_of_kind, label, noon, published, time_scale};
    use crate::domain::agreement::gate::{GateState, RequestedFile};
    use crate::domain::agreement::{DocumentState, StageState};
    use crate::domain::contact::{Contact, ContactChanges, ContactKind, DisplayName, Email};
    use crate::domain::ids::{MemberId, OrgId, ParticipantId};
    use crate::domain::member::{Member, NotReopened, reopen_gate};
    use crate::domain::organization::{MemberRecord, Role};
    use crate::domain::participant::Access;
    use crate::limits;
    use crate::wire::input::read_body;

    fn participant(agreement: &Agreement, id: ParticipantId, consent: Option<ReceiptId>) -> ActingParticipant {
        of_kind(agreement, id, ContactKind::Person, consent)
    }

    fn of_kind(
        agreement: &Agreement,
        id: ParticipantId,
        kind: ContactKind,
        consent: Option<ReceiptId>,
    ) -> ActingParticipant {
        let access = Access { consent, ..Access::default() };
        ActingParticipant::of_session(OrgId::new(), agreement.id(), id, &contact_of_kind("Ada", kind), access)
    }

    fn member() -> Member {
        let (name, email) = (DisplayName::parse("Maren Holt").unwrap(), Email::parse("maren@example.org").unwrap());
        let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Member, created_at: noon() };
        Member::of_session(OrgId::new(), &record)
    }

    fn occasion() -> Occasion {
        Occasion { id: ReceiptId::new(), origin: Origin::default() }
    }

    fn context(agreement: &Agreement, hours: i64) -> AgreementContext<'_> {
        AgreementContext {
            agreement,
            facts: agreement.facts(),
            time_scale: time_scale(),
            moment: Moment::test(after(hours)),
        }
    }

    fn signing(agreement: &Agreement) -> Signing {
        Signing {
            document_id: agreement.documents[0].id,
            shown_sha256: "0".repeat(64),
            signature: Signature::Typed { name: DisplayName::parse("Ada").unwrap() },
            signatory: None,
            shown_blocks: agreement.documents[0].blocks.iter().map(|block| block.id).collect(),
            statement: "I sign.".to_owned(),
        }
    }

    fn live(rules: impl FnOnce(&Agreement) -> Vec<GateRule>) -> (Agreement, [ParticipantId; 3]) {
        let deal = Deal::complete();
        let ids = [0, 1, 2].map(|n| deal.draft.participants[n].id);
        let mut draft = deal.draft;
        (draft.stages, draft.expires_at) = (Vec::new(), Some(after(48)));
        let (more, stage) = draft.add_stage(label("Step"), [].into(), noon()).unwrap();
        draft = more;
        for rule in rules(&draft) {
            draft = draft.add_gate(stage, rule, noon()).unwrap().0;
        }
        (published(&draft), ids)
    }

    fn both(draft: &Agreement) -> BTreeSet<ParticipantId> {
        draft.participants[..2].iter().map(|participant| participant.id).collect()
    }

    #[test]
    fn the_last_act_completes_the_agreement_and_each_leaves_a_receipt() {
        let (agreement, [ada, ben, _]) = live(|draft| {
            vec![
                GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) },
                GateRule::ParticipantApproval { participant_ids: both(draft) },
            ]
        });
        let consent = Some(ReceiptId::new());
        let (ada, ben) = (participant(&agreement, ada, consent), participant(&agreement, ben, consent));
        let gate = agreement.stages[0].gates[1].id;
        let signed = sign(&ada, context(&agreement, 1), occasion(), signing(&agreement)).unwrap();
        assert!(matches!(signed.events[..], [EventKind::SignatureCompleted(_)]));
        assert_eq!(signed.agreement.documents[0].state, DocumentState::Signed);
        assert_eq!(sign(&ada, context(&signed.agreement, 2), occasion(), signing(&agreement)), Err(NotActed::Done));
        let approve = |by, agreement: &Agreement, hours| {
            super::approve(by, context(agreement, hours), occasion(), gate, "I approve.".to_owned())
        };
        let first = approve(&ada, &signed.agreement, 2).unwrap();
        assert_eq!(approve(&ada, &first.agreement, 3), Err(NotActed::Done));
        assert_eq!(first.events, []);
        let last = approve(&ben, &first.agreement, 3).unwrap();
        assert!(matches!(last.events[..], [EventKind::AgreementCompleted(_)]));
        assert_eq!((last.agreement.lifecycle(), last.receipt.at), (Lifecycle::Completed, after(3)));
        let ended = Err(NotActed::NotActive(Lifecycle::Completed));
        assert_eq!(approve(&ben, &last.agreement, 4), ended);
        let stored: Receipt = serde_json::from_str(&serde_json::to_string(&signed.receipt).unwrap()).unwrap();
        assert_eq!(stored, signed.receipt);
    }

    #[test]
    fn acts_without_consent_by_strangers_or_on_another_document_are_refused() {
        let (agreement, [ada, ben, eve]) =
            live(|draft| vec![GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) }]);
        let consent = Some(ReceiptId::new());
        let sign = |id, consent, signing| {
            super::sign(&participant(&agreement, id, consent), context(&agreement, 1), occasion(), signing).map(|_| ())
        };
        assert_eq!(sign(ada, None, signing(&agreement)), Err(NotActed::NoConsent));
        assert_eq!(sign(ben, consent, signing(&agreement)), Err(NotActed::NotAsked), "he signs nowhere");
        assert_eq!(sign(eve, consent, signing(&agreement)), Err(NotActed::NotAsked));
        let other = Signing { shown_sha256: "1".repeat(64), ..signing(&agreement) };
        assert_eq!(sign(ada, consent, other), Err(NotActed::Replaced));
        let fewer = Signing { shown_blocks: BTreeSet::new(), ..signing(&agreement) };
        assert_eq!(sign(ada, consent, fewer), Err(NotActed::OtherBlocks));
        let unknown = Signing { document_id: DocumentId::new(), ..signing(&agreement) };
        assert_eq!(sign(ada, consent, unknown), Err(NotActed::NotAsked));
        let expired = super::sign(
            &participant(&agreement, ada, consent),
            context(&agreement, 48),
            occasion(),
            signing(&agreement),
        );
        assert_eq!(expired, Err(NotActed::NotActive(Lifecycle::Expired)), "the clock has not recorded it yet");
        let gate = agreement.stages[0].gates[0].id;
        let as_approval =
            approve(&participant(&agreement, ada, consent), context(&agreement, 1), occasion(), gate, String::new());
        assert_eq!(as_approval, Err(NotActed::NotAsked), "a gate is met by what it asks for");
    }

    #[test]
    fn whatever_is_no_person_signs_by_one_with_name_and_title() {
        let (agreement, [ada, ..]) =
            live(|draft| vec![GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) }]);
        let nora = Signatory { name: DisplayName::parse("Nora Wind").unwrap(), title: label("Managing Member") };
        for kind in ContactKind::ALL {
            let by = of_kind(&agreement, ada, kind, Some(ReceiptId::new()));
            let sign = |signatory| {
                let signing = Signing { signatory, ..signing(&agreement) };
                sign(&by, context(&agreement, 1), occasion(), signing).map(|acted| acted.receipt.signed_by())
            };
            let (alone, named) = (sign(None), sign(Some(nora.clone())));
            let refused = Err(NotActed::OtherSigner);
            if kind == ContactKind::Person {
                assert_eq!((alone.as_deref(), named), (Ok("Ada"), refused));
            } else {
                assert_eq!((alone, named.as_deref()), (refused, Ok("Ada, by Nora Wind, Managing Member")), "{kind:?}");
            }
        }
    }

    #[test]
    fn what_a_participant_was_at_the_publication_decides_who_signs() {
        let (mut agreement, [ada, ..]) =
            live(|draft| vec![GateRule::DocumentSigned { document_id: Some(draft.documents[0].id) }]);
        let of_kind = |text: &str| {
            let changes: ContactChanges = read_body(format!(r#"{{"kind": "{text}"}}"#).as_bytes()).unwrap();
            contact_of_kind("Ada", ContactKind::Llc).change(changes, &Actor::system(), noon())
        };
        let nora = || Signatory { name: DisplayName::parse("Nora Wind").unwrap(), title: label("Managing Member") };
        let sign = |agreement: &Agreement, contact: &Contact, confirmed, signatory: Option<Signatory>| {
            let access = Access { consent: Some(ReceiptId::new()), contact_version: confirmed, ..Access::default() };
            let by = ActingParticipant::of_session(OrgId::new(), agreement.id(), ada, contact, access);
            let signing = Signing { signatory, ..signing(agreement) };
            sign(&by, context(agreement, 1), occasion(), signing).map(|_| ())
        };
        let (company, person) = (of_kind("llc"), of_kind("person"));
        assert_eq!((company.identity_version, person.identity_version), (0, 1));
        let refused = Err(NotActed::OtherSigner);
        assert_eq!(sign(&agreement, &person, None, None), refused, "it was a company");
        assert_eq!(sign(&agreement, &person, None, Some(nora())), Ok(()));
        assert_eq!(sign(&agreement, &person, Some(1), None), Ok(()), "a member has confirmed what it is");
        agreement.participants[0].contact_version = Some(1);
        assert_eq!(sign(&agreement, &person, None, None), Ok(()), "it was a person at the publication");
        let unknown = Contact { identity_version: 99, former: Vec::new(), ..person };
        assert_eq!(sign(&agreement, &unknown, None, None), refused, "nobody knows what it was");
    }

    #[test]
    fn a_declined_gate_waits_for_a_member_and_then_for_those_who_are_missing() {
        let (agreement, [ada, ben, _]) =
            live(|draft| vec![GateRule::ParticipantApproval { participant_ids: both(draft) }]);
        let consent = Some(ReceiptId::new());
        let (ada, ben) = (participant(&agreement, ada, consent), participant(&agreement, ben, consent));
        let gate = agreement.stages[0].gates[0].id;
        let approve = |by, agreement: &Agreement, hours| {
            super::approve(by, context(agreement, hours), occasion(), gate, String::new())
        };
        let approved = approve(&ada, &agreement, 1).unwrap().agreement;
        let reason = Note::parse("No.").unwrap();
        let decline = |by: &ActingParticipant, agreement: &Agreement, hours| {
            super::decline(by, context(agreement, hours), occasion(), Declining::Gate(gate), reason.clone())
        };
        let without = participant(&agreement, ben.id(), None);
        assert_eq!(decline(&without, &approved, 2), Err(NotActed::NoConsent));
        let declined = decline(&ben, &approved, 2).unwrap().agreement;
        let state = GateState::Declined { opened_at: noon(), participant_id: ben.id(), declined_at: after(2) };
        assert_eq!(declined.stages[0].gates[0].state, state);
        assert_eq!(declined.stages[0].state, StageState::Current);
        assert!(declined.tasks_of(ben.id()).is_empty());
        for refused in [approve(&ada, &declined, 3), decline(&ben, &declined, 3)] {
            assert_eq!(refused, Err(NotActed::Declined));
        }
        let reopen =
            |agreement: &Agreement, gate, hours| reopen_gate(&member(), context(agreement, hours), gate, after(2));
        assert_eq!(reopen(&approved, gate, 3), Err(NotReopened::NotDeclined));
        assert_eq!(reopen(&declined, GateId::new(), 3), Err(NotReopened::Unknown));
        assert_eq!(reopen(&declined, gate, 48), Err(NotReopened::NotActive(Lifecycle::Expired)));
        let open = reopen(&declined, gate, 4).unwrap().agreement;
        let gate = &open.stages[0].gates[0];
        assert_eq!(gate.state, GateState::Open { opened_at: after(4), due_at: None });
        assert_eq!(open.unmet_by(gate), [ben.id()].into(), "what Ada did counts");
    }

    fn passport(gate_id: GateId, size_bytes: u64) -> Upload {
        let content = DocumentContent { sha256: "2".repeat(64), size_bytes };
        Upload { gate_id, file_name: label("Passport.pdf"), content, file_type: FileType::Pdf }
    }

    #[test]
    fn another_file_can_follow_while_the_gate_is_open() {
        let (agreement, [ada, ..]) =
            live(|draft| vec![GateRule::FileUpload { participant_ids: both(draft), file: RequestedFile::default() }]);
        let ada = participant(&agreement, ada, Some(ReceiptId::new()));
        let gate = agreement.stages[0].gates[0].id;
        let upload = |agreement: &Agreement, hours| {
            super::upload(&ada, context(agreement, hours), occasion(), &[], passport(gate, 9)).unwrap()
        };
        let first = upload(&agreement, 1);
        let second = upload(&first.agreement, 2);
        assert_eq!(second.agreement.stages, first.agreement.stages);
        assert!(first.agreement.tasks_of(ada.id()).is_empty());
        assert_eq!((first.agreement.facts().file_bytes, second.agreement.facts().file_bytes), (9, 18));
    }

    #[test]
    fn an_upload_that_no_bundle_could_hold_is_refused() {
        let (agreement, [ada, ..]) =
            live(|draft| vec![GateRule::FileUpload { participant_ids: both(draft), file: RequestedFile::default() }]);
        let ada = participant(&agreement, ada, Some(ReceiptId::new()));
        let gate = agreement.stages[0].gates[0].id;
        let for_participants = limits::BUNDLE_FILE_BYTES_MAX - limits::BUNDLE_FILE_BYTES_OF_MEMBERS;
        let left = for_participants - agreement.file_bytes(&Facts::none());
        let upload = |filed: u64, earlier: &[Receipt], size_bytes: u64| {
            let facts = Facts { file_bytes: filed, ..agreement.facts().clone() };
            let context = AgreementContext { facts: &facts, ..context(&agreement, 1) };
            super::upload(&ada, context, occasion(), earlier, passport(gate, size_bytes))
        };
        let refused = Err(NotActed::NoRoom);
        assert_eq!(upload(left - 8, &[], 5), refused, "it would leave the others less than it takes");
        let first = upload(left - 8, &[], 4).unwrap();
        assert_eq!(first.agreement.facts().file_bytes, left - 4);
        let earlier = [first.receipt];
        assert_eq!(upload(left - 4, &earlier, 1), refused, "what the participant uploaded before counts");
        assert!(upload(left - 4, &[], 2).is_ok(), "another one finds room");
        assert_eq!(upload(left, &[], 1), refused, "the rest is for members");
    }
}
