use std::collections::{BTreeMap, BTreeSet};

use super::facts::Facts;
use super::gate::{Countdown, Gate, GateRule, GateState, InformationField};
use super::promise::Promise;
use super::{Agreement, AgreementName, Document, DocumentState, Life, Participant, SignatureBlock, Stage, StageState};
use crate::domain::actor::Actor;
use crate::domain::ids::{
    AgreementId, DocumentId, FieldId, GateId, ParticipantId, PromiseId, SignatureBlockId, StageId,
};
use crate::domain::time::Timestamp;

impl Agreement {
    /// A draft with this content and new ids. Gates lose payments and funding items; past dates are left open.
    #[must_use]
    pub fn duplicate(&self, id: AgreementId, name: AgreementName, created_by: Actor, now: Timestamp) -> Self {
        let participants: BTreeMap<ParticipantId, ParticipantId> = new_ids(&self.participants, |one| one.id);
        let documents: BTreeMap<DocumentId, DocumentId> = new_ids(&self.documents, |one| one.id);
        let blocks = self.documents.iter().flat_map(|document| &document.blocks);
        let blocks: BTreeMap<SignatureBlockId, SignatureBlockId> = new_ids(blocks, |one| one.id);
        let ids = Ids { participants, documents, blocks };
        let block = |block: &SignatureBlock| {
            let (id, participant_id) = (ids.blocks.get(&block.id)?, ids.participants.get(&block.participant_id)?);
            Some(SignatureBlock { id: *id, participant_id: *participant_id, label: block.label.clone() })
        };
        let document = |document: &Document| Document {
            id: ids.documents.get(&document.id).copied().unwrap_or_else(DocumentId::new),
            name: document.name.clone(),
            content: document.content.clone(),
            state: DocumentState::Draft,
            blocks: document.blocks.iter().filter_map(block).collect(),
            is_for_reading: document.is_for_reading,
        };
        let gate = |gate: &Gate| Gate { id: GateId::new(), rule: ids.rule(&gate.rule, now), state: GateState::Locked };
        let stage = |stage: &Stage| Stage {
            id: StageId::new(),
            name: stage.name.clone(),
            state: StageState::Upcoming,
            actions: stage.actions.clone(),
            gates: stage.gates.iter().map(gate).collect(),
        };
        let participant = |participant: &Participant| Participant {
            id: ids.participants.get(&participant.id).copied().unwrap_or_else(ParticipantId::new),
            contact_version: None,
            ..participant.clone()
        };
        let promise = |promise: &Promise| {
            let parties = promise.parties.renamed(|id| ids.participants.get(&id).copied())?;
            Some(Promise { id: PromiseId::new(), parties, ..promise.clone() })
        };
        Self {
            id,
            workspace_id: self.workspace_id,
            name,
            kind: self.kind,
            life: Life::Draft,
            participants: self.participants.iter().map(participant).collect(),
            documents: self.documents.iter().map(document).collect(),
            stages: self.stages.iter().map(stage).collect(),
            terms: self.terms.clone(),
            promises: self.promises.iter().filter_map(promise).collect(),
            expires_at: self.expires_at.filter(|at| *at > now),
            funding_item_ids: Vec::new(),
            created_by,
            created_at: now,
            updated_at: now,
            facts: Facts::none(),
            pending_papers: BTreeMap::new(),
            zone: None,
            archived_at: None,
        }
    }
}

struct Ids {
    participants: BTreeMap<ParticipantId, ParticipantId>,
    documents: BTreeMap<DocumentId, DocumentId>,
    blocks: BTreeMap<SignatureBlockId, SignatureBlockId>,
}

impl Ids {
    fn rule(&self, rule: &GateRule, now: Timestamp) -> GateRule {
        let who =
            |ids: &BTreeSet<ParticipantId>| ids.iter().filter_map(|id| self.participants.get(id)).copied().collect();
        match rule {
            GateRule::SignatureBlocks { block_ids } => GateRule::SignatureBlocks {
                block_ids: block_ids.iter().filter_map(|id| self.blocks.get(id)).copied().collect(),
            },
            GateRule::DocumentSigned { document_id } => {
                GateRule::DocumentSigned { document_id: document_id.and_then(|id| self.documents.get(&id)).copied() }
            }
            GateRule::ParticipantApproval { participant_ids } => {
                GateRule::ParticipantApproval { participant_ids: who(participant_ids) }
            }
            GateRule::FileUpload { participant_ids, file } => {
                GateRule::FileUpload { participant_ids: who(participant_ids), file: file.clone() }
            }
            GateRule::Countdown { until } => {
                let is_over = matches!(until, Some(Countdown::At(at)) if *at <= now);
                GateRule::Countdown { until: until.filter(|_| !is_over) }
            }
            GateRule::MovementAuthorized { .. } => GateRule::MovementAuthorized { movement_id: None },
            GateRule::MovementReconciled { .. } => GateRule::MovementReconciled { movement_id: None },
            GateRule::InformationRequest { participant_ids, fields } => GateRule::InformationRequest {
                participant_ids: who(participant_ids),
                fields: fields.iter().map(|field| InformationField { id: FieldId::new(), ..field.clone() }).collect(),
            },
            GateRule::IdentityVerified { participant_ids } => {
                GateRule::IdentityVerified { participant_ids: who(participant_ids) }
            }
        }
    }
}

