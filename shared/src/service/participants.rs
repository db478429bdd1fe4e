//! What participants see and do on their pages, and members for them: hand over links, reopen declined conditions.

use std::collections::BTreeSet;

use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::{Agreement, Participant};
use crate::domain::contact::{ChangedIdentity, Contact};
use crate::domain::ids::{AgreementId, GateId, MovementId, ParticipantId};
use crate::domain::member::{Member, NotReopened, SecondMembers, reopen_gate};
use crate::domain::movement::Movement;
use crate::domain::note::Note;
use crate::domain::obligation::Obligation;
use crate::domain::paper_signature::PaperSignature;
use crate::domain::participant::link_code::StoredLinkCode;
use crate::domain::participant::receipt::{Receipt, Repeatable};
use crate::domain::participant::{
    self, Access, Acted, ActingParticipant, Declining, NotActed, Occasion, Signing, Upload, consent,
};
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::service::agreements::found;
use crate::service::loaded_agreement::{AgreementWithContacts, AgreementWithFacts, obligations_of};
use crate::service::scope::{Plan, Scope};
use crate::service::second_members;
use crate::store::participants as stored;
use crate::store::{Versioned, contacts};

/// What a participant's pages show.
#[derive(Debug)]
pub struct ParticipantView {
    /// The agreement, as of now.
    pub agreement: Agreement,
    /// The contacts of its participants.
    pub contacts: Vec<Contact>,
    /// The participant's own receipts, oldest first.
    pub receipts: Vec<Receipt>,
    /// The participant's own paper signatures, oldest first.
    pub papers: Vec<PaperSignature>,
    /// The payments that the participant sends or receives, as of now, ordered by id.
    pub payments: Vec<Movement>,
    /// The participants that a payment waits for, also one between others.
    pub payment_waits_for: BTreeSet<ParticipantId>,
    /// The obligations in which the participant is a party, in the order of the agreement's promises.
    pub obligations: Vec<Obligation>,
}

pub(super) fn is_party(movement: &Movement, participant: ParticipantId) -> bool {
    let terms = movement.terms();
    [terms.sender, terms.receiver].contains(&Some(participant))
}

/// What a participant's pages show of the agreement of their session.
pub async fn view(scope: &Scope, by: &ActingParticipant) -> Result<ParticipantView, Error> {
    let (store, id) = (scope.store(), by.agreement_id());
    let own = async {
        tokio::try_join!(store.receipts_of(id, by.id()), store.paper_signatures_of(id, by.id())).map_err(Error::from)
    };
    let (agreement, (receipts, papers)) = tokio::try_join!(found(scope, id), own)?;
    agreement.participant(by.id()).ok_or_else(Error::not_found)?;
    let ids: Vec<MovementId> =
        if agreement.was_published() { agreement.movements().keys().copied().collect() } else { Vec::new() };
    let payments = async { store.movements(ids).await.map_err(Error::from) };
    let of_obligations = Agreement::clone(&agreement);
    let loaded = AgreementWithContacts::load(scope, agreement);
    let (loaded, payments, mut obligations) =
        tokio::try_join!(loaded, payments, obligations_of(scope, &of_obligations))?;
    obligations.retain(|obligation| obligation.parties().side(by.id()).is_some());
    let agreement = loaded.as_of(scope, scope.now()).into_owned();
    let payments = payments.into_iter().map(|payment| payment.as_told(&agreement).into_owned());
    let mut payments: Vec<Movement> = payments.collect();
    payments.retain(|payment| is_party(payment, by.id()));
    let payment_waits_for = payments.iter().filter_map(Movement::awaited_party).collect();
    let obligations = obligations.iter().map(|obligation| obligation.as_told(&agreement).into_owned()).collect();
    let contacts = loaded.contacts().to_vec();
    Ok(ParticipantView { agreement, contacts, receipts, papers, payments, payment_waits_for, obligations })
}

