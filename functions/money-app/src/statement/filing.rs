//! Files the chosen entries as evidence, each in its payment's own transaction. This accepts nothing.

use std::collections::BTreeMap;

use pages::agreement_payments::purpose_of;
use pages::done::with_notice;
use pages::fields::Fields;
use pages::layout::{Link, Notice};
use pages::response::PageResponse;
use pages::statement_file as read;
use pages::urls::{movement_url, statement_url};
use shared::crypto::keyring::Keyring;
use shared::domain::ids::{EvidenceId, MovementId, StatementId};
use shared::domain::movement::NotMoved;
use shared::domain::movement::evidence::{NewEvidence, StatementEntry};
use shared::domain::movement::evidence_account::SpokenAccount;
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::sensitive::has_account_number;
use shared::domain::statement::Statement;
use shared::error::Error;
use shared::limits;
use shared::service::movements::{self, NotFiled};
use shared::service::statements as stored;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::movement::line;
use crate::statement::accounts::account_of;
use crate::statement::entry_fields::{FILING, PAIR, RESOLVING, reason_of};
use crate::statement::{counted, show};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    number: u32,
    movement: MovementId,
    evidence: EvidenceId,
    /// Whether the member was told that the payment is an exception, which filing first resolves.
    resolves: bool,
}

fn typed(form: &Form, errors: FieldErrors) -> Fields {
    let is_secret = |name: &str| name.starts_with(FILING.reason.name) && has_account_number(form.get(name));
    Fields::submitted(form, errors).without(is_secret)
}

async fn again(request: &Request, form: &Form, notice: Notice, errors: FieldErrors) -> Result<PageResponse, Error> {
    Ok(show::page(request, Some(notice), typed(form, errors)).await?.unprocessable())
}

pub(crate) async fn file_entries(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form): (StatementId, _) = (request.path_id("id")?, submitted.form());
    let pairs = pairs(&submitted);
    if let Some(notice) = unclear(&pairs) {
        return again(request, form, notice, FieldErrors::default()).await;
    }
    let reasons = match reasons(form, &pairs) {
        Ok(reasons) => reasons,
        Err(errors) => {
            let notice = Notice::bad("Nothing was filed", "Check what is marked below.");
            return again(request, form, notice, errors).await;
        }
    };
    let statement = stored::get(submitted.scope(), id).await?;
    let entries = match read_entries(request, &statement, &pairs, reasons).await? {
        Ok(entries) => entries,
        Err(notice) => return again(request, form, notice, FieldErrors::default()).await,
    };
    let outgoing = stored::not_arriving(submitted.scope(), pairs.iter().map(|pair| pair.movement)).await?;
    if let Some(outgoing) = outgoing.first() {
        let line = format!(
            "“{}” is paid by your organization, so it arrives on someone else’s statement.",
            purpose_of(outgoing)
        );
        return again(request, form, Notice::bad("Nothing was filed", line), FieldErrors::default()).await;
    }
    let outcome = Box::pin(file_all(request, &submitted, &pairs, entries)).await?;
    let notice = outcome.notice(&submitted).await?;
    let shown: Vec<_> = pairs.iter().map(|pair| pair.movement.uuid()).collect();
    if let Some(error) = &outcome.failure {
        // What was not filed stays chosen, for sending the form again.
        let (status, code) = error.status();
        let page = show::page(request, Some(notice), typed(form, FieldErrors::default())).await?;
        return Ok(page.refused(status, code.as_str()).showing(shown));
    }
    if outcome.filed.is_empty() {
        let unexplained = outcome.unexplained();
        if !unexplained.is_empty() {
            return again(request, form, notice, unexplained).await;
        }
        return Ok(show::page(request, Some(notice), typed(form, unexplained)).await?.conflicting());
    }
    let redirect = with_notice(&submitted, format!("{}#notice", statement_url(id)), &notice).await;
    Ok(PageResponse::from(redirect).showing(std::iter::once(id.uuid()).chain(shown)))
}

type Reasons = BTreeMap<(u32, MovementId), SafeNote>;

