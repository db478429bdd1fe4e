//! What a payment's parties do on its page: report it as sent or arrived, hand in bank documents, withdraw evidence.

use pages::done::redirect_with;
use pages::fields::{Fields, read_day};
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::urls::receipt_url;
use shared::domain::day::Day;
use shared::domain::ids::{EvidenceId, MovementId, ReceiptId};
use shared::domain::money::{Currency, Money, NotAnAmount, read_minor};
use shared::domain::movement::NotMoved;
use shared::domain::movement::claim::{NewClaim, ReferenceType, TransferReference};
use shared::domain::movement::evidence::{BankReference, EvidenceFacts, EvidenceFile, NewEvidence, typed_value_day};
use shared::domain::movement::safe_text::{SafeLine, SafeNote};
use shared::domain::movement::source::{ChosenSource, EvidenceSource, ReceiverSource, SenderSource, Side};
use shared::domain::movement::state::MovementState;
use shared::domain::participant::movements::own_sources;
use shared::domain::participant::receipt::Repeatable;
use shared::domain::participant::{NotActed, Occasion};
use shared::domain::sensitive::{has_account_number, has_iban};
use shared::error::Error;
use shared::limits;
use shared::service::own_movements::{self, PartyAct};
use shared::text::movements as words;
use shared::web::participant_link::origin;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::own_files::keep_own_file;
use crate::payment::{Refused, again, load};
use crate::payment_forms::{EVIDENCE, SENT, WITHDRAWAL};
use crate::{PartForm, refusal};

pub(crate) async fn report_sent(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form): (MovementId, _) = (request.path_id("movement")?, submitted.form());
    let claim = match read_claim(form, today(request)?) {
        Ok(claim) => claim,
        Err(errors) => return invalid(request, form, errors).await,
    };
    let shown = form.get("revision").parse().unwrap_or_default();
    let line = "It is on record as your claim. Whether it arrived is for the receiving side to prove.";
    let notice = Notice::plain("You reported the payment as sent", line);
    act(request, &submitted, id, PartyAct::ReportSent(shown, claim), notice).await
}

pub(crate) async fn hand_in(request: &mut Request) -> Result<PageResponse, Error> {
    let line = "It is on file. It shows what your bank says was sent, and proves nothing about the arrival.";
    let notice = Notice::plain("You handed in a document of your bank", line);
    file(request, EvidenceSource::Sender(SenderSource::SenderBankDocument), notice).await
}

pub(crate) async fn report_arrival(request: &mut Request) -> Result<PageResponse, Error> {
    let organization = request.participant_session()?.organization().name.as_str();
    let line = format!("Next: {organization} decides whether to accept it. Until then the payment isn’t confirmed.");
    let notice = Notice::plain("You reported money as arrived", line);
    file(request, EvidenceSource::Receiver(ReceiverSource::RecipientConfirmation), notice).await
}

pub(crate) async fn withdraw(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, evidence): (MovementId, EvidenceId) = (request.path_id("movement")?, request.path_id("evidence")?);
    let form = submitted.form();
    let reason = match SafeNote::parse(form.get(WITHDRAWAL.reason)) {
        Ok(reason) => reason,
        Err((code, message)) => {
            let errors = FieldErrors::one(WITHDRAWAL.reason, code, readable(code, message));
            let refused = Refused { fields: typed(form, errors), notice: None, withdrawing: Some(evidence) };
            return Ok(again(request, refused).await?.unprocessable());
        }
    };
    let notice = Notice::plain("You withdrew what you had filed", "It no longer counts.");
    act(request, &submitted, id, PartyAct::WithdrawEvidence(evidence, reason), notice).await
}

fn today(request: &Request) -> Result<Day, Error> {
    Ok(request.participant_session()?.organization().time_zone.day_of(request.now()))
}