fn new_ids<'a, T: 'a, Id: Ord + From<uuid::Uuid>>(
    parts: impl IntoIterator<Item = &'a T>,
    id: impl Fn(&T) -> Id,
) -> BTreeMap<Id, Id> {
    parts.into_iter().map(|part| (id(part), Id::from(uuid::Uuid::now_v7()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Lifecycle;
    use super::super::fixtures::{Deal, after, label, noon, promise, published, until};
    use super::*;

    fn copy(of: &Agreement, now: Timestamp) -> Agreement {
        of.duplicate(AgreementId::new(), AgreementName::parse("Again").unwrap(), Actor::system(), now)
    }

    #[test]
    fn a_copy_has_everything_but_the_past() {
        let mut deal = Deal::complete();
        deal.draft = deal.draft.put_promise(promise(&deal.draft, "Insurance"), noon()).unwrap();
        let live = published(&deal.draft);
        for original in [&deal.draft, &live] {
            let copy = copy(original, noon());
            assert_eq!(copy.lifecycle(), Lifecycle::Draft);
            assert_eq!(
                (copy.kind, &copy.terms, copy.workspace_id),
                (original.kind, &original.terms, original.workspace_id)
            );
            let shape = |agreement: &Agreement| {
                let gates = |stage: &Stage| stage.gates.iter().map(|gate| std::mem::discriminant(&gate.rule)).collect();
                let stages =
                    agreement.stages.iter().map(|stage| (stage.name.clone(), stage.actions.clone(), gates(stage)));
                stages.collect::<Vec<(_, _, Vec<_>)>>()
            };
            assert_eq!(shape(&copy), shape(original));
            let gates = || copy.stages.iter().flat_map(|stage| &stage.gates);
            assert!(gates().all(|gate| gate.state == GateState::Locked));
            assert!(gates().flat_map(|gate| gate.rule.named(&copy)).all(|id| copy.participant(id).is_some()));
            assert_eq!(
                gates().filter(|gate| gate.rule.named(&copy).is_empty()).count(),
                3,
                "the countdown and the two payments name no one"
            );
            assert_eq!(copy.documents[0].content, original.documents[0].content);
            assert_eq!(copy.documents[0].state, DocumentState::Draft);
            let [promise] = &copy.promises[..] else { panic!("one promise") };
            assert_eq!((&promise.name, &promise.terms), (&original.promises[0].name, &original.promises[0].terms));
            let mut parties = promise.parties.promisors().iter().chain(promise.parties.promisees());
            assert!(parties.all(|id| copy.participant(*id).is_some()));
            let (old, new) = (serde_json::to_string(original).unwrap(), serde_json::to_string(&copy).unwrap());
            let mut ids = original.participants.iter().map(|one| one.id.to_string()).collect::<Vec<_>>();
            ids.extend(original.documents.iter().map(|one| one.id.to_string()));
            ids.extend(original.promises.iter().map(|one| one.id.to_string()));
            ids.extend(original.stages.iter().map(|one| one.id.to_string()));
            assert!(ids.iter().all(|id| old.contains(id) && !new.contains(id)), "no id is shared");
        }
    }

    #[test]
    fn a_date_that_has_passed_is_left_open() {
        let draft = Deal::complete().draft;
        let (draft, stage) = draft.add_stage(label("Wait"), [].into(), noon()).unwrap();
        let draft =
            draft.add_gate(stage, until(after(1)), noon()).unwrap().0.set_expiry(Some(after(2)), noon()).unwrap();
        let dates = |copy: &Agreement| (copy.stages[3].gates[0].rule.clone(), copy.expires_at);
        assert_eq!(dates(&copy(&draft, noon())), (until(after(1)), Some(after(2))));
        assert_eq!(dates(&copy(&draft, after(3))), (GateRule::Countdown { until: None }, None));
    }
}
