//! What participants of the demo do, each with their link, as on their own pages.

use std::collections::BTreeMap;

use shared::domain::agreement::gate::{FieldType, Gate, GateRule, InformationField};
use shared::domain::agreement::{Agreement, Document};
use shared::domain::contact::DisplayName;
use shared::domain::ids::{AgreementId, OrgId, ParticipantId, ReceiptId};
use shared::domain::information::typed::{TypedAnswers, input_name, part_name};
use shared::domain::participant::ParticipantLink;
use shared::domain::participant::receipt::{Origin, Signature};
use shared::domain::participant::session::Part;
use shared::domain::participant::{Occasion, Signing};
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::service::information::{self, AnswerForm};
use shared::service::participants::{self, Doing};
use shared::service::system::SystemContext;
use shared::web::participant_link::ParticipantCall;

use crate::functions::Functions;

/// What a participant does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartAct {
    Approve,
    Sign,
    Answer,
}

/// Lets a participant consent to electronic records and act. They take part in the place of the demo's list.
pub(crate) async fn act(
    functions: &Functions,
    (organization_id, agreement_id): (OrgId, AgreementId),
    (place, what): (usize, PartAct),
) -> Result<(), Error> {
    let system = SystemContext::begin(&functions.app.store, organization_id, "set_up_demo", TimeScale::default());
    let agreement = system.store().agreement(agreement_id).await?.ok_or_else(Error::not_found)?;
    let participant_id = agreement.participants.get(place).ok_or_else(Error::not_found)?.id;
    let keys = functions.app.webhooks()?.keys.keyring().await?;
    let link = ParticipantLink::new(&keys, Part { organization_id, agreement_id, participant_id }, 0)?;
    let begin = |operation| ParticipantCall::begin(&functions.app, operation, &link);
    let call = begin("give_consent").await?.ok_or(Error::Unauthenticated)?;
    let consent = participants::change_consent(call.scope(), call.participant(), occasion(), true).await?;
    let refused = call.commit(consent).await?.err();
    let operation = match what {
        PartAct::Sign => "sign_document",
        PartAct::Approve => "approve_condition",
        PartAct::Answer => "send_answers",
    };
    let call = begin(operation).await?.ok_or(Error::Unauthenticated)?;
    let name = call.participant().name().clone();
    if what == PartAct::Answer {
        let form = answers(&agreement, participant_id, &name).ok_or_else(Error::not_found)?;
        let plan = information::send(call.scope(), call.participant(), &keys, (occasion(), &form)).await?;
        return match (refused, call.commit(plan).await?) {
            (None, Ok(())) => Ok(()),
            (refused, answered) => {
                Err(Error::Internal(format!("the demo’s answers were refused: {refused:?} {answered:?}")))
            }
        };
    }
    let doing = doing(&agreement, participant_id, what, name).ok_or_else(Error::not_found)?;
    let plan = participants::act(call.scope(), call.participant(), occasion(), doing).await?;
    match refused.or(call.commit(plan).await?.err()) {
        None => Ok(()),
        Some(refused) => Err(Error::Internal(format!("the demo’s participant was refused: {refused:?}"))),
    }
}

fn occasion() -> Occasion {
    Occasion { id: ReceiptId::new(), origin: Origin::default() }
}

/// Answers to all questions of the information request that waits for a participant.
fn answers(agreement: &Agreement, by: ParticipantId, name: &DisplayName) -> Option<AnswerForm> {
    let mut gates = agreement.stages.iter().flat_map(|stage| &stage.gates);
    let is_own = |gate: &&Gate| matches!(&gate.rule, GateRule::InformationRequest { participant_ids, .. } if participant_ids.contains(&by));
    let gate = gates.find(is_own)?.id;
    let questions = agreement.questions(gate)?;
    let mut typed: Vec<(String, &str)> = Vec::new();
    for InformationField { id, field_type, options, .. } in questions {
        let mut put = |value| typed.push((input_name(*id), value));
        match field_type {
            FieldType::Text => put(name.as_str()),
            FieldType::LongText => put("I teach the robotics workshops, and look after the machines."),
            FieldType::Number => put("6"),
            FieldType::Date => put("Sep 1, 2026"),
            FieldType::Boolean => put("no"),
            FieldType::Choice => put(options.first()?),
            FieldType::MultiChoice => typed.push((part_name(*id, 0), "on")),
            FieldType::Address => {
                let parts = [
                    ("line1", "12 Mill Lane"),
                    ("city", "Albany"),
                    ("region", "NY"),
                    ("postal_code", "12207"),
                    ("country", "USA"),
                ];
                typed.extend(parts.map(|(part, value)| (part_name(*id, part), value)));
            }
            FieldType::BankDetails => {
                let parts = [
                    ("holder", name.as_str()),
                    ("bank", "First Bank of Albany"),
                    ("number", "000123456789"),
                    ("code", "021000021"),
                ];
                typed.extend(parts.map(|(part, value)| (part_name(*id, part), value)));
            }
            FieldType::File => {}
        }
    }
    let value = |wanted: &str| typed.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| *value);
    let typed = TypedAnswers::submitted(questions, value, BTreeMap::new(), &TypedAnswers::default());
    Some(AnswerForm { gate, version: 0, typed })
}

fn doing(agreement: &Agreement, by: ParticipantId, what: PartAct, name: DisplayName) -> Option<Doing> {
    match what {
        PartAct::Sign => {
            let Document { id, name: document, content, blocks, .. } = agreement.documents.first()?;
            let statement = format!("I have read “{}”, and I sign it as {}.", document.as_str(), name.as_str());
            let shown_sha256 = content.as_ref()?.sha256.clone();
            Some(Doing::Sign(Signing {
                document_id: *id,
                shown_sha256,
                shown_blocks: blocks.iter().filter(|block| block.participant_id == by).map(|block| block.id).collect(),
                signature: Signature::Typed { name },
                statement,
            }))
        }
        PartAct::Approve => {
            let mut gates = agreement.stages.iter().flat_map(|stage| &stage.gates);
            let is_own = |gate: &&Gate| matches!(&gate.rule, GateRule::ParticipantApproval { participant_ids } if participant_ids.contains(&by));
            Some(Doing::Approve(gates.find(is_own)?.id, format!("As {}, I approve this step.", name.as_str())))
        }
        PartAct::Answer => None,
    }
}
