//! A movement as its page shows it, with what its forms need.
//!
//! Decision: evidence and members are read with the movement, and only shown. Acts read again what they decide on.

use crate::domain::agreement::gate::{FieldType, GateRule};
use crate::domain::agreement::{Agreement, Label};
use crate::domain::contact::Contact;
use crate::domain::ids::{FieldId, GateId, MovementId, ParticipantId};
use crate::domain::information::{Answer, Submission, Verdict};
use crate::domain::member::SecondMembers;
use crate::domain::movement::Movement;
use crate::domain::movement::evidence::Evidence;
use crate::domain::time::Timestamp;
use crate::domain::workspace::Workspace;
use crate::error::Error;
use crate::service::agreements::found as found_agreement;
use crate::service::loaded_agreement::AgreementWithContacts;
use crate::service::movements::found;
use crate::service::scope::Scope;
use crate::service::second_members;
use crate::service::workspaces;
use crate::store::Versioned;

/// A movement as its page shows it.
#[derive(Debug)]
pub struct MovementReview {
    /// The movement; cancelled if its agreement has ended, recorded or not.
    pub movement: Movement,
    /// Its agreement as of now.
    pub agreement: Agreement,
    /// The contacts of the participants.
    pub contacts: Vec<Contact>,
    /// The workspace.
    pub workspace: Workspace,
    /// All evidence that was ever filed for it, oldest first.
    pub evidence: Vec<Evidence>,
    /// Who counts as a second member for what another recorded.
    pub seconds: SecondMembers,
}

/// A movement as its page shows it.
pub async fn get(scope: &Scope, id: MovementId) -> Result<MovementReview, Error> {
    let evidence = async { scope.store().evidence_of(id).await.map_err(Error::from) };
    let (movement, evidence, seconds) = tokio::try_join!(found(scope, id), evidence, second_members::load(scope))?;
    let workspace = workspaces::workspace_of(scope, movement.workspace_id());
    let (agreement, workspace) = tokio::try_join!(found_agreement(scope, movement.agreement_id()), workspace)?;
    let (movement, agreement, contacts) = as_of_now(scope, movement, agreement).await?;
    Ok(MovementReview { movement, agreement, contacts, workspace: workspace.into_inner(), evidence, seconds })
}

async fn as_of_now(
    scope: &Scope,
    movement: Versioned<Movement>,
    agreement: Versioned<Agreement>,
) -> Result<(Movement, Agreement, Vec<Contact>), Error> {
    let loaded = AgreementWithContacts::load(scope, agreement).await?;
    let agreement = loaded.as_of(scope, scope.now()).into_owned();
    Ok((movement.as_told(&agreement).into_owned(), agreement, loaded.contacts().to_vec()))
}

/// Bank details that a participant gave and a member accepted, by their question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedAccount {
    /// The information request.
    pub gate_id: GateId,
    /// Who answered.
    pub participant_id: ParticipantId,
    /// The question.
    pub field_id: FieldId,
    /// The question in words.
    pub question: Label,
    /// The last characters of the account number.
    pub ending: String,
    /// When a member accepted them.
    pub accepted_at: Timestamp,
}

/// What the form of a movement's instructions needs.
#[derive(Debug)]
pub struct InstructionsForm {
    /// The movement.
    pub movement: Movement,
    /// Its agreement as of now.
    pub agreement: Agreement,
    /// The contacts of the participants.
    pub contacts: Vec<Contact>,
    /// The accounts that instructions can be taken from, the payee's first.
    pub accounts: Vec<AcceptedAccount>,
}

/// What the form of a movement's instructions needs.
pub async fn instructions_form(scope: &Scope, id: MovementId) -> Result<InstructionsForm, Error> {
    let movement = found(scope, id).await?;
    let answers = async { scope.store().submissions(movement.agreement_id()).await.map_err(Error::from) };
    let (agreement, answers) = tokio::try_join!(found_agreement(scope, movement.agreement_id()), answers)?;
    let (movement, agreement, contacts) = as_of_now(scope, movement, agreement).await?;
    let mut accounts = accepted_accounts(&agreement, &answers);
    accounts.sort_by_key(|account| Some(account.participant_id) != movement.terms().receiver);
    Ok(InstructionsForm { movement, agreement, contacts, accounts })
}

fn accepted_accounts(agreement: &Agreement, answers: &[Submission]) -> Vec<AcceptedAccount> {
    let mut found = Vec::new();
    for gate in agreement.stages.iter().flat_map(|stage| &stage.gates) {
        let GateRule::InformationRequest { participant_ids, fields } = &gate.rule else { continue };
        for participant_id in participant_ids.iter().copied() {
            let own = |sent: &&Submission| sent.gate_id == gate.id && sent.participant_id == participant_id;
            let accepted = answers.iter().filter(own).filter_map(|sent| match sent.verdict {
                Verdict::Accepted { at, .. } => Some((sent.revision, at, &sent.answers)),
                Verdict::Sent | Verdict::Returned { .. } => None,
            });
            let Some((_, accepted_at, answers)) = accepted.max_by_key(|(revision, ..)| *revision) else { continue };
            for field in fields.iter().filter(|field| field.field_type == FieldType::BankDetails) {
                let Some(Answer::BankDetails { ending, .. }) = answers.get(&field.id) else { continue };
                found.push(AcceptedAccount {
                    gate_id: gate.id,
                    participant_id,
                    field_id: field.id,
                    question: field.label.clone(),
                    ending: ending.clone(),
                    accepted_at,
                });
            }
        }
    }
    found
}
