//! Random sequences of edits: any edits in any order leave a sound draft.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::fixtures::{Deal, after, contact, label, part, question};
use super::super::gate::{Countdown, GateRule, InformationField, RequestedFile};
use super::super::promise::{Parties, Promise, PromiseTerms};
use super::super::{Agreement, AgreementKind, AgreementName, DocumentContent, Lifecycle, ParticipantRole, Roles};
use crate::domain::ids::{DocumentId, FieldId, GateId, ParticipantId, PromiseId, SignatureBlockId, StageId};
use crate::domain::time::Timestamp;
use crate::wire::fields::FieldErrors;

/// An edit. Parts are chosen by number, possibly beyond those in the draft.
#[derive(Debug, Clone)]
enum Edit {
    Describe(bool),
    Expire(Option<u8>),
    AddParticipant,
    SetRoles(usize),
    RemoveParticipant(usize),
    AddDocument,
    File(usize),
    RemoveDocument(usize),
    AddBlock(usize, usize),
    RemoveBlock(usize),
    AddStage,
    MoveStage(usize, usize),
    RemoveStage(usize),
    AddGate(usize, u8, usize),
    ChangeGate(usize, u8, usize),
    MoveGate(usize, usize),
    RemoveGate(usize),
    AddQuestion(usize),
    MoveQuestion(usize, usize),
    RemoveQuestion(usize),
    AddPromise(usize, usize),
    ChangePromise(usize, usize, usize),
    MovePromise(usize, usize),
    RemovePromise(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let n = || 0..6_usize;
    let edit = prop_oneof![
        any::<bool>().prop_map(Edit::Describe),
        any::<Option<u8>>().prop_map(Edit::Expire),
        Just(Edit::AddParticipant),
        n().prop_map(Edit::SetRoles),
        n().prop_map(Edit::RemoveParticipant),
        Just(Edit::AddDocument),
        n().prop_map(Edit::File),
        n().prop_map(Edit::RemoveDocument),
        (n(), n()).prop_map(|(document, participant)| Edit::AddBlock(document, participant)),
        n().prop_map(Edit::RemoveBlock),
        Just(Edit::AddStage),
        (n(), n()).prop_map(|(stage, to)| Edit::MoveStage(stage, to)),
        n().prop_map(Edit::RemoveStage),
        (n(), any::<u8>(), n()).prop_map(|(stage, kind, what)| Edit::AddGate(stage, kind, what)),
        (n(), any::<u8>(), n()).prop_map(|(gate, kind, what)| Edit::ChangeGate(gate, kind, what)),
        (n(), n()).prop_map(|(gate, to)| Edit::MoveGate(gate, to)),
        n().prop_map(Edit::RemoveGate),
        n().prop_map(Edit::AddQuestion),
        (n(), n()).prop_map(|(gate, to)| Edit::MoveQuestion(gate, to)),
        n().prop_map(Edit::RemoveQuestion),
        (n(), n()).prop_map(|(promisor, promisee)| Edit::AddPromise(promisor, promisee)),
        (n(), n(), n()).prop_map(|(n, promisor, promisee)| Edit::ChangePromise(n, promisor, promisee)),
        (n(), n()).prop_map(|(n, to)| Edit::MovePromise(n, to)),
        n().prop_map(Edit::RemovePromise),
    ];
    proptest::collection::vec(edit, 0..40)
}

fn pick<Id: Copy>(ids: &[Id], n: usize, none: Id) -> Id {
    ids.get(n).copied().unwrap_or(none)
}

struct Parts {
    participants: Vec<ParticipantId>,
    documents: Vec<DocumentId>,
    blocks: Vec<SignatureBlockId>,
    stages: Vec<StageId>,
    gates: Vec<GateId>,
    promises: Vec<PromiseId>,
}

impl Parts {
    fn of(draft: &Agreement) -> Self {
        Self {
            participants: draft.participants.iter().map(|part| part.id).collect(),
            documents: draft.documents.iter().map(|part| part.id).collect(),
            blocks: draft.documents.iter().flat_map(|document| &document.blocks).map(|part| part.id).collect(),
            stages: draft.stages.iter().map(|part| part.id).collect(),
            gates: draft.stages.iter().flat_map(|stage| &stage.gates).map(|part| part.id).collect(),
            promises: draft.promises.iter().map(|part| part.id).collect(),
        }
    }

