//! Acts of the demo's participants, each with their link, as on their own pages.

use std::collections::BTreeMap;
use std::fmt::Debug;

use shared::domain::agreement::gate::{FieldType, Gate, GateRule, InformationField};
use shared::domain::agreement::{Agreement, Document, Label};
use shared::domain::contact::DisplayName;
use shared::domain::date_order::DateOrder;
use shared::domain::ids::{AgreementId, OrgId, ParticipantId, ReceiptId};
use shared::domain::information::typed::{TypedAnswers, input_name, part_name};
use shared::domain::participant::ParticipantLink;
use shared::domain::participant::receipt::{Origin, Signatory, Signature};
use shared::domain::participant::session::Part;
use shared::domain::participant::{ActingParticipant, Occasion, Signing};
use shared::domain::time_scale::TimeScale;
use shared::error::Error;
use shared::service::identity::demo_call::ParticipantCall;
use shared::service::information::{self, AnswerForm};
use shared::service::participants::{self, ParticipantAct};
use shared::service::system::SystemContext;
use shared::text::statements;

use crate::functions::Functions;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartAct {
    Approve,
    Sign,
    Answer,
}

pub(crate) struct ConsentedParticipant<'a> {
    functions: &'a Functions,
    agreement: Agreement,
    link: ParticipantLink,
}

impl<'a> ConsentedParticipant<'a> {
    /// Opens the link of the participant at index `place`, and consents.
    pub(crate) async fn begin(
        functions: &'a Functions,
        organization_id: OrgId,
        agreement_id: AgreementId,
        place: usize,
    ) -> Result<Self, Error> {
        let system = SystemContext::begin(&functions.app.store, organization_id, "set_up_demo", TimeScale::default());
        let agreement = system.store().agreement(agreement_id).await?.ok_or_else(Error::not_found)?.into_inner();
        let participant_id = agreement.participants.get(place).ok_or_else(Error::not_found)?.id;
        let keys = functions.app.webhooks()?.keys.keyring().await?;
        let link = ParticipantLink::new(&keys, Part { organization_id, agreement_id, participant_id }, 0)?;
        let participant = Self { functions, agreement, link };
        let call = participant.call("give_consent").await?;
        let consent = participants::change_consent(call.scope(), call.participant(), occasion(), true).await?;
        done(call.commit(consent).await?)?;
        Ok(participant)
    }

    pub(crate) async fn call(&self, operation: &'static str) -> Result<ParticipantCall, Error> {
        let app = &self.functions.app;
        let keys = app.webhooks()?.keys.keyring().await?;
        let call = ParticipantCall::begin(&app.store, app.time_scale, operation, &keys, &self.link).await?;
        call.ok_or(Error::Unauthenticated)
    }
}

pub(crate) async fn act(
    functions: &Functions,
    organization_id: OrgId,
    agreement_id: AgreementId,
    place: usize,
    what: PartAct,
) -> Result<(), Error> {
    let participant = ConsentedParticipant::begin(functions, organization_id, agreement_id, place).await?;
    let operation = match what {
        PartAct::Sign => "sign_document",
        PartAct::Approve => "approve_condition",
        PartAct::Answer => "send_answers",
    };
    let call = participant.call(operation).await?;
    let by = call.participant();
    if what == PartAct::Answer {
        let form = answers(&participant.agreement, by.id(), by.name()).ok_or_else(Error::not_found)?;
        let keys = functions.app.webhooks()?.keys.keyring().await?;
        return done(call.commit(information::send(call.scope(), by, &keys, occasion(), &form).await?).await?);
    }
    let doing = doing(&participant.agreement, by, what).ok_or_else(Error::not_found)?;
    done(call.commit(participants::act(call.scope(), by, occasion(), doing).await?).await?)
}

/// The demo expects no refusal.
pub(crate) fn done<T, R: Debug>(outcome: Result<T, R>) -> Result<T, Error> {
    outcome.map_err(|refused| Error::Internal(format!("an act of the demo was refused: {refused:?}")))
}

/// An act from this program, not a browser, with its own receipt.
pub(crate) fn occasion() -> Occasion {
    let (address, browser) = (Some("127.0.0.1".to_owned()), Some("Countersign demo".to_owned()));
    let origin = Origin { address, browser, in_person: None };
    Occasion { id: ReceiptId::new(), origin }
}

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
    Some(AnswerForm { gate, version: 0, typed, dates: DateOrder::default() })
}

fn signatory(agreement: &Agreement, by: &ActingParticipant) -> Option<Signatory> {
    let (name, title) = (DisplayName::parse("Alex Morgan").ok()?, Label::parse("Managing Member").ok()?);
    (!by.is_person(agreement)).then_some(Signatory { name, title })
}

fn doing(agreement: &Agreement, by: &ActingParticipant, what: PartAct) -> Option<ParticipantAct> {
    let name = by.name().clone();
    match what {
        PartAct::Sign => {
            let Document { id, name: document, content, blocks, .. } = agreement.documents.first()?;
            let signatory = signatory(agreement, by);
            let statement = match &signatory {
                Some(_) => statements::signing_for(agreement, by.id(), name.as_str(), document.as_str()),
                None => statements::signing(agreement, by.id(), name.as_str(), document.as_str()),
            };
            let shown_sha256 = content.as_ref()?.sha256.clone();
            Some(ParticipantAct::Sign(Signing {
                document_id: *id,
                shown_sha256,
                shown_blocks: blocks
                    .iter()
                    .filter(|block| block.participant_id == by.id())
                    .map(|block| block.id)
                    .collect(),
                signature: Signature::Typed { name: signatory.as_ref().map_or(name, |by| by.name.clone()) },
                signatory,
                statement,
            }))
        }
        PartAct::Approve => {
            let gates = agreement.stages.iter().flat_map(|stage| stage.gates.iter().map(move |gate| (stage, gate)));
            let is_own = |gate: &Gate| matches!(&gate.rule, GateRule::ParticipantApproval { participant_ids } if participant_ids.contains(&by.id()));
            let (stage, gate) = gates.into_iter().find(|(_, gate)| is_own(gate))?;
            let statement = statements::approval(agreement, by.id(), name.as_str(), stage.name.as_str());
            Some(ParticipantAct::Approve(gate.id, statement))
        }
        PartAct::Answer => None,
    }
}
