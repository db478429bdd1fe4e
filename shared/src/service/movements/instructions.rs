use http::StatusCode;

use super::Records;
use crate::crypto::keyring::Keyring;
use crate::domain::bank_account::{AccountDigest, AccountKeys, BankAccount};
use crate::domain::ids::{AgreementId, FieldId, GateId, MovementId, ParticipantId};
use crate::domain::information::bank_details::BankDetails;
use crate::domain::information::{Verdict, place as answer_place};
use crate::domain::member::Member;
use crate::domain::member::movements as acts;
use crate::domain::movement::instructions::{BankInstructions, InstructionsStatus, NewVerification, ToTypeAgain};
use crate::domain::movement::{Movement, NotMoved};
use crate::error::{Error, ErrorCode};
use crate::service::scope::{Plan, Scope};
use crate::service::second_members;
use crate::store::movements as stored;

/// Enters instructions, or changes those of the revision that the form showed, 0 if it showed none.
pub async fn enter_instructions(
    scope: &Scope,
    by: &Member,
    keys: &Keyring,
    id: MovementId,
    shown: u32,
    instructions: &BankInstructions,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let records = Records::load(scope, id).await?;
    let movement = &records.movement;
    let revision = shown.saturating_add(1);
    let own = movement.instructions().filter(|found| found.entered_by.is_member(by.id()));
    if own.is_some_and(|found| found.revision == revision)
        && opened(scope, keys, id, revision).await?.as_ref() == Some(instructions)
    {
        return Ok(records.plan(scope, Ok(())));
    }
    let before = match movement.instructions() {
        Some(found) => scope.store().sealed_instructions(id, found.revision).await?,
        None => None,
    };
    // Instructions that no longer open count as different.
    let before = before.and_then(|stored| stored.opened(keys).ok());
    let new = instructions.sealed(keys, scope.org(), id, revision)?.after(before.as_ref(), instructions);
    Ok(match acts::enter_instructions(by, records.context(scope), movement, new) {
        Ok(entered) => {
            let changes = stored::enter_instructions(scope.call(), records.read(), &entered)?;
            records.plan(scope, Ok(())).change(changes).emit(entered.change.events)
        }
        Err(refused) => records.plan(scope, Err(refused)),
    })
}

async fn opened(
    scope: &Scope,
    keys: &Keyring,
    movement: MovementId,
    revision: u32,
) -> Result<Option<BankInstructions>, Error> {
    let Some(stored) = scope.store().sealed_instructions(movement, revision).await? else { return Ok(None) };
    Ok(Some(stored.opened(keys)?))
}

/// Digests of the accounts in a movement's last released instructions, to compare with one account, or with each number
/// of a free text. None before a release: what one member entered proves nothing.
///
/// Stored digests without a current key are made again from the instructions, unless their own key was dropped.
pub async fn instructed_accounts(
    scope: &Scope,
    keys: &Keyring,
    movement: &Movement,
) -> Result<Option<Vec<AccountDigest>>, Error> {
    let Some(released) = movement.instructions().and_then(|found| found.released_last.as_ref()) else {
        return Ok(None);
    };
    let account_keys = AccountKeys::new(keys, scope.org());
    if released.accounts.iter().all(|digest| account_keys.made(digest)) {
        return Ok(Some(released.accounts.clone()));
    }
    let stored = scope.store().sealed_instructions(movement.id(), released.revision).await?;
    Ok(Some(match stored.and_then(|stored| stored.opened(keys).ok()) {
        Some(clear) => clear.accounts().iter().map(|account| account_keys.digest(account)).collect(),
        None => released.accounts.clone(),
    }))
}

/// A movement's instructions, opened to be verified. Its `Debug` doesn't show them.
#[derive(Debug)]
pub struct InstructionsToVerify {
    revision: u32,
    clear: BankInstructions,
}