async fn file(request: &Request, source: EvidenceSource, notice: Notice) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form): (MovementId, _) = (request.path_id("movement")?, submitted.form());
    let evidence: EvidenceId = submitted.second_id();
    let source = ChosenSource::parse(source.as_str()).ok_or_else(Error::not_found)?;
    let facts = read_facts(form, source, today(request)?);
    let (money, value_day, reference) = match facts {
        Ok(facts) => facts,
        Err(errors) => return invalid(request, form, errors).await,
    };
    // No file is stored for a form that records nothing.
    let bytes = form.file(EVIDENCE.file).map_or(0, |file| file.content.len());
    if let Some(refused) = not_asked(request, source.source(), bytes).await? {
        return conflict(request, form, refused).await;
    }
    let file = match keep(&submitted).await? {
        Ok(file) => file,
        Err(errors) => return invalid(request, form, errors).await,
    };
    let facts = EvidenceFacts { money, value_day, reference, file };
    match NewEvidence::typed(evidence, source, facts) {
        Ok(new) => act(request, &submitted, id, PartyAct::FileEvidence(Box::new(new)), notice).await,
        Err(errors) => invalid(request, form, errors).await,
    }
}

/// Why no evidence from a source is taken now. Checked before a file is stored; recording it decides.
async fn not_asked(request: &Request, source: EvidenceSource, bytes: usize) -> Result<Option<NotMoved>, Error> {
    let own = load(request).await?;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let by = request.participant_session()?.participant();
    let state = own.movement.state();
    Ok(if by.access().consent.is_none() {
        Some(NotMoved::NoConsent)
    } else if !own_sources(&own.movement, by).any(|own| own.source() == source) {
        Some(NotMoved::WrongSource)
    } else if !own.movement.takes_evidence_of(source.side()) {
        Some(NotMoved::NotNow(state))
    } else if source.side() == Side::Receiver && request.participant_session()?.in_person().is_some() {
        Some(NotMoved::InPerson)
    } else if !own.movement.has_room_for(by.id()) {
        Some(NotMoved::PartyFull)
    } else if !Repeatable::Payment.has_room(&own.view.receipts) {
        Some(NotMoved::Full)
    } else if bytes > 0 && !own.view.agreement.has_room_for_participant(bytes, &own.view.receipts) {
        Some(NotMoved::NoRoom)
    } else {
        None
    })
}

async fn act(
    request: &Request,
    submitted: &PartForm<'_>,
    id: MovementId,
    act: PartyAct,
    notice: Notice,
) -> Result<PageResponse, Error> {
    let (form, by, scope) = (submitted.form(), submitted.submitter(), submitted.scope());
    let receipt: ReceiptId = submitted.new_id();
    let redirect = redirect_with(submitted, receipt_url(by.id(), receipt), &notice).await;
    let occasion = Occasion { id: receipt, origin: origin(request) };
    let run = || own_movements::act(scope, by, occasion.clone(), id, act.clone());
    match Box::pin(submitted.run(run)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => conflict(request, form, refused).await,
    }
}

fn typed(form: &Form, errors: FieldErrors) -> Fields {
    let fields = Fields::submitted(form, errors);
    let is_secret = |name: &str| {
        let value = form.get(name);
        has_iban(value) || (has_account_number(value) && fields.error(name).is_some())
    };
    let secret: Vec<&str> = form.typed().map(|(name, _)| name).filter(|name| is_secret(name)).collect();
    fields.clone().without(|name| secret.contains(&name))
}

async fn invalid(request: &Request, form: &Form, errors: FieldErrors) -> Result<PageResponse, Error> {
    let line = if form.has_file() { "Nothing was recorded. Choose the file again." } else { "Nothing was recorded." };
    let notice = Some(Notice::bad("Check what is marked below", line));
    let refused = Refused { fields: typed(form, errors), notice, withdrawing: None };
    Ok(again(request, refused).await?.unprocessable())
}

async fn conflict(request: &Request, form: &Form, refused: NotMoved) -> Result<PageResponse, Error> {
    let organization = request.participant_session()?.organization().name.as_str();
    let notice = Some(of_refusal(refused, organization));
    let refused = Refused { fields: typed(form, FieldErrors::default()), notice, withdrawing: None };
    Ok(again(request, refused).await?.conflicting())
}

