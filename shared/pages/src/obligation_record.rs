//! What was said about an obligation, for members and participants.

use shared::domain::actor::ActorType;
use shared::domain::agreement::Lifecycle;
use shared::domain::day::Day;
use shared::domain::ids::{OccurrenceId, TriggerId};
use shared::domain::obligation::{Obligation, ObligationTrigger, Occurrence, OccurrenceState, Refused, Word};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::text::reader::Shown as _;
use shared::web::Form;
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::{Offset, Page, PageRequest};

use crate::fields::read_day;
use crate::labels::{Badge, actor_label};
use crate::pager::{Pager, is_past_the_end};
use crate::satisfaction::SATISFACTION;
use crate::satisfaction::SaidDone;
use crate::second_members::one_self;

/// Most occurrences of each state on a page: of confirmed ones the latest, then those before, page by page.
const OPEN_MAX: usize = 20;
const CLAIMED_MAX: usize = 30;
const UPCOMING_MAX: usize = 3;
const CONFIRMED_MAX: u32 = 10;

/// A trigger, and its declaration if any.
pub struct TriggerRow {
    /// Its id.
    pub id: TriggerId,
    /// The trigger's description.
    pub description: String,
    /// When the obligation falls due after it.
    pub after: String,
    /// What was declared, and by whom.
    pub declared: Option<String>,
}

impl TriggerRow {
    /// A trigger of an obligation, whose days are those of `zone`.
    #[must_use]
    pub fn new(trigger: &ObligationTrigger, zone: &TimeZone) -> Self {
        let after = match trigger.due_after_days {
            0 => "Due on the same day".to_owned(),
            1 => "Due within 1 day".to_owned(),
            days => format!("Due within {days} days"),
        };
        Self {
            id: trigger.id,
            description: trigger.description.as_str().to_owned(),
            after,
            declared: trigger.declared.as_ref().map(|word| {
                let happened = trigger.happened_on.map(|day| format!("Happened on {}. ", day.shown()));
                format!("{}Declared by {}", happened.unwrap_or_default(), said_by(word, zone))
            }),
        }
    }
}

/// An occurrence of an obligation, with claim and confirmation apart.
pub struct OccurrenceRow {
    /// Its id.
    pub id: OccurrenceId,
    /// The due date.
    pub due: String,
    /// Its state.
    pub badge: Badge,
    /// Who claimed it is done, and when.
    pub claim: Option<String>,
    /// What the claim says about how.
    pub said: Option<SaidDone>,
    /// Who confirmed it, and when.
    pub confirmation: Option<String>,
    /// The next act's value and label.
    pub act: Option<(&'static str, &'static str)>,
    /// Whether that act records that it is done.
    pub can_satisfy: bool,
    /// Why the reader can do nothing.
    pub waits_for: Option<String>,
}

/// The occurrences that fit on a page.
#[derive(Default)]
pub struct OccurrenceList {
    /// The shown ones.
    pub rows: Vec<OccurrenceRow>,
    /// How many more are due, overdue or waiting for confirmation.
    pub more: usize,
    /// The way to the other confirmed ones, latest first.
    pub pager: Option<Pager>,
    /// Whether nothing is left at the offset: then the first page is to be shown.
    pub is_past_the_end: bool,
}