impl InstructionsToVerify {
    /// The movement's current ones. None without instructions, or if they no longer open.
    pub async fn load(scope: &Scope, keys: &Keyring, movement: &Movement) -> Result<Option<Self>, Error> {
        let Some(InstructionsStatus { revision, .. }) = movement.instructions() else { return Ok(None) };
        let stored = scope.store().sealed_instructions(movement.id(), *revision).await?;
        let clear = stored.and_then(|stored| stored.opened(keys).ok());
        Ok(clear.map(|clear| Self { revision: *revision, clear }))
    }

    /// What a member has to type again.
    #[must_use]
    pub fn to_type_again(&self) -> ToTypeAgain {
        self.clear.to_type_again()
    }

    /// Whether the typed accounts are all that they name. Instructions that name no account are never verified.
    fn are(&self, keys: &AccountKeys, typed: &[BankAccount]) -> bool {
        let entered = self.clear.accounts();
        let is_same =
            |(entered, typed): (&BankAccount, &BankAccount)| keys.digest(entered).is_exactly(keys, typed) == Some(true);
        !entered.is_empty() && entered.len() == typed.len() && entered.iter().zip(typed).all(is_same)
    }
}

/// What a member who verifies instructions says.
#[derive(Debug, Clone)]
pub struct TypedVerification {
    /// The revision that the form showed.
    pub revision: u32,
    /// Who read them out, and how.
    pub verification: NewVerification,
    /// What was typed again, in the order of the instructions.
    pub accounts: Vec<BankAccount>,
}

/// Verifies instructions if what was typed agrees; otherwise the plan counts a try, unless they no longer open.
pub async fn verify_instructions(
    scope: &Scope,
    by: &Member,
    id: MovementId,
    keys: &Keyring,
    opened: Option<&InstructionsToVerify>,
    typed: &TypedVerification,
) -> Result<Plan<Result<(), NotMoved>>, Error> {
    let TypedVerification { revision, verification, accounts } = typed;
    let records = Records::load(scope, id).await?;
    let (movement, context) = (&records.movement, records.context(scope));
    let found = movement.instructions().filter(|found| found.revision == *revision);
    let entered_by = found.and_then(|found| found.entered_by.member());
    let counting = second_members::load(scope).await?.counting(by.id(), entered_by);
    let refused = |reason| Ok(records.plan(scope, Err(reason)));
    let Some(opened) = opened else { return refused(NotMoved::NoInstructions) };
    if opened.revision != *revision {
        return refused(NotMoved::InstructionsChanged);
    }
    if opened.are(&AccountKeys::new(keys, scope.org()), accounts) {
        return Ok(match acts::verify_instructions(by, context, movement, *revision, verification.clone(), counting) {
            Ok(change) => {
                let changes = stored::act(scope.call(), records.read(), &change)?;
                records.plan(scope, Ok(())).change(changes).emit(change.events)
            }
            Err(refused) => records.plan(scope, Err(refused)),
        });
    }
    Ok(match acts::count_wrong_try(by, context, movement, *revision, counting) {
        Ok((counted, left)) => {
            let changes = stored::count_wrong_try(scope.call(), records.read(), &counted)?;
            let plan = records.plan(scope, Err(NotMoved::OtherNumbers(left))).change(changes).emit(counted.events);
            plan.refusing(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidRequest)
        }
        Err(refused) => records.plan(scope, Err(refused)),
    })
}

/// The instructions in a participant's accepted answer, for a member to enter. None if it has no bank details.
pub async fn instructions_of_answer(
    scope: &Scope,
    keys: &Keyring,
    agreement: AgreementId,
    gate: GateId,
    participant: ParticipantId,
    field: FieldId,
) -> Result<Option<BankInstructions>, Error> {
    let submissions = scope.store().submissions_of(agreement, gate, participant).await?;
    let accepted = submissions.iter().rev().find(|sent| matches!(sent.verdict, Verdict::Accepted { .. }));
    let Some(sealed) = accepted.and_then(|sent| sent.sealed(field)) else { return Ok(None) };
    let text = keys.open(sealed, &answer_place(gate, participant, field))?;
    Ok(BankDetails::opened(&text).map(BankInstructions::of_answer))
}