fn of_refusal(refused: NotMoved, organization: &str) -> Notice {
    let nothing = "Nothing was recorded.";
    match refused {
        NotMoved::InPerson => in_members_browser(organization),
        NotMoved::InstructionsChanged => instructions_changed(organization),
        NotMoved::NotNow(MovementState::Cancelled) => Notice::bad(
            "This payment was cancelled",
            format!(
                "{nothing} If you have sent it, call {organization} and your bank now. If it has arrived, tell {organization}."
            ),
        ),
        NotMoved::NotNow(state) => {
            let now = words::movement_state(state).to_lowercase();
            Notice::bad("This payment has moved on", format!("It is now: {now}. {nothing}"))
        }
        NotMoved::NoConsent => {
            let (title, line) = refusal(NotActed::NoConsent);
            Notice::bad(title, line)
        }
        NotMoved::FiledAlready => Notice::bad(
            "You have done this already",
            format!("The same document, bank reference or form is on file for this payment. {nothing}"),
        ),
        NotMoved::Decided | NotMoved::NotStanding => Notice::bad(
            "This was decided already",
            format!("{organization} was faster, or you withdrew it before. {nothing}"),
        ),
        NotMoved::Full => {
            Notice::bad("Too much has been recorded", format!("{nothing} Ask {organization} how to go on."))
        }
        NotMoved::NoRoom => Notice::bad(
            "There is no room for this document",
            format!(
                "This agreement has nearly as many files as its evidence can hold, or you have added your share of them. {nothing} Make the file smaller, or hand it to {organization} instead: their members have room of their own."
            ),
        ),
        NotMoved::PartyFull => Notice::bad(
            "You can’t file more for this payment",
            format!(
                "One party files at most {} times for a payment, also counting what was withdrawn. {nothing} Hand it to {organization} instead: their members can still file it.",
                limits::EVIDENCE_PER_PARTY_MAX
            ),
        ),
        NotMoved::Unknown
        | NotMoved::NotActive(_)
        | NotMoved::StepNotDone(_)
        | NotMoved::Incomplete
        | NotMoved::NotAsked
        | NotMoved::NoInstructions
        | NotMoved::NotVerified
        | NotMoved::Verified
        | NotMoved::Own
        | NotMoved::OneSelf
        | NotMoved::OtherNumbers(_)
        | NotMoved::VerificationEnded
        | NotMoved::OtherAccount
        | NotMoved::WrongCurrency
        | NotMoved::WrongSource
        | NotMoved::SendersSide
        | NotMoved::Undecided
        | NotMoved::Arrived
        | NotMoved::Received
        | NotMoved::SameInstructions
        | NotMoved::NoSurplus
        | NotMoved::PerhapsSame
        | NotMoved::WrongReason => {
            Notice::bad("This is not asked of you now", format!("The payment has moved on. {nothing}"))
        }
    }
}

fn in_members_browser(organization: &str) -> Notice {
    let line = format!(
        "It has a session of a member of {organization}, so what you report here can’t count as your own word. Nothing was recorded. Open your link in your own browser."
    );
    Notice::bad("This isn’t your own browser", line)
}

fn instructions_changed(organization: &str) -> Notice {
    Notice::new(
        "bad",
        "The instructions changed after you opened this page".to_owned(),
        [
            format!(
                "Nothing was recorded. If you sent money by the earlier ones, call {organization} and your bank now, on numbers that you know."
            ),
            "Report the payment only if you sent it to the account of the instructions that apply now.".to_owned(),
        ],
    )
}