fn reasons(form: &Form, pairs: &[Pair]) -> Result<Reasons, FieldErrors> {
    let (mut reasons, mut errors) = (Reasons::new(), FieldErrors::default());
    for Pair { number, movement, .. } in pairs {
        let name = reason_of(*number, *movement);
        match form.get(&name) {
            blank if blank.trim().is_empty() => {}
            text => match SafeNote::parse(text) {
                Ok(reason) => drop(reasons.insert((*number, *movement), reason)),
                Err((code, message)) => errors.extend(FieldErrors::one(name, code, message)),
            },
        }
    }
    if errors.is_empty() { Ok(reasons) } else { Err(errors) }
}

fn pairs(submitted: &SubmittedForm<'_>) -> Vec<Pair> {
    let pair = |prefix: &str, rest: &str| {
        let (number, movement) = rest.split_once('.')?;
        let (number, movement): (u32, MovementId) = (number.parse().ok()?, movement.parse().ok()?);
        let evidence = submitted.id_of_part(&[&number.to_be_bytes(), movement.uuid().as_bytes()]);
        Some(Pair { number, movement, evidence, resolves: prefix == RESOLVING })
    };
    let of = |prefix: &'static str| submitted.form().checked(prefix).filter_map(move |rest| pair(prefix, rest));
    let mut pairs: Vec<Pair> = of(PAIR).chain(of(RESOLVING)).collect();
    pairs.sort_by_key(|pair| (pair.number, pair.movement));
    pairs
}

fn unclear(pairs: &[Pair]) -> Option<Notice> {
    let title = "Nothing was filed";
    if pairs.is_empty() {
        return Some(Notice::bad(title, "Choose at least one entry for a payment."));
    }
    if pairs.len() > limits::STATEMENT_ENTRIES_SHOWN as usize {
        let most = limits::STATEMENT_ENTRIES_SHOWN;
        return Some(Notice::bad(title, format!("Choose at most {most} entries at a time.")));
    }
    let twice = pairs.windows(2).find(|both| both.first().map(|one| one.number) == both.last().map(|one| one.number));
    let number = twice?.first()?.number;
    let line = format!("Entry {number} is chosen for two payments. It proves one arrival: choose one of them.");
    Some(Notice::bad(title, line))
}

/// Reads the file again, and the chosen entries as evidence: all of them or none.
async fn read_entries(
    request: &Request,
    statement: &Statement,
    pairs: &[Pair],
    mut reasons: Reasons,
) -> Result<Result<Vec<NewEvidence>, Notice>, Error> {
    let org = request.signed_in()?.scope().org();
    let file = request.app().files()?.get(org, &statement.file.content).await?;
    let (statement, pairs) = (statement.clone(), pairs.to_vec());
    read::apart(move || {
        let read = read::entries_again(&statement, &file)?;
        let all = read::numbered(&read);
        let mut new = Vec::with_capacity(pairs.len());
        for Pair { number, evidence, movement, .. } in pairs {
            let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            let one = at.and_then(|at| all.get(at)).copied();
            let arrival = one.filter(|one| read::is_arrival(one.entry));
            let found = arrival.and_then(|one| {
                let entry: StatementEntry = read::entry_of(statement.id, &all, one);
                let (account, reason) = (account_of(one.account), reasons.remove(&(number, movement)));
                let account = SpokenAccount { account, reason };
                read::evidence_of(evidence, &statement.file, entry, one.entry, account)
            });
            let Some(found) = found else { return Ok(Err(no_arrival(number))) };
            new.push(found);
        }
        Ok(Ok(new))
    })
    .await?
}

fn no_arrival(number: u32) -> Notice {
    let line = format!("Entry {number} is no booked credit of this statement, so it proves no arrival.");
    Notice::bad("Nothing was filed", line)
}

