//! A model of items, their agreements and their trust, from the contract alone (sections 2 and 3, "Funding item").

use serde_json::{Map, Value, json};

/// All verbs that are tried fit the kind `other`.
pub(super) const VERBS: [&str; 3] = ["assign", "retitle", "leave_out"];
pub(super) const WAITING: [&str; 2] = ["institution", "counsel"];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    SortWhole(usize, &'static str),
    SortVerb(usize, Option<&'static str>),
    Park(usize, Option<&'static str>),
    Paper(Vec<usize>),
    RenameOwner,
    RenameTrust,
    Publish(usize),
    Cancel(usize),
    Complete(usize),
    Expire(usize),
    Claim(usize),
    Withdraw(usize),
    File(usize),
    Accept(usize),
    Reject(usize),
    Close(usize),
    Reopen(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Open,
    Papered,
    InProgress,
    Claimed,
    Funded,
    Unfunded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub verb: Option<&'static str>,
    has_description: bool,
    has_reason: bool,
    is_assigned: bool,
    pub hold: Option<&'static str>,
    pub at: At,
    agreement: Option<usize>,
    /// Undecided proofs. Closing the item leaves them so, and ends their wait.
    pub undecided: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Agreement {
    lifecycle: &'static str,
    items: Vec<usize>,
    /// How often owner and trust had been renamed when it was drafted.
    names: (usize, usize),
}

pub(super) type Refused = Vec<(String, &'static str)>;

/// An event that a subscriber is told, about an item or its trust.
#[derive(Debug)]
pub(super) struct Told {
    pub kind: &'static str,
    pub item: Option<usize>,
    pub data: Value,
}

impl Told {
    fn of(kind: &'static str, item: Option<usize>, data: Value) -> Self {
        Self { kind, item, data }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct World {
    pub items: Vec<Item>,
    agreements: Vec<Agreement>,
    names: (usize, usize),
}

impl Item {
    fn new() -> Self {
        Self {
            verb: None,
            has_description: false,
            has_reason: false,
            is_assigned: false,
            hold: None,
            at: At::Open,
            agreement: None,
            undecided: 0,
        }
    }

    fn missing(&self) -> Vec<&'static str> {
        if self.at != At::Open {
            return Vec::new();
        }
        let moves = self.verb != Some("leave_out");
        let assigned: &[&str] = if moves && !self.is_assigned { &["trust_id", "owner_contact_ids"] } else { &[] };
        let fact = match self.verb {
            Some("leave_out") => (!self.has_reason).then_some("reason"),
            Some(_) => (!self.has_description).then_some("description"),
            None => None,
        };
        assigned.iter().copied().chain(fact).collect()
    }

    pub fn phase(&self) -> &'static str {
        match self.at {
            At::Open if self.verb.is_none() => "unsorted",
            At::Open if !self.missing().is_empty() => "gathering",
            At::Open => "ready",
            At::Papered => "papered",
            At::InProgress => "in_progress",
            At::Claimed => "claimed",
            At::Funded | At::Unfunded => "done",
        }
    }

    fn is_closed(&self) -> bool {
        matches!(self.at, At::Funded | At::Unfunded)
    }

    fn waits_for_proof(&self) -> bool {
        matches!(self.at, At::InProgress | At::Claimed)
    }

    pub fn to_review(&self) -> usize {
        if self.waits_for_proof() { self.undecided } else { 0 }
    }

    fn not_papered(&self) -> Option<&'static str> {
        match (self.at, self.verb, self.hold) {
            (At::Open, Some("leave_out"), _) => Some("verb_not_allowed"),
            (At::Open, ..) if self.phase() != "ready" => Some("missing_facts"),
            (At::Open, _, Some(_)) => Some("on_hold"),
            (At::Open, ..) => None,
            _ => Some("wrong_state"),
        }
    }
}

fn refused<T>(field: &str, code: &'static str) -> Result<T, Refused> {
    Err(vec![(field.to_owned(), code)])
}

impl World {
    pub fn new(items: usize) -> Self {
        Self { items: vec![Item::new(); items], agreements: Vec::new(), names: (0, 0) }
    }

    pub fn agreements(&self) -> usize {
        self.agreements.len()
    }

    pub fn lifecycle(&self, agreement: usize) -> &'static str {
        self.agreements[agreement].lifecycle
    }

    fn agreement_of(&self, item: usize) -> &'static str {
        self.items[item].agreement.map_or("", |agreement| self.agreements[agreement].lifecycle)
    }

    pub fn apply(&mut self, act: &Act) -> Result<Vec<Told>, Refused> {
        match act {
            Act::SortWhole(item, verb) => self.sort(*item, Some(verb), true),
            Act::SortVerb(item, verb) => self.sort(*item, *verb, false),
            Act::Park(item, waiting_on) => self.park(*item, *waiting_on),
            Act::Paper(items) => self.paper(items),
            Act::RenameOwner => {
                self.names.0 += 1;
                Ok(Vec::new())
            }
            Act::RenameTrust => {
                self.names.1 += 1;
                Ok(vec![Told::of("trust.updated", None, json!({}))])
            }
            Act::Publish(agreement) => self.publish(*agreement),
            Act::Cancel(agreement) if ["draft", "active"].contains(&self.lifecycle(*agreement)) => {
                Ok(self.end(*agreement, "cancelled"))
            }
            Act::Expire(agreement) if self.lifecycle(*agreement) == "active" => Ok(self.end(*agreement, "expired")),
            Act::Complete(agreement) if self.lifecycle(*agreement) == "active" => {
                // What isn't proven by then keeps waiting.
                self.agreements[*agreement].lifecycle = "completed";
                Ok(Vec::new())
            }
            Act::Cancel(_) => refused("agreement_id", "wrong_state"),
            Act::Expire(_) | Act::Complete(_) => Err(Vec::new()),
            Act::Claim(item) | Act::Withdraw(item) | Act::File(item) | Act::Accept(item) | Act::Reject(item) => {
                self.prove(*item, act)
            }
            Act::Close(item) => self.close(*item),
            Act::Reopen(item) => self.reopen(*item),
        }
    }

    fn sort(&mut self, at: usize, verb: Option<&'static str>, is_whole: bool) -> Result<Vec<Told>, Refused> {
        let item = &mut self.items[at];
        if item.at != At::Open {
            return refused("path.item_id", "wrong_state");
        }
        let is_told = verb.is_some() && (item.verb != verb || (is_whole && !item.is_assigned));
        item.verb = verb;
        if is_whole {
            item.is_assigned = true;
            item.has_reason |= verb == Some("leave_out");
            item.has_description |= verb != Some("leave_out");
        }
        let data = json!({"verb": verb, "trust": item.is_assigned});
        Ok(is_told.then_some(Told::of("funding_item.sorted", Some(at), data)).into_iter().collect())
    }

    fn park(&mut self, at: usize, waiting_on: Option<&'static str>) -> Result<Vec<Told>, Refused> {
        let item = &mut self.items[at];
        if item.is_closed() {
            return refused("path.item_id", "wrong_state");
        }
        let is_told = item.hold != waiting_on;
        item.hold = waiting_on;
        let data = waiting_on.map_or(json!({}), |waiting_on| json!({"waiting_on": waiting_on}));
        Ok(is_told.then_some(Told::of("funding_item.parked", Some(at), data)).into_iter().collect())
    }

    fn paper(&mut self, items: &[usize]) -> Result<Vec<Told>, Refused> {
        let not_papered = items.iter().enumerate().filter_map(|(place, item)| {
            let code = self.items[*item].not_papered()?;
            Some((format!("item_ids[{place}]"), code))
        });
        let not_papered: Refused = not_papered.collect();
        if !not_papered.is_empty() {
            return Err(not_papered);
        }
        let agreement = self.agreements.len();
        self.agreements.push(Agreement { lifecycle: "draft", items: items.to_vec(), names: self.names });
        for item in items {
            (self.items[*item].at, self.items[*item].agreement) = (At::Papered, Some(agreement));
        }
        Ok(items
            .iter()
            .map(|item| Told::of("funding_item.papered", Some(*item), json!({"agreement": agreement})))
            .collect())
    }

    fn publish(&mut self, agreement: usize) -> Result<Vec<Told>, Refused> {
        let Agreement { lifecycle, items, names } = self.agreements[agreement].clone();
        if lifecycle != "draft" {
            return refused("agreement_id", "wrong_state");
        }
        if names != self.names || items.iter().any(|item| self.items[*item].hold.is_some()) {
            return refused("agreement_id", "funding_item_changed");
        }
        self.agreements[agreement].lifecycle = "active";
        for item in items {
            self.items[item].at = At::InProgress;
        }
        Ok(Vec::new())
    }

    fn end(&mut self, agreement: usize, lifecycle: &'static str) -> Vec<Told> {
        self.agreements[agreement].lifecycle = lifecycle;
        let mut told = Vec::new();
        for (at, item) in self.items.iter_mut().enumerate() {
            if item.agreement == Some(agreement) && !item.is_closed() {
                (item.at, item.agreement, item.undecided) = (At::Open, None, 0);
                told.push(Told::of("funding_item.reopened", Some(at), json!({})));
            }
        }
        told
    }

    fn prove(&mut self, at: usize, act: &Act) -> Result<Vec<Told>, Refused> {
        let item = &mut self.items[at];
        if !item.waits_for_proof() {
            return Err(Vec::new());
        }
        match act {
            Act::Claim(_) if item.at == At::InProgress => item.at = At::Claimed,
            Act::Withdraw(_) if item.at == At::Claimed => item.at = At::InProgress,
            Act::File(_) => item.undecided += 1,
            Act::Reject(_) if item.undecided > 0 => item.undecided -= 1,
            Act::Accept(_) if item.undecided > 0 => {
                (item.at, item.hold, item.undecided) = (At::Funded, None, item.undecided - 1);
                return Ok(vec![Told::of("funding_item.closed", Some(at), json!({"status": "funded"}))]);
            }
            _ => return Err(Vec::new()),
        }
        Ok(Vec::new())
    }

    fn close(&mut self, at: usize) -> Result<Vec<Told>, Refused> {
        let is_over = self.agreement_of(at) == "completed";
        let item = &mut self.items[at];
        if item.is_closed() || (item.at != At::Open && !is_over) {
            return Err(Vec::new());
        }
        (item.at, item.hold, item.agreement, item.undecided) = (At::Unfunded, None, None, 0);
        Ok(vec![Told::of("funding_item.closed", Some(at), json!({"status": "unfunded"}))])
    }

    fn reopen(&mut self, at: usize) -> Result<Vec<Told>, Refused> {
        let is_live = ["draft", "active"].contains(&self.agreement_of(at));
        let item = &mut self.items[at];
        if !item.is_closed() || is_live {
            return Err(Vec::new());
        }
        (item.at, item.agreement, item.undecided) = (At::Open, None, 0);
        Ok(vec![Told::of("funding_item.reopened", Some(at), json!({}))])
    }

    /// Distinguishes cases of an act: the state of its items, and whether it works.
    pub fn case(&self, act: &Act) -> String {
        let of_items: Vec<usize> = match act {
            Act::Paper(items) => items.clone(),
            Act::Publish(at) | Act::Cancel(at) | Act::Complete(at) | Act::Expire(at) => {
                self.agreements[*at].items.clone()
            }
            Act::RenameOwner | Act::RenameTrust => Vec::new(),
            Act::SortWhole(item, _)
            | Act::SortVerb(item, _)
            | Act::Park(item, _)
            | Act::Claim(item)
            | Act::Withdraw(item)
            | Act::File(item)
            | Act::Accept(item)
            | Act::Reject(item)
            | Act::Close(item)
            | Act::Reopen(item) => vec![*item],
        };
        let met = of_items.iter().map(|item| {
            let item = &self.items[*item];
            format!("{} {} {}", item.phase(), item.hold.is_some(), item.undecided > 0)
        });
        let kind = format!("{act:?}");
        let kind = kind.split('(').next().unwrap_or_default();
        format!("{kind} {:?} {}", met.collect::<Vec<_>>(), self.clone().apply(act).is_ok())
    }

    /// An item in responses. Its agreement is given by index.
    pub fn shown(&self, at: usize) -> Value {
        let item = &self.items[at];
        let status = match item.at {
            At::Funded => "funded",
            At::Unfunded => "unfunded",
            _ => "open",
        };
        json!({
            "phase": item.phase(),
            "status": status,
            "verb": item.verb,
            "missing_facts": item.missing(),
            "waiting_on": item.hold,
            "close_reason": (item.at == At::Unfunded).then_some("sold"),
            "agreement": item.agreement,
        })
    }

    pub fn summary(&self) -> Value {
        let mut summary = Map::new();
        let count = |is: &dyn Fn(&Item) -> bool| self.items.iter().filter(|item| is(item)).count();
        for phase in ["unsorted", "gathering", "ready", "papered", "in_progress", "claimed", "done"] {
            summary.insert(phase.to_owned(), json!(count(&|item| item.phase() == phase)));
        }
        summary.insert("total".to_owned(), json!(self.items.len()));
        summary.insert("parked".to_owned(), json!(count(&|item| item.hold.is_some())));
        summary.insert("funded".to_owned(), json!(count(&|item| item.at == At::Funded)));
        summary.insert("unfunded".to_owned(), json!(count(&|item| item.at == At::Unfunded)));
        Value::Object(summary)
    }
}