fn read_claim(form: &Form, today: Day) -> Result<NewClaim, FieldErrors> {
    // Checked here too, to report it together with the reference's errors.
    let is_past = |day: Day| NewClaim::checked(day, today, Vec::new()).map(|_| day);
    let sent_on = read_day(form, SENT.sent_on.name).and_then(is_past);
    let reference = match (form.get(SENT.reference_type), form.get(SENT.reference).trim()) {
        ("", "") => Ok(None),
        ("", _) => {
            let message = "must be chosen for the reference that you entered";
            Err(FieldErrors::one(SENT.reference_type, FieldCode::Required, message))
        }
        (_, "") => {
            let message = "is missing. Enter it, or choose “No reference”";
            Err(FieldErrors::one(SENT.reference, FieldCode::Required, message))
        }
        (kind, text) => match ReferenceType::parse(kind) {
            Some(kind) => TransferReference::parse(kind, text)
                .map(Some)
                .map_err(|(code, message)| FieldErrors::one(SENT.reference, code, readable(code, message))),
            None => Err(FieldErrors::one(SENT.reference_type, FieldCode::InvalidValue, "must be one of the list")),
        },
    };
    match (sent_on, reference) {
        (Ok(sent_on), Ok(reference)) => NewClaim::checked(sent_on, today, reference.into_iter().collect()),
        (sent_on, reference) => {
            let mut errors = sent_on.err().unwrap_or_default();
            errors.extend(reference.err().unwrap_or_default());
            Err(errors)
        }
    }
}

type TypedFacts = (Money, Day, Option<BankReference>);

fn read_facts(form: &Form, source: ChosenSource, today: Day) -> Result<TypedFacts, FieldErrors> {
    let currency = Currency::read(form.get(EVIDENCE.currency))
        .map_err(|error| FieldErrors::one(EVIDENCE.currency, FieldCode::InvalidValue, error.to_string()));
    let code = currency.as_ref().map(|currency| currency.code()).unwrap_or_default();
    let wrong = |error: NotAnAmount| FieldErrors::one(EVIDENCE.amount, error.code(), error.message(code));
    // Without a currency, assume the usual decimals.
    let amount = read_minor(form.get(EVIDENCE.amount), code).map_err(wrong);
    let money = match (&currency, &amount) {
        (Ok(currency), Ok(minor)) => Money::new(*minor, *currency).map(Some).map_err(wrong),
        _ => Ok(None),
    };
    let value_day = read_day(form, EVIDENCE.value_date.name).and_then(|day| typed_value_day(day, today));
    let reference = match form.get(EVIDENCE.bank_reference).trim() {
        "" => Ok(None),
        text => BankReference::parse(text)
            .map(Some)
            .map_err(|(code, message)| FieldErrors::one(EVIDENCE.bank_reference, code, message)),
    };
    let is_missing = source.source().needs_file() && form.file(EVIDENCE.file).is_none();
    match (money, value_day, reference) {
        (Ok(Some(money)), Ok(value_day), Ok(reference)) if !is_missing => Ok((money, value_day, reference)),
        (money, value_day, reference) => {
            let mut errors = amount.err().unwrap_or_default();
            errors.extend(money.err().unwrap_or_default());
            errors.extend(currency.err().unwrap_or_default());
            errors.extend(value_day.err().unwrap_or_default());
            errors.extend(reference.err().unwrap_or_default());
            if is_missing {
                errors.extend(FieldErrors::one(EVIDENCE.file, FieldCode::Required, "must be chosen"));
            }
            Err(errors)
        }
    }
}

pub(super) async fn keep(submitted: &PartForm<'_>) -> Result<Result<Option<EvidenceFile>, FieldErrors>, Error> {
    let Some(file) = submitted.form().file(EVIDENCE.file) else { return Ok(Ok(None)) };
    // Before it is stored: members and the evidence bundle see its name.
    if has_account_number(&file.name) {
        let message = "has an account or card number in its name. Rename it, and choose it again";
        return Ok(Err(FieldErrors::one(EVIDENCE.file, FieldCode::SensitiveValue, message)));
    }
    Ok(match keep_own_file(submitted, Some(file), EVIDENCE.file.name).await? {
        Ok((name, content, file_type)) => match SafeLine::parse(name.as_str()) {
            Ok(name) => Ok(Some(EvidenceFile { name, content, file_type: Some(file_type) })),
            Err((code, message)) => Err(FieldErrors::one(EVIDENCE.file, code, message)),
        },
        Err(errors) => Err(errors),
    })
}

/// The message about an account number in a text, where there is no other place to enter one.
fn readable(code: FieldCode, message: String) -> String {
    if code == FieldCode::SensitiveValue { "must not contain an account or card number".to_owned() } else { message }
}