impl OccurrenceList {
    /// The occurrences, with what the reader can do about each. `url` is the obligation's. Behind the latest confirmed
    /// ones, at an offset, there are only those before.
    pub fn new(
        obligation: &Obligation,
        url: &str,
        occurrences: &[Occurrence],
        offset: Offset,
        act: impl Fn(&Occurrence) -> (Option<(&'static str, &'static str)>, Option<String>),
    ) -> Self {
        let zone = obligation.zone();
        let confirmed = occurrences.iter().rev().filter(|found| found.state == OccurrenceState::Confirmed);
        let confirmed = Page::slice(confirmed, PageRequest::new(CONFIRMED_MAX, offset.get()));
        let at = confirmed.pagination;
        let mut list = Self {
            is_past_the_end: is_past_the_end(at),
            pager: Pager::new("what is confirmed", at, |offset| format!("{url}?offset={offset}#record")),
            ..Self::default()
        };
        let (mut open, mut claimed, mut upcoming, mut ended) = (0, 0, 0, 0);
        for occurrence in occurrences {
            let fits = match occurrence.state {
                OccurrenceState::Confirmed => confirmed.data.iter().any(|shown| shown.id == occurrence.id),
                _ if at.offset > 0 => continue,
                OccurrenceState::Due | OccurrenceState::Overdue => counted(&mut open, OPEN_MAX),
                OccurrenceState::Satisfied => counted(&mut claimed, CLAIMED_MAX),
                OccurrenceState::Upcoming => counted(&mut upcoming, UPCOMING_MAX),
                OccurrenceState::Cancelled => counted(&mut ended, OPEN_MAX),
            };
            if fits {
                let (act, waits_for) = act(occurrence);
                list.rows.push(OccurrenceRow {
                    id: occurrence.id,
                    due: zone.day_of(occurrence.due_at).shown(),
                    badge: occurrence_badge(occurrence.state),
                    claim: occurrence.satisfied.as_ref().map(|word| said_by(word, zone)),
                    said: SaidDone::of(occurrence, url),
                    confirmation: occurrence.confirmed.as_ref().map(|word| said_by(word, zone)),
                    can_satisfy: act.is_some_and(|(act, _)| act == "satisfy"),
                    act,
                    waits_for,
                });
            } else if matches!(
                occurrence.state,
                OccurrenceState::Due
                    | OccurrenceState::Overdue
                    | OccurrenceState::Satisfied
                    | OccurrenceState::Cancelled
            ) {
                list.more += 1;
            }
        }
        list
    }
}

fn counted(count: &mut usize, max: usize) -> bool {
    *count += 1;
    *count <= max
}

fn occurrence_badge(state: OccurrenceState) -> Badge {
    match state {
        OccurrenceState::Upcoming => Badge { text: "Upcoming", class: "quiet" },
        OccurrenceState::Due => Badge { text: "Due", class: "blue" },
        OccurrenceState::Overdue => Badge { text: "Overdue", class: "red" },
        OccurrenceState::Satisfied => Badge { text: "To be confirmed", class: "amber" },
        OccurrenceState::Confirmed => Badge { text: "Confirmed", class: "green" },
        OccurrenceState::Cancelled => Badge { text: "Cancelled", class: "quiet" },
    }
}

/// Who said something, and when.
#[must_use]
pub fn said_by(word: &Word, zone: &TimeZone) -> String {
    let day = zone.day_of(word.at).shown();
    match word.by.actor_type {
        ActorType::Participant => format!("{}, {day}{}", word.by.display_name, word.mark()),
        _ => format!("{}, {day}, on record", actor_label(&word.by)),
    }
}

/// Reads the day on which a trigger happened, as declared.
pub fn read_happened_on(form: &Form, obligation: &Obligation, now: Timestamp) -> Result<Day, FieldErrors> {
    let wrong = |code, message: &str| FieldErrors::one(SATISFACTION.happened_on, code, message);
    if form.get(SATISFACTION.happened_on).trim().is_empty() {
        return Err(wrong(FieldCode::Required, "must be given"));
    }
    let day = read_day(form, SATISFACTION.happened_on)?;
    let days = obligation.happened_days(now);
    if day > *days.end() {
        return Err(wrong(FieldCode::OutOfRange, "must not be in the future"));
    }
    if day < *days.start() {
        let message = format!("must not be before {}", days.start().shown());
        return Err(wrong(FieldCode::OutOfRange, &message));
    }
    Ok(day)
}

/// Why an act on an obligation was refused: a title and a line.
#[must_use]
pub fn refusal(refused: Refused) -> (&'static str, String) {
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