/// The agreement of a participant's session.
pub async fn agreement(scope: &Scope, by: &ActingParticipant) -> Result<Agreement, Error> {
    let agreement = found(scope, by.agreement_id()).await?.into_inner();
    agreement.participant(by.id()).ok_or_else(Error::not_found)?;
    Ok(agreement)
}

/// What a participant does, besides giving and withdrawing consent.
#[derive(Debug, Clone)]
pub enum ParticipantAct {
    /// Signs a document.
    Sign(Signing),
    /// Approves what a gate asks to approve, under this sentence.
    Approve(GateId, String),
    /// Uploads a file.
    Upload(Upload),
    /// Declines.
    Decline(Declining, Note),
}

/// Does what a participant's form asks for.
pub async fn act(
    scope: &Scope,
    by: &ActingParticipant,
    occasion: Occasion,
    doing: ParticipantAct,
) -> Result<Plan<Result<(), NotActed>>, Error> {
    let (agreement, (by, receipts)) = tokio::try_join!(found(scope, by.agreement_id()), standing(scope, by))?;
    let shown = [agreement.id().uuid(), by.id().uuid()];
    let plan = |output| Plan::new(scope, output).showing(shown);
    let loaded = AgreementWithFacts::of(agreement);
    let moment = loaded.act_moment(scope);
    Ok(match decide(&by, loaded.context(scope, moment), &receipts, occasion, doing) {
        Ok(acted) => {
            let changes = stored::record(scope.call(), loaded.agreement(), &acted)?;
            plan(Ok(())).decided_at(moment).change(changes).emit(acted.events)
        }
        Err(refused) => plan(Err(refused)),
    })
}

/// Counts a file before it is stored for a participant. False beyond the limit, which includes what was refused later.
pub async fn count_file(scope: &Scope, by: &ActingParticipant, bytes: usize) -> Result<bool, Error> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(scope.store().count_file_bytes(by, bytes).await?)
}

/// What a participant did, oldest first.
pub async fn own_receipts(scope: &Scope, by: &ActingParticipant) -> Result<Vec<Receipt>, Error> {
    Ok(scope.store().receipts_of(by.agreement_id(), by.id()).await?)
}

fn decide(
    by: &ActingParticipant,
    context: AgreementContext<'_>,
    receipts: &[Receipt],
    occasion: Occasion,
    doing: ParticipantAct,
) -> Result<Acted, NotActed> {
    if let ParticipantAct::Upload(upload) = &doing
        && !Repeatable::Upload(upload.gate_id).has_room(receipts)
    {
        return Err(NotActed::TooOften);
    }
    match doing {
        ParticipantAct::Sign(signing) => participant::sign(by, context, occasion, signing),
        ParticipantAct::Approve(gate, statement) => participant::approve(by, context, occasion, gate, statement),
        ParticipantAct::Upload(upload) => participant::upload(by, context, occasion, receipts, upload),
        ParticipantAct::Decline(what, reason) => participant::decline(by, context, occasion, what, reason),
    }
}

/// Gives the consent to electronic records, or withdraws it.
pub async fn change_consent(
    scope: &Scope,
    by: &ActingParticipant,
    occasion: Occasion,
    gives: bool,
) -> Result<Plan<Result<(), NotActed>>, Error> {
    let (by, receipts) = standing(scope, by).await?;
    let shown = [by.agreement_id().uuid(), by.id().uuid()];
    let plan = |output| Plan::new(scope, output).showing(shown);
    if receipts.iter().any(|receipt| receipt.id == occasion.id) {
        return Ok(plan(Ok(())));
    }
    if !gives && !Repeatable::Withdrawal.has_room(&receipts) {
        return Ok(plan(Err(NotActed::TooOften)));
    }
    let change = if gives { consent::give } else { consent::withdraw };
    Ok(match change(&by, occasion, scope.moment()) {
        Some(change) => plan(Ok(())).change([stored::change_consent(scope.call(), &change)?]),
        None => plan(Ok(())),
    })
}

