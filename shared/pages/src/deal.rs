//! The header of agreements' and proposals' pages: title, parties, amount, key terms, state, deadline and documents.

use shared::domain::agreement::gate::{Gate, GateRule};
use shared::domain::agreement::{Agreement, Lifecycle, ParticipantRole};
use shared::domain::day::Day;
use shared::domain::ledger::{AgreementMoney, LedgerFigures, is_agreed};
use shared::domain::money::in_app;
use shared::domain::movement::Movement;
use shared::domain::time::Timestamp;
use shared::domain::workspace::Workspace;
use shared::text;
use shared::text::reader::{self, Shown as _};
use shared::text::{CurrentWait, PaymentAct, PressingPayment};

use crate::agreement_summary::{AgreementSummary, GateRow, LinkToShow, ParticipantRow};
use crate::labels::{Badge, DisplayTime};
use crate::layout::Link;
use crate::payment_list::name;
use crate::urls::{access_url, movement_url, workspace_url};

/// Most parties and most documents in the header. The page has all of them below.
const SHOWN_MAX: usize = 4;

/// What a payment says whose amount isn't decided.
pub const NO_AMOUNT_YET: &str = "No amount yet";

/// The header.
pub struct Deal {
    /// The text above the title.
    pub over: &'static str,
    /// The title.
    pub title: String,
    /// Its state.
    pub badge: Badge<String>,
    /// Whether its payment is past due.
    pub is_overdue: bool,
    /// Its workspace.
    pub workspace: Link,
    /// The agreement, on the page of one of its payments.
    pub agreement: Option<Link>,
    /// Where to edit it, if possible.
    pub edit: Option<Link>,
    /// The first parties.
    pub parties: Vec<Party>,
    /// How many more there are.
    pub more_parties: usize,
    /// The amount of money and its meaning, if any.
    pub amount: Option<(&'static str, String)>,
    /// What its payments come to, by currency, once published.
    pub money: Vec<DealMoney>,
    /// What it waits for first, such as `Ada Okafor to approve`, in lines.
    pub waits_for: Vec<String>,
    /// Other payments that a member has to see to at once, and where they are listed.
    pub more_waits: Option<Link>,
    /// Where a member does what is next, or helps those it waits for.
    pub next_act: Option<NextAct>,
    /// Its payments: purpose and amount.
    pub payments: Vec<(String, String)>,
    /// What stands in place of an amount if there is none.
    pub without_amount: &'static str,
    /// How many more payments there are.
    pub more_payments: usize,
    /// Each term's name and text.
    pub terms: Vec<(&'static str, String)>,
    /// When its first payment is due that is yet to be made.
    pub payment_due: Option<PaymentDue>,
    /// Its deadlines.
    pub deadlines: Vec<Deadline>,
    /// The first documents.
    pub documents: Vec<DealDocument>,
    /// How many more there are.
    pub more_documents: usize,
}

/// What is next.
pub enum NextAct {
    /// It is on a page.
    Open(Link),
    /// To show a participant's link.
    ShowLink(LinkToShow),
}

/// What payments come to in one currency. Claim and proof never look alike.
pub struct DealMoney {
    /// All that is to be paid, if the amount doesn't say so.
    pub amount: Option<String>,
    /// What is not proven to have arrived.
    pub owed: String,
    /// What of it senders say they sent.
    pub claimed: Option<String>,
    /// What accepted evidence shows.
    pub proven: Option<String>,
    /// Whether some of it is proven to have reached a participant who owes it to another, so that both figures have it and
    /// they come to more than the amount.
    pub is_passed_on: bool,
}

/// A participant and their roles.
pub struct Party {
    /// The name.
    pub name: String,
    /// The roles, in words.
    pub roles: String,
}

/// When a payment is due.
pub struct PaymentDue {
    /// The day.
    pub day: String,
    /// Whether it is past, and the agreement's contents are agreed.
    pub is_overdue: bool,
}

/// A date that matters.
pub struct Deadline {
    /// What it is.
    pub name: &'static str,
    /// When it is.
    pub at: DisplayTime,
    /// How much time is left.
    pub left: Option<String>,
}

/// A document.
pub struct DealDocument {
    /// Its name.
    pub name: String,
    /// Where its file is, if it has one.
    pub url: Option<String>,
}

impl Deal {
    /// The header, from what the page shows below.
    #[must_use]
    pub fn new(
        over: &'static str,
        title: String,
        badge: impl Into<Badge<String>>,
        workspace: &Workspace,
        agreement: &Agreement,
        summary: &AgreementSummary,
    ) -> Self {
        // Observers come last: nothing waits for them.
        let observer = text::role(ParticipantRole::Observer);
        let (observers, acting): (Vec<_>, Vec<_>) =
            summary.participants.iter().partition(|participant| participant.roles == [observer]);
        let parties = acting
            .into_iter()
            .chain(observers)
            .map(|participant| Party { name: participant.name.clone(), roles: participant.roles.join(", ") });
        let documents = summary
            .documents
            .iter()
            .map(|document| DealDocument { name: document.name.clone(), url: document.url.clone() });
        let terms = summary.terms.iter().filter(|(name, _)| *name != text::INVESTMENT).cloned();
        let amount = summary.terms.iter().find(|(name, _)| *name == text::INVESTMENT);
        let has_deadline = matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
        let expiry = agreement.expires_at.filter(|_| has_deadline);
        Self {
            over,
            title,
            badge: badge.into(),
            is_overdue: false,
            workspace: Link { url: workspace_url(workspace.id()), text: workspace.name.as_str().to_owned() },
            agreement: None,
            edit: None,
            parties: parties.take(SHOWN_MAX).collect(),
            more_parties: summary.participants.len().saturating_sub(SHOWN_MAX),
            amount: amount.cloned(),
            money: Vec::new(),
            waits_for: summary.next.iter().cloned().collect(),
            more_waits: None,
            next_act: None,
            payments: Vec::new(),
            without_amount: "",
            more_payments: 0,
            terms: terms.collect(),
            payment_due: None,
            deadlines: expiry
                .map(|at| Deadline { name: "Agreement expires", at: at.into(), left: None })
                .into_iter()
                .collect(),
            documents: documents.take(SHOWN_MAX).collect(),
            more_documents: summary.documents.len().saturating_sub(SHOWN_MAX),
        }
    }

    /// Whether it has an amount of money.
    #[must_use]
    pub fn has_amount(&self) -> bool {
        self.amount.is_some() || !self.money.is_empty() || !self.payments.is_empty()
    }

    /// What its payments come to, by currency, if its amount doesn't say so.
    #[must_use]
    pub fn amounts(&self) -> Vec<&str> {
        self.money.iter().filter_map(|sum| sum.amount.as_deref()).collect()
    }

    /// Whether some of its money is proven to have reached a participant who owes it to another.
    #[must_use]
    pub fn is_passed_on(&self) -> bool {
        self.money.iter().any(|sum| sum.is_passed_on)
    }

    /// Adds what its payments come to, and how many there are.
    #[must_use]
    pub fn with_money(self, money: &[AgreementMoney], payments: usize) -> Self {
        let sum = |sum: &AgreementMoney| {
            let shown = |minor: i128| in_app(minor, sum.currency);
            let if_any = |minor: i128| (minor > 0).then(|| shown(minor));
            let LedgerFigures { owed, claimed, proven } = sum.figures;
            let is_said = money.len() == 1 && self.is_amount(&shown(sum.amount));
            DealMoney {
                amount: (!is_said).then(|| shown(sum.amount)),
                owed: shown(owed),
                claimed: if_any(claimed),
                proven: if_any(proven),
                is_passed_on: sum.is_passed_on && owed > 0 && owed + proven > sum.amount,
            }
        };
        Self { money: money.iter().map(sum).collect(), without_amount: without_amount(payments), ..self }
    }

    /// Adds when the first payment is due that is yet to be made.
    #[must_use]
    pub fn with_payment_due(self, due_on: Option<Day>, agreement: &Agreement, now: Timestamp) -> Self {
        let (today, is_agreed) = (reader::zone().day_of(now), is_agreed(agreement.lifecycle()));
        let goes_on = matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
        let due = |due: Day| PaymentDue { day: due.shown(), is_overdue: is_agreed && due < today };
        Self { payment_due: due_on.filter(|_| goes_on).map(due), ..self }
    }

    /// Whether this is its amount, such as the investment of a SAFE.
    fn is_amount(&self, amount: &str) -> bool {
        self.amount.as_ref().is_some_and(|(_, known)| known == amount)
    }

    /// Adds what is next on an active agreement, for the condition that comes first: its act, the payment that it waits
    /// for, the paper signature that waits for a second member, or the link of the participant whom it waits for. A
    /// declined one is decided among the steps.
    #[must_use]
    pub fn with_next_act(self, agreement: &Agreement, summary: &AgreementSummary, wait: Option<&CurrentWait>) -> Self {
        let Some(wait) = wait else { return self };
        let rows = summary.steps.iter().zip(&agreement.stages);
        let mut gates = rows.flat_map(|(step, stage)| step.gates.iter().zip(&stage.gates));
        let paper_of = |participant| {
            let url = format!("{}#papers", access_url(agreement.id(), participant));
            let mut papers = summary.documents.iter().flat_map(|document| &document.papers);
            papers.any(|(_, of)| of.as_ref() == Some(&url)).then_some(url)
        };
        let waited_for = |gate: &Gate| {
            let on_paper = agreement.on_paper(gate).into_iter().next();
            let waited_for = on_paper.or_else(|| agreement.unmet_by(gate).into_iter().next())?;
            let at = agreement.participants.iter().position(|participant| participant.id == waited_for)?;
            Some((summary.participants.get(at)?, on_paper.and_then(paper_of)))
        };
        let is_to_do = |gate: &Gate| !agreement.to_review(gate).is_empty() || !agreement.to_verify(gate).is_empty();
        let open = |url: String, text: String| Some(NextAct::Open(Link { url, text }));
        let act_of = |row: &GateRow, gate: &Gate| match &gate.rule {
            GateRule::MovementAuthorized { movement_id: Some(id) }
            | GateRule::MovementReconciled { movement_id: Some(id) } => {
                open(movement_url(*id), wait.payment.map_or("Open the payment", act_on).to_owned())
            }
            _ => row.acts.first().filter(|_| is_to_do(gate)).cloned().map(NextAct::Open).or_else(|| {
                let (ParticipantRow { name, access, .. }, paper) = waited_for(gate)?;
                if let Some(url) = paper {
                    return open(url, format!("Confirm the paper signature of {name}"));
                }
                let access = access.as_ref()?;
                match &access.link {
                    Some(link) => Some(NextAct::ShowLink(link.clone())),
                    None => open(access.url.clone(), format!("Confirm the address of {name}")),
                }
            }),
        };
        let next = gates.find(|(_, gate)| gate.id == wait.gate).filter(|_| !wait.is_declined);
        let next_act = if wait.is_declined {
            open("#steps".to_owned(), "Read the reason".to_owned())
        } else {
            next.and_then(|(row, gate)| act_of(row, gate))
        };
        Self { waits_for: vec![wait.on.clone()], next_act, ..self }
    }

    /// Puts a proposal that waits for a member's decision before what the agreement waits for.
    #[must_use]
    pub fn with_proposal(self, url: Option<&String>) -> Self {
        let Some(url) = url else { return self };
        let waits_for = std::iter::once(text::PROPOSAL_WAIT.to_owned()).chain(self.waits_for).collect();
        let next_act = NextAct::Open(Link { url: url.clone(), text: "Review the proposal".to_owned() });
        Self { waits_for, next_act: Some(next_act), ..self }
    }

    /// Puts a payment that a member has to see to at once, if there is one, before all else, and says how many more
    /// there are.
    #[must_use]
    pub fn with_pressing(self, agreement: &Agreement, payments: &[Movement], wait: Option<&CurrentWait>) -> Self {
        let first = PressingPayment::first_of(agreement, payments, wait);
        let more = PressingPayment::more(agreement, first.as_ref(), wait);
        let text = format!("and {}", text::counted(more, "more payment"));
        let more_waits = (more > 0).then(|| Link { url: "#payments".to_owned(), text });
        let Some(PressingPayment { id, act, on }) = first else { return Self { more_waits, ..self } };
        let waits_for = std::iter::once(on).chain(self.waits_for).collect();
        let next_act = NextAct::Open(Link { url: movement_url(id), text: act_on(act).to_owned() });
        Self { waits_for, more_waits, next_act: Some(next_act), ..self }
    }

    /// Adds the payments that have an amount, unless there is one of the deal's own amount.
    #[must_use]
    pub fn with_payments(self, payments: &[Movement], agreement: &Agreement, now: Timestamp) -> Self {
        let with_amount = payments.iter().filter_map(|payment| Some((payment, payment.terms().money?)));
        let rows = with_amount.map(|(payment, money)| (name(payment).to_owned(), money.for_people()));
        let rows: Vec<_> = rows.collect();
        let rows =
            if rows.len() == 1 && rows.iter().all(|(_, amount)| self.is_amount(amount)) { Vec::new() } else { rows };
        let more_payments = rows.len().saturating_sub(SHOWN_MAX);
        let without_amount = without_amount(payments.len());
        let unpaid = payments.iter().filter(|payment| !payment.state().is_done());
        let due_on = unpaid.filter_map(|payment| payment.terms().due_on).min();
        let payments = rows.into_iter().take(SHOWN_MAX).collect();
        Self { payments, without_amount, more_payments, ..self }.with_payment_due(due_on, agreement, now)
    }
}

/// The button that opens a payment.
fn act_on(act: PaymentAct) -> &'static str {
    match act {
        PaymentAct::Authorize => "Authorize the payment",
        PaymentAct::Prepare => "Prepare the instructions",
        PaymentAct::Review => "Review evidence",
        PaymentAct::Decide => "Decide about the payment",
    }
}

/// What stands in place of an amount, so that nobody goes on looking for one.
fn without_amount(payments: usize) -> &'static str {
    if payments == 0 { "No payments" } else { NO_AMOUNT_YET }
}
