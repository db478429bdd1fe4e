//! The list of obligations, those that are due first first, and what all pages say of an obligation.

use askama::Template;
use shared::domain::agreement::Lifecycle;
use shared::domain::day::Day;
use shared::domain::ids::ObligationId;
use shared::domain::obligation::{Obligation, ObligationState, Refused};
use shared::domain::sentences;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::obligations::{self, ObligationPage, ObligationQuery};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::Handler;
use crate::agreement::agreement_url;
use crate::labels::Badge;
use crate::layout::{Layout, Link};
use crate::movement::read_day;
use crate::pager::{Pager, is_past_the_end};
use crate::response::PageResponse;
use crate::second_members::one_self;

/// The path of the list.
pub(crate) const PATH: &str = "/app/obligations";

/// The URL of an obligation's page.
pub(crate) fn obligation_url(id: ObligationId) -> String {
    format!("{PATH}/{id}")
}

/// The state of an obligation. A claim is never green.
pub(crate) fn obligation_badge(obligation: &Obligation, now: Timestamp) -> Badge {
    let is_overdue = obligation.next_due_at().is_some_and(|due| due < now);
    match obligation.state() {
        ObligationState::Open if is_overdue => Badge { text: "Overdue", class: "red" },
        state => state_badge(state),
    }
}

fn state_badge(state: ObligationState) -> Badge {
    match state {
        ObligationState::Dormant => Badge { text: "Waiting for a trigger", class: "quiet" },
        ObligationState::Open => Badge { text: "Open", class: "blue" },
        ObligationState::Satisfied => Badge { text: "To be confirmed", class: "amber" },
        ObligationState::Confirmed => Badge { text: "Confirmed", class: "green" },
        ObligationState::Cancelled => Badge { text: "Cancelled", class: "quiet" },
    }
}

/// Why an act on an obligation was refused, in words: a title and a line.
pub(crate) fn refusal(refused: Refused) -> (&'static str, String) {
    let nothing = "Nothing was recorded.";
    match refused {
        Refused::AgreementEnded(Lifecycle::Expired) => {
            ("The agreement has expired", format!("Its obligations ended with it. {nothing}"))
        }
        Refused::AgreementEnded(_) => {
            ("The agreement was cancelled", format!("Its obligations ended with it. {nothing}"))
        }
        Refused::Cancelled => ("The obligation was cancelled", format!("It is owed no more. {nothing}")),
        Refused::Confirmed => ("All of it is confirmed", "Nothing is left to cancel.".to_owned()),
        Refused::Unknown => ("That is not part of this obligation", format!("{nothing} The page shows what is.")),
        Refused::Done => ("This was done already", format!("{nothing} The page shows who did it.")),
        Refused::InFuture => ("That day has not come yet", format!("Record it once it has happened. {nothing}")),
        Refused::TooEarly => {
            ("That day is too early", format!("It is long before it was owed. Check the day. {nothing}"))
        }
        Refused::NoRoom => (
            "There is no room for this file",
            format!(
                "This agreement has nearly as many files as its evidence can hold, or you have added your share of them. Make the file smaller, or record it without one. {nothing}"
            ),
        ),
        Refused::NotSatisfied => {
            ("There is no claim to confirm", format!("No one has said that it is done. {nothing}"))
        }
        Refused::OneSelf => {
            ("You don’t count as a second member for this claim", format!("{} {nothing}", one_self("recorded it")))
        }
        Refused::Own => (
            "You recorded this claim",
            format!(
                "You recorded it, or it was made in your browser. Another member or the other side confirms it. {nothing}"
            ),
        ),
        Refused::TooManyWait => ("Too many claims wait for confirmation", format!("Confirm those first. {nothing}")),
    }
}

/// The field that says when a trigger happened.
pub(crate) const HAPPENED_ON: &str = "happened_on";