    fn promise(&self, id: PromiseId, promisor: usize, promisee: usize) -> Result<Promise, FieldErrors> {
        let side = |n| [pick(&self.participants, n, ParticipantId::new())].into();
        let parties = Parties::new(side(promisor), side(promisee))?;
        Ok(Promise { id, name: label("Insurance"), terms: PromiseTerms::standing(90)?, parties })
    }

    fn rule(&self, kind: u8, what: usize) -> GateRule {
        let participant_ids: BTreeSet<ParticipantId> =
            [pick(&self.participants, what, ParticipantId::new())].into_iter().collect();
        match kind % 7 {
            0 => GateRule::SignatureBlocks {
                block_ids: [pick(&self.blocks, what, SignatureBlockId::new())].into_iter().collect(),
            },
            1 => GateRule::DocumentSigned { document_id: Some(pick(&self.documents, what, DocumentId::new())) },
            2 => GateRule::ParticipantApproval { participant_ids },
            3 => GateRule::FileUpload { participant_ids, file: RequestedFile::default() },
            4 => GateRule::Countdown { until: Some(Countdown::AfterHours(u32::try_from(what).unwrap_or(0))) },
            5 => GateRule::InformationRequest { participant_ids, fields: vec![question("Why?")] },
            _ => GateRule::IdentityVerified { participant_ids },
        }
    }
}

fn apply(draft: &Agreement, edit: &Edit, now: Timestamp) -> Result<Agreement, FieldErrors> {
    let parts = Parts::of(draft);
    let stage = |n| pick(&parts.stages, n, StageId::new());
    let gate = |n| pick(&parts.gates, n, GateId::new());
    let document = |n| pick(&parts.documents, n, DocumentId::new());
    let participant = |n| pick(&parts.participants, n, ParticipantId::new());
    let promise = |n| pick(&parts.promises, n, PromiseId::new());
    let asked =
        |gate: GateId| draft.questions(gate).and_then(|questions| questions.first()).map(|question| question.id);
    match edit {
        Edit::Describe(is_safe) => {
            let kind = if *is_safe { AgreementKind::Safe } else { AgreementKind::General };
            draft.describe(AgreementName::parse("Another name").unwrap(), kind, now)
        }
        Edit::Expire(hours) => draft.set_expiry(hours.map(|hours| after(i64::from(hours))), now),
        Edit::AddParticipant => {
            let added = draft.add_participant(part(&contact("Noor"), &[ParticipantRole::Signer]), now);
            added.map(|added| added.agreement).map_err(|reason| reason.at("agreement_id"))
        }
        Edit::SetRoles(n) => draft.set_roles(participant(*n), Roles([ParticipantRole::Trustee].into()), now),
        Edit::RemoveParticipant(n) => draft.remove_participant(participant(*n), now),
        Edit::AddDocument => draft.put_document(DocumentId::new(), label("Deed"), None, now),
        Edit::File(n) => draft.set_file(document(*n), DocumentContent { sha256: "1".repeat(64), size_bytes: 7 }, now),
        Edit::RemoveDocument(n) => draft.remove_document(document(*n), now),
        Edit::AddBlock(n, who) => {
            draft.put_signature_block(document(*n), SignatureBlockId::new(), participant(*who), label("Here"), now)
        }
        Edit::RemoveBlock(n) => draft.remove_signature_block(pick(&parts.blocks, *n, SignatureBlockId::new()), now),
        Edit::AddStage => draft.put_stage(StageId::new(), label("More"), [].into(), now),
        Edit::MoveStage(n, to) => draft.move_stage(stage(*n), *to, now),
        Edit::RemoveStage(n) => draft.remove_stage(stage(*n), now),
        Edit::AddGate(n, kind, what) => draft.put_gate(stage(*n), GateId::new(), parts.rule(*kind, *what), now),
        Edit::ChangeGate(n, kind, what) => draft.change_gate(gate(*n), parts.rule(*kind, *what), now),
        Edit::MoveGate(n, to) => draft.move_gate(gate(*n), *to, now),
        Edit::RemoveGate(n) => draft.remove_gate(gate(*n), now),
        Edit::AddQuestion(n) => draft.put_question(gate(*n), question("Who?"), now),
        Edit::MoveQuestion(n, to) => {
            let gate = gate(*n);
            draft.move_question(gate, asked(gate).unwrap_or_else(FieldId::new), *to, now)
        }
        Edit::RemoveQuestion(n) => {
            let gate = gate(*n);
            draft.remove_question(gate, asked(gate).unwrap_or_else(FieldId::new), now)
        }
        Edit::AddPromise(promisor, promisee) => {
            draft.put_promise(parts.promise(PromiseId::new(), *promisor, *promisee)?, now)
        }
        Edit::ChangePromise(n, promisor, promisee) => {
            draft.change_promise(parts.promise(promise(*n), *promisor, *promisee)?, now)
        }
        Edit::MovePromise(n, to) => draft.move_promise(promise(*n), *to, now),
        Edit::RemovePromise(n) => draft.remove_promise(promise(*n), now),
    }
}

fn unique<Id: Ord>(ids: &[Id]) -> bool {
    ids.iter().collect::<BTreeSet<_>>().len() == ids.len()
}

fn check_sound(draft: &Agreement) {
    let parts = Parts::of(draft);
    assert!(unique(&parts.participants) && unique(&parts.documents) && unique(&parts.blocks));
    assert!(unique(&parts.stages) && unique(&parts.gates) && unique(&parts.promises));
    for promise in &draft.promises {
        let (promisors, promisees) = (promise.parties.promisors(), promise.parties.promisees());
        assert!(!promisors.is_empty() && !promisees.is_empty() && promisors.is_disjoint(promisees));
        assert!(promisors.union(promisees).all(|id| parts.participants.contains(id)), "a promise without its party");
    }
    for block in draft.documents.iter().flat_map(|document| &document.blocks) {
        assert!(parts.participants.contains(&block.participant_id), "a block without its signer");
    }
    for gate in draft.stages.iter().flat_map(|stage| &stage.gates) {
        match &gate.rule {
            GateRule::SignatureBlocks { block_ids } => {
                assert!(block_ids.iter().all(|id| parts.blocks.contains(id)), "a gate without its block");
            }
            GateRule::DocumentSigned { document_id } => {
                assert!(document_id.is_none_or(|id| parts.documents.contains(&id)), "a gate without its document");
            }
            rule => {
                let mut named = rule.participant_ids().into_iter().flatten();
                assert!(named.all(|id| parts.participants.contains(id)), "a gate without its participant");
            }
        }
        let questions: Vec<FieldId> =
            draft.questions(gate.id).into_iter().flatten().map(|question: &InformationField| question.id).collect();
        assert!(unique(&questions));
    }
    assert!(draft.participants.iter().all(|participant| !participant.roles.is_empty()));
    assert_eq!(draft.terms.is_some(), draft.kind == AgreementKind::Safe);
    assert_eq!(draft.lifecycle(), Lifecycle::Draft);
    assert!(draft.as_draft().is_ok());
}

proptest! {
    #[test]
    fn whatever_is_edited_the_draft_stays_sound(edits in edits()) {
        let mut draft = Deal::complete().draft;
        let id = draft.id();
        for (n, edit) in edits.iter().enumerate() {
            let now = after(i64::try_from(n).unwrap());
            if let Ok(edited) = apply(&draft, edit, now) {
                prop_assert!(edited.updated_at >= draft.updated_at);
                draft = edited;
                check_sound(&draft);
            }
            prop_assert_eq!(draft.id(), id);
        }
        let copy = draft.duplicate(
            crate::domain::ids::AgreementId::new(),
            draft.name.clone(),
            crate::domain::actor::Actor::system(),
            after(50),
        );
        check_sound(&copy);
        let (own, copied) = (Parts::of(&draft), Parts::of(&copy));
        prop_assert!(own.gates.iter().all(|gate| !copied.gates.contains(gate)));
        prop_assert_eq!(own.gates.len(), copied.gates.len());
        prop_assert_eq!(own.promises.len(), copied.promises.len());
        prop_assert!(own.participants.iter().all(|participant| !copied.participants.contains(participant)));
    }
}