/// A failure of the store stops the filing; filed entries stay filed. Fails only if nothing was filed.
async fn file_all(
    request: &Request,
    submitted: &SubmittedForm<'_>,
    pairs: &[Pair],
    entries: Vec<NewEvidence>,
) -> Result<Outcome, Error> {
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let mut outcome = Outcome::default();
    for (at, (pair, new)) in pairs.iter().zip(entries).enumerate() {
        match file(submitted, &keys, *pair, &new).await {
            Ok(result) => outcome.add(*pair, result),
            Err(error) if outcome.filed.is_empty() => return Err(error),
            Err(error) => {
                outcome.failure = Some(error);
                outcome.left = pairs.iter().skip(at).copied().collect();
                break;
            }
        }
    }
    Ok(outcome)
}

async fn file(
    submitted: &SubmittedForm<'_>,
    keys: &Keyring,
    pair: Pair,
    new: &NewEvidence,
) -> Result<Result<(), NotFiled>, Error> {
    // The audit log also shows that the payment's exception was resolved.
    let operation = if pair.resolves { "resolve_and_file_evidence" } else { "file_evidence" };
    let part = submitted.part(operation, &[pair.movement.uuid()])?;
    let (scope, by, movement) = (part.scope(), submitted.submitter(), pair.movement);
    part.run(|| movements::file_entry(scope, by, keys, movement, new.clone(), pair.resolves)).await
}

#[derive(Debug, Default)]
struct Outcome {
    filed: Vec<Pair>,
    refused: Vec<(Pair, NotFiled)>,
    left: Vec<Pair>,
    failure: Option<Error>,
}

impl Outcome {
    fn add(&mut self, pair: Pair, result: Result<(), NotFiled>) {
        match result {
            Ok(()) => self.filed.push(pair),
            Err(refused) => self.refused.push((pair, refused)),
        }
    }

    fn unexplained(&self) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let is_other = |refused: &NotFiled| matches!(refused, NotFiled::Refused(NotMoved::OtherAccount));
        for (pair, _) in self.refused.iter().filter(|(_, refused)| is_other(refused)) {
            let message = "must be said: the entry is on another account than the instructions name";
            errors.extend(FieldErrors::one(reason_of(pair.number, pair.movement), FieldCode::Required, message));
        }
        errors
    }

    async fn notice(&self, submitted: &SubmittedForm<'_>) -> Result<Notice, Error> {
        let filed = counted(self.filed.len() as u64, "entry is filed as evidence", "entries are filed as evidence");
        if self.refused.is_empty() && self.left.is_empty() {
            return Ok(Notice::plain(filed, "Next: review each, then accept or reject it."));
        }
        let mut links: BTreeMap<MovementId, Link> = BTreeMap::new();
        let mut said = Vec::new();
        for (pair, refused) in &self.refused {
            let (movement, why) = match refused {
                NotFiled::Refused(reason) => (pair.movement, line(*reason)),
                NotFiled::Elsewhere(holder) => {
                    let why = "It is filed for another payment. An entry, and a bank’s reference, counts once.";
                    (holder.movement_id, why.to_owned())
                }
            };
            let named = movements::get(submitted.scope(), movement).await?.movement;
            let amount = named.terms().money.map(|money| format!(", {}", money.for_people())).unwrap_or_default();
            let text = format!("{}{amount}", purpose_of(&named));
            said.push(format!("Entry {}: {why} It stands with “{text}”.", pair.number));
            links.insert(movement, Link { url: movement_url(movement), text });
        }
        let (class, title) = if self.filed.is_empty() {
            ("bad", "Nothing was filed".to_owned())
        } else {
            ("warn", format!("{filed}, and {} not", self.refused.len() + self.left.len()))
        };
        if !self.left.is_empty() {
            said.push(left(&self.left));
        }
        Ok(Notice { links: links.into_values().collect(), ..Notice::new(class, title, said) })
    }
}

fn left(pairs: &[Pair]) -> String {
    let numbers: Vec<String> = pairs.iter().map(|pair| pair.number.to_string()).collect();
    let named = if numbers.len() == 1 { "Entry" } else { "Entries" };
    format!(
        "{named} {}: not filed, because something went wrong on our side. What was filed stays filed. Press “File as evidence” again for the rest.",
        numbers.join(", ")
    )
}