/// The participant of a session as they may act now, with their receipts. Each attempt reads both again.
pub(super) async fn standing(
    scope: &Scope,
    by: &ActingParticipant,
) -> Result<(ActingParticipant, Vec<Receipt>), Error> {
    let store = scope.store();
    let access = store.access(by.agreement_id(), by.id());
    let receipts = store.receipts_of(by.agreement_id(), by.id());
    let (access, receipts) = tokio::try_join!(access, receipts)?;
    if access.generation != by.access().generation {
        return Err(Error::Unauthenticated);
    }
    Ok((by.with_access(access), receipts))
}

/// What members see of a participant.
#[derive(Debug)]
pub struct ParticipantRecord {
    /// The agreement, as of now.
    pub agreement: Agreement,
    /// The participant's contact.
    pub contact: Contact,
    /// How the participant reaches their pages.
    pub access: Access,
    /// What the participant did, oldest first.
    pub receipts: Vec<Receipt>,
    /// The payments that they did something about.
    pub payments: Vec<Movement>,
    /// Their paper signatures, oldest first.
    pub papers: Vec<PaperSignature>,
    /// Who counts as a second member for what another recorded.
    pub seconds: SecondMembers,
    /// The code that a member made last, if it still works.
    pub code: Option<StoredLinkCode>,
}

impl ParticipantRecord {
    /// What has changed about the contact since the agreement's publication or a member's last confirmation.
    #[must_use]
    pub fn changed(&self) -> Option<ChangedIdentity<'_>> {
        self.access.changed(self.participant()?, &self.contact)
    }

    /// Whether they act in the agreement as a person ([`Access::is_person`]).
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.participant().is_some_and(|participant| self.access.is_person(participant, &self.contact))
    }

    fn participant(&self) -> Option<&Participant> {
        self.agreement.participants.iter().find(|participant| participant.contact_id == self.contact.id)
    }
}

/// What members see of a participant.
pub async fn record(scope: &Scope, id: AgreementId, participant: ParticipantId) -> Result<ParticipantRecord, Error> {
    let store = scope.store();
    let own = async {
        let (access, receipts) = (store.access(id, participant), store.receipts_of(id, participant));
        let papers = store.paper_signatures_of(id, participant);
        let code = store.link_code(id, participant);
        tokio::try_join!(access, receipts, papers, code).map_err(Error::from)
    };
    let (agreement, (access, receipts, papers, code), seconds) =
        tokio::try_join!(found(scope, id), own, second_members::load(scope))?;
    let contact = agreement.participant(participant).ok_or_else(Error::not_found)?.contact_id;
    let of_receipts: BTreeSet<MovementId> = receipts.iter().filter_map(|receipt| receipt.act.movement_id()).collect();
    let payments = async { store.movements(of_receipts).await.map_err(Error::from) };
    let (loaded, payments) = tokio::try_join!(AgreementWithContacts::load(scope, agreement), payments)?;
    let payments = payments.into_iter().map(Versioned::into_inner).collect();
    let contact = loaded.contacts().iter().find(|found| found.id == contact).cloned().ok_or_else(Error::not_found)?;
    let agreement = loaded.as_of(scope, scope.now()).into_owned();
    let code = code.filter(|code| code.works(access.generation, scope.now()) && code.tries_left() > 0);
    Ok(ParticipantRecord { agreement, contact, access, receipts, payments, papers, seconds, code })
}

/// Reissues a link, which ends the previous one and its sessions. A form names the generation shown: it acts once.
pub async fn reissue_link(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    shown: u64,
) -> Result<Plan<()>, Error> {
    let access = async { scope.store().access(agreement, participant).await.map_err(Error::from) };
    let (agreement, access) = tokio::try_join!(found(scope, agreement), access)?;
    let contact = agreement.participant(participant).ok_or_else(Error::not_found)?.contact_id;
    let plan = Plan::new(scope, ()).showing([agreement.id().uuid(), participant.uuid(), contact.uuid()]);
    if access.generation != shown {
        return Ok(plan);
    }
    Ok(plan.change([stored::reissue(scope.call(), by, &agreement, participant, access)]))
}