/// Reads the day on which a trigger happened, as whoever declares it says.
pub(crate) fn read_happened_on(form: &Form, obligation: &Obligation, now: Timestamp) -> Result<Day, FieldErrors> {
    let wrong = |code, message: &str| FieldErrors::one(HAPPENED_ON, code, message);
    if form.get(HAPPENED_ON).trim().is_empty() {
        return Err(wrong(FieldCode::Required, "must be given"));
    }
    let day = read_day(form, HAPPENED_ON)?;
    let days = obligation.happened_days(now);
    if day > *days.end() {
        return Err(wrong(FieldCode::OutOfRange, "must not be in the future"));
    }
    if day < *days.start() {
        let message = format!("must not be before {}", days.start().for_people());
        return Err(wrong(FieldCode::OutOfRange, &message));
    }
    Ok(day)
}

#[derive(Template)]
#[template(path = "obligations.html")]
struct ObligationsPage {
    layout: Layout,
    states: Vec<StateOption>,
    /// The filters of the address that have no field.
    kept: Vec<(&'static str, String)>,
    /// The agreement of the filter, if the page shows one of its obligations.
    agreement: Option<Link>,
    is_filtered: bool,
    rows: Vec<ObligationRow>,
    pager: Option<Pager>,
}

struct StateOption {
    value: &'static str,
    text: &'static str,
    is_selected: bool,
}

struct ObligationRow {
    url: String,
    name: String,
    agreement: Link,
    parties: String,
    due: Option<String>,
    status: String,
    badge: Badge,
    /// How many claims wait for a confirmation.
    waiting: usize,
}

/// Shows the list.
pub(crate) struct List;

impl Handler for List {
    fn operation(_: &Request) -> &'static str {
        "view_obligations"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let (now, scope) = (request.now(), request.signed_in()?.scope());
        let query: ObligationQuery = request.read_query()?;
        let state = query.state.get();
        let ObligationPage { page: found, agreements, contacts } = obligations::list_by_due(scope, &query).await?;
        let ids = [
            ("workspace_id", query.workspace_id.map(|id| id.to_string())),
            ("agreement_id", query.agreement_id.map(|id| id.to_string())),
        ];
        let kept: Vec<(&str, String)> = ids.into_iter().filter_map(|(name, id)| Some((name, id?))).collect();
        let url = |offset: u64| {
            let kept: Vec<String> = kept.iter().map(|(name, id)| format!("{name}={id}&")).collect();
            format!("{PATH}?state={}&{}offset={offset}", state.map_or("", ObligationState::as_str), kept.concat())
        };
        if is_past_the_end(found.pagination) {
            return Ok(PageResponse::see_other(url(0)));
        }
        let row = |obligation: &Obligation| {
            let agreement = agreements.get(&obligation.agreement_id())?;
            let due = obligation.next_due_at().map(|due| obligation.zone().day_of(due).for_people());
            Some(ObligationRow {
                url: obligation_url(obligation.id()),
                name: obligation.name().as_str().to_owned(),
                agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
                parties: sentences::promise_parties(obligation.parties(), agreement, &contacts),
                due,
                status: sentences::obligation_state(obligation, now),
                badge: obligation_badge(obligation, now),
                waiting: obligation.waiting_claims().count(),
            })
        };
        let any = StateOption { value: "", text: "Any", is_selected: state.is_none() };
        let option = |one: ObligationState| StateOption {
            value: one.as_str(),
            text: state_badge(one).text,
            is_selected: state == Some(one),
        };
        let of_filter = query.agreement_id.and_then(|id| agreements.get(&id));
        let page = ObligationsPage {
            layout: Layout::new(request),
            states: std::iter::once(any).chain(ObligationState::ALL.map(option)).collect(),
            agreement: of_filter
                .map(|agreement| Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() }),
            is_filtered: state.is_some() || !kept.is_empty(),
            rows: found.data.iter().filter_map(row).collect(),
            pager: Pager::new("obligations", found.pagination, url),
            kept,
        };
        Ok(PageResponse::render(&page)?.showing(found.data.iter().map(|obligation| obligation.id().uuid())))
    }
}