/// The outcome of a member's request to see a participant's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkShown {
    /// Their view is on record.
    Shown,
    /// The link was reissued after the form was shown.
    Reissued,
    /// The participant's address has changed since publication, and no member has confirmed the new one.
    Readdressed,
}

/// The contact of a participant, and whether a member has to confirm its address before anything is sent to it.
pub(super) async fn addressee(
    scope: &Scope,
    agreement: &Agreement,
    participant: ParticipantId,
    access: &Access,
) -> Result<(Versioned<Contact>, bool), Error> {
    let participant = agreement.participant(participant).ok_or_else(Error::not_found)?;
    let contact = scope.store().contact(participant.contact_id).await?.ok_or_else(Error::not_found)?;
    let is_readdressed = access.changed(participant, &contact).is_some_and(|changed| changed.is_readdressed());
    Ok((contact, is_readdressed))
}

/// Confirms the name and address of a participant's contact. False if they have changed since the form showed them.
pub async fn confirm_contact(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    shown: u64,
) -> Result<Plan<bool>, Error> {
    let access = async { scope.store().access(agreement, participant).await.map_err(Error::from) };
    let (agreement, access) = tokio::try_join!(found(scope, agreement), access)?;
    let (contact, _) = addressee(scope, &agreement, participant, &access).await?;
    if !agreement.was_published() {
        return Err(Error::not_found());
    }
    let plan = Plan::new(scope, contact.identity_version == shown);
    let plan = plan.showing([agreement.id().uuid(), participant.uuid(), contact.id.uuid()]);
    if contact.identity_version != shown || access.contact_version == Some(shown) {
        return Ok(plan);
    }
    let confirmed = stored::confirm_contact(scope.call(), by, &agreement, participant, shown);
    Ok(plan.change([confirmed, contacts::check(scope.call(), &contact)]))
}

/// Records that a member was shown a participant's link, of the generation in the form, and can send it from then on.
pub async fn show_link(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    participant: ParticipantId,
    shown: u64,
) -> Result<Plan<LinkShown>, Error> {
    let access = async { scope.store().access(agreement, participant).await.map_err(Error::from) };
    let (agreement, access) = tokio::try_join!(found(scope, agreement), access)?;
    let (contact, is_readdressed) = addressee(scope, &agreement, participant, &access).await?;
    if !agreement.was_published() {
        return Err(Error::not_found());
    }
    let plan = |output| Plan::new(scope, output).showing([agreement.id().uuid(), participant.uuid()]);
    if is_readdressed {
        return Ok(plan(LinkShown::Readdressed));
    }
    if access.generation != shown {
        return Ok(plan(LinkShown::Reissued));
    }
    let on_record = stored::show_link(scope.call(), by, &agreement, participant, shown);
    Ok(plan(LinkShown::Shown).change([on_record, contacts::check(scope.call(), &contact)]))
}

/// Reopens a declined condition.
pub async fn reopen(
    scope: &Scope,
    by: &Member,
    agreement: AgreementId,
    gate: GateId,
    shown_declined_at: Timestamp,
) -> Result<Plan<Result<(), NotReopened>>, Error> {
    let loaded = AgreementWithFacts::of(found(scope, agreement).await?);
    let before = loaded.agreement();
    let shown = [agreement.uuid(), gate.uuid()];
    let moment = loaded.act_moment(scope);
    Ok(match reopen_gate(by, loaded.context(scope, moment), gate, shown_declined_at) {
        Ok(reopened) => {
            let changes = stored::reopen(scope.call(), before, &reopened, gate)?;
            Plan::new(scope, Ok(())).decided_at(moment).change([changes]).emit(reopened.events).showing(shown)
        }
        Err(reason) => Plan::new(scope, Err(reason)).showing(shown),
    })
}
