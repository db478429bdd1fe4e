//! A model of members' and parties' acts on payments, from the contract alone (sections 2 and 3).

use serde_json::{Value, json};

pub(super) const AMOUNT: i64 = 25_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Maren,
    Kim,
    Ada,
    Northwind,
}

impl Who {
    pub fn name(self) -> &'static str {
        match self {
            Self::Maren => "Maren Holt",
            Self::Kim => "Kim Sato",
            Self::Ada => "Ada Okafor",
            Self::Northwind => "Northwind Robotics, Inc.",
        }
    }
}

/// A source of evidence: name, whether it is the receiving side's, assurance, basis of a confirmation. Weakest first.
pub(super) struct Source(pub &'static str, pub bool, pub &'static str, pub &'static str);

pub(super) const SOURCES: [Source; 5] = [
    Source("sender_statement", false, "stated", ""),
    Source("sender_bank_document", false, "sender_documented", ""),
    Source("recipient_confirmation", true, "recipient_confirmed", "recipient_confirmation"),
    Source("receiving_bank_notification", true, "bank_documented", "receiving_bank_notification"),
    Source("receiving_bank_statement", true, "bank_documented", "receiving_bank_statement"),
];

pub(super) const REASONS: [&str; 5] =
    ["amount_short", "not_received", "suspected_fraud", "returned", "evidence_withdrawn"];

#[derive(Debug, Clone)]
pub(super) enum Act {
    Authorize,
    Enter,
    Verify,
    Release,
    /// A claim; the sender's page may show outdated instructions.
    Report(bool),
    Ask,
    File(New),
    /// And whether it is declared a separate arrival.
    Accept(usize, bool),
    Reject(usize),
    Withdraw(usize),
    Flag(&'static str),
    /// Whether to send the money again.
    Resolve(bool),
    /// Says that the excess is kept, or was returned.
    Settle(bool),
    Return,
    Cancel,
    Approve,
}

/// Evidence to file: source index, amount, whether in US dollars, document.
#[derive(Debug, Clone)]
pub(super) struct New {
    pub source: usize,
    pub minor: i64,
    pub is_usd: bool,
    pub document: Option<usize>,
    pub id: String,
    pub copy: String,
}

#[derive(Debug, Clone)]
pub(super) struct Filed {
    pub new: New,
    pub by: Who,
    pub state: &'static str,
    decided_by: Option<Who>,
}

impl Filed {
    pub fn source(&self) -> &'static Source {
        &SOURCES[self.new.source]
    }

    fn is_receivers(&self) -> bool {
        self.source().1
    }

    pub fn is_accepted_arrival(&self) -> bool {
        self.state == "accepted" && self.is_receivers()
    }

    pub fn stands(&self) -> bool {
        ["filed", "accepted"].contains(&self.state)
    }
}

/// Why an act was refused, for people: tests only compare that it was.
type Refused = &'static str;

#[derive(Debug, Clone)]
pub(super) struct Payment {
    pub state: &'static str,
    pub reason: Option<&'static str>,
    pub claim: Option<Who>,
    pub attempts: usize,
    pub evidence: Vec<Filed>,
    pub confirmed_by: Option<Who>,
    /// The step's conditions: authorization, arrival, approval.
    pub gates: [bool; 3],
    pub revision: u32,
    has_ended: bool,
    entered_by: Option<Who>,
    verified_by: Option<Who>,
}

impl Payment {
    pub fn new() -> Self {
        Self {
            state: "draft",
            reason: None,
            claim: None,
            attempts: 0,
            evidence: Vec::new(),
            confirmed_by: None,
            gates: [false; 3],
            revision: 0,
            has_ended: false,
            entered_by: None,
            verified_by: None,
        }
    }

    pub fn is_completed(&self) -> bool {
        self.gates == [true; 3]
    }

    pub fn is_in_flight(&self) -> bool {
        ["sender_reported", "receipt_pending", "processing"].contains(&self.state)
    }

    /// Whether it no longer progresses by itself.
    pub fn has_stopped(&self) -> bool {
        ["exception", "returned", "cancelled"].contains(&self.state)
    }

    pub fn proven(&self) -> i64 {
        let accepted = self.evidence.iter().filter(|filed| filed.is_accepted_arrival());
        accepted.map(|filed| filed.new.minor).sum()
    }

    pub fn act(&mut self, by: Who, act: &Act, elsewhere: bool) -> Result<(), Refused> {
        let before = self.clone();
        let done = match act {
            Act::Authorize | Act::Enter | Act::Verify | Act::Release => self.prepare(by, act),
            Act::Report(is_stale) => self.report(by, *is_stale),
            Act::Ask => self.pass("sender_reported", "receipt_pending"),
            Act::File(new) => self.file(by, new),
            Act::Accept(which, is_another) => self.accept(by, *which, *is_another, elsewhere),
            Act::Reject(which) | Act::Withdraw(which) => self.remove(by, *which, matches!(act, Act::Withdraw(_))),
            Act::Flag(_) | Act::Resolve(_) | Act::Return | Act::Cancel => self.settle(act),
            Act::Settle(_) => self.settle_surplus(by),
            Act::Approve => self.approve(by),
        };
        match done {
            Ok(()) => self.follow(),
            Err(_) => *self = before,
        }
        done
    }

    fn pass(&mut self, from: &str, to: &'static str) -> Result<(), Refused> {
        self.expect(self.state == from)?;
        self.state = to;
        Ok(())
    }

    fn expect(&self, is_right: bool) -> Result<(), Refused> {
        if is_right { Ok(()) } else { Err(self.state) }
    }

    fn raise(&mut self, reason: &'static str) {
        (self.state, self.reason) = ("exception", Some(reason));
    }

    fn prepare(&mut self, by: Who, act: &Act) -> Result<(), Refused> {
        match act {
            Act::Authorize => {
                self.expect(!self.is_completed())?;
                self.pass("draft", "authorized")?;
            }
            Act::Enter => {
                self.expect(!["reconciled", "returned", "cancelled"].contains(&self.state))?;
                (self.revision, self.entered_by) = (self.revision + 1, Some(by));
                self.verified_by = None;
                if self.state == "instructions_ready" {
                    self.state = "authorized";
                } else if self.is_in_flight() {
                    self.raise("instructions_changed");
                }
            }
            Act::Verify => {
                self.expect(!["reconciled", "returned", "cancelled"].contains(&self.state))?;
                self.expect(self.revision > 0 && self.verified_by.is_none() && self.entered_by != Some(by))?;
                self.verified_by = Some(by);
            }
            _ => {
                self.expect(!self.is_completed() && self.verified_by.is_some())?;
                self.pass("authorized", "instructions_ready")?;
            }
        }
        Ok(())
    }

    fn report(&mut self, by: Who, is_stale: bool) -> Result<(), Refused> {
        if by == Who::Northwind || (by == Who::Ada && is_stale && self.revision > 0) {
            return Err("not by this page");
        }
        self.pass("instructions_ready", "sender_reported")?;
        self.claim = Some(by);
        self.attempts += 1;
        Ok(())
    }

    fn takes(&self, by: Who, new: &New) -> Result<(), Refused> {
        let Source(name, is_receivers, ..) = SOURCES[new.source];
        let may = match by {
            Who::Maren | Who::Kim => true,
            Who::Ada => !is_receivers,
            Who::Northwind => name == "recipient_confirmation",
        };
        let is_again = |filed: &Filed| {
            filed.stands() && filed.is_receivers() == is_receivers && filed.new.document == new.document
        };
        self.expect(may)?;
        let is_open = self.is_in_flight() || (is_receivers && self.state == "instructions_ready");
        self.expect(is_open || self.has_ended)?;
        self.expect(new.document.is_none() || !self.evidence.iter().any(is_again))
    }

    fn file(&mut self, by: Who, new: &New) -> Result<(), Refused> {
        self.takes(by, new)?;
        self.evidence.push(Filed { new: new.clone(), by, state: "filed", decided_by: None });
        if self.has_ended {
            return Ok(());
        }
        if SOURCES[new.source].1 {
            self.state = "processing";
        } else if self.state == "sender_reported" {
            self.state = "receipt_pending";
        }
        Ok(())
    }

    fn wait(&mut self) {
        let waits = self.evidence.iter().any(|filed| filed.state == "filed" && filed.is_receivers());
        self.state = if waits { "processing" } else { "receipt_pending" };
    }

    fn accept(&mut self, by: Who, which: usize, is_another: bool, elsewhere: bool) -> Result<(), Refused> {
        let filed = &self.evidence[which];
        self.expect(filed.is_receivers() && filed.state == "filed" && filed.new.is_usd)?;
        self.expect(self.state == "processing" || self.has_ended)?;
        // Everything is on one day, so the same amount may be the same money.
        let looks_alike = |other: &Filed| other.state == "accepted" && other.new.minor == filed.new.minor;
        self.expect(is_another || !(elsewhere || self.evidence.iter().any(looks_alike)))?;
        let filed = &mut self.evidence[which];
        (filed.state, filed.decided_by) = ("accepted", Some(by));
        match self.proven().cmp(&AMOUNT) {
            _ if self.has_ended => {}
            std::cmp::Ordering::Less => self.wait(),
            std::cmp::Ordering::Equal => (self.state, self.confirmed_by) = ("reconciled", Some(by)),
            std::cmp::Ordering::Greater => self.raise("amount_over"),
        }
        Ok(())
    }

    fn remove(&mut self, by: Who, which: usize, withdraws: bool) -> Result<(), Refused> {
        let filed = &self.evidence[which];
        let was = filed.state;
        let is_party = [Who::Ada, Who::Northwind].contains(&by);
        self.expect(filed.stands() && (was == "filed" || (withdraws && !is_party)))?;
        self.expect(!is_party || filed.by == by)?;
        let filed = &mut self.evidence[which];
        (filed.state, filed.decided_by) = (if withdraws { "withdrawn" } else { "rejected" }, Some(by));
        if was == "accepted" && !["authorized", "exception", "returned", "cancelled"].contains(&self.state) {
            self.raise("evidence_withdrawn");
        } else if self.state == "processing" {
            self.wait();
        }
        Ok(())
    }

    fn settle(&mut self, act: &Act) -> Result<(), Refused> {
        match act {
            Act::Flag(reason) => {
                self.expect(!["returned", "evidence_withdrawn"].contains(reason))?;
                self.expect(self.is_in_flight() || ["instructions_ready", "reconciled"].contains(&self.state))?;
                self.raise(reason);
            }
            Act::Resolve(true) => {
                let waits = self.evidence.iter().any(|filed| filed.state == "filed" && filed.is_receivers());
                self.expect(!self.is_completed() && self.proven() < AMOUNT && !waits)?;
                self.pass("exception", "authorized")?;
                self.claim = None;
            }
            Act::Resolve(false) => {
                self.expect(self.state == "exception")?;
                if self.proven() >= AMOUNT {
                    for filed in self.evidence.iter_mut().filter(|filed| filed.state == "accepted") {
                        (filed.state, filed.decided_by) = ("filed", None);
                    }
                }
                self.wait();
            }
            Act::Return => {
                let is_open = self.is_in_flight() || ["reconciled", "exception"].contains(&self.state);
                self.expect(is_open || self.has_ended)?;
                (self.state, self.reason, self.has_ended) = ("returned", Some("returned"), false);
            }
            _ => {
                let open = ["draft", "authorized", "instructions_ready", "exception"];
                self.expect(open.contains(&self.state) && self.proven() < AMOUNT)?;
                self.state = "cancelled";
            }
        }
        Ok(())
    }

    fn settle_surplus(&mut self, by: Who) -> Result<(), Refused> {
        let waits = self.evidence.iter().any(|filed| filed.state == "filed" && filed.is_receivers());
        self.expect(self.reason == Some("amount_over") && self.proven() > AMOUNT && !waits)?;
        self.pass("exception", "reconciled")?;
        self.confirmed_by = Some(by);
        Ok(())
    }

    fn approve(&mut self, by: Who) -> Result<(), Refused> {
        self.expect(by == Who::Ada && !self.gates[2] && !self.is_completed())?;
        self.gates[2] = true;
        Ok(())
    }

    /// Updates the step: the authorization stays, and the arrival counts while proven.
    fn follow(&mut self) {
        if !["exception", "returned"].contains(&self.state) {
            self.reason = None;
        }
        if self.state != "reconciled" {
            self.confirmed_by = None;
        }
        if !self.is_completed() {
            self.gates[0] |= !["draft", "cancelled"].contains(&self.state);
            self.gates[1] = self.state == "reconciled";
        }
    }

    pub fn end(&mut self) {
        if ["draft", "authorized", "instructions_ready"].contains(&self.state) {
            (self.state, self.reason, self.has_ended) = ("cancelled", None, true);
        }
    }

    pub fn event_since(&self, before: &Self) -> Option<(&'static str, Option<&'static str>)> {
        if self.state == before.state {
            return None;
        }
        match self.state {
            "sender_reported" => Some(("movement.sender_reported", None)),
            "reconciled" => Some(("movement.reconciled", None)),
            "exception" | "returned" => Some(("movement.exception", self.reason)),
            _ => None,
        }
    }

    pub fn shown(&self) -> Value {
        let standing: Vec<&Filed> =
            self.evidence.iter().filter(|filed| filed.is_receivers() && filed.stands()).collect();
        let best = standing.iter().map(|filed| filed.new.source).max().map(|best| SOURCES[best].2);
        let receipt = best.map(
            |best| json!({"evidence_count": standing.len(), "best_assurance": best, "received_minor": self.proven()}),
        );
        let accepted = self.evidence.iter().filter(|filed| filed.state == "accepted").map(|filed| filed.new.source);
        let basis = accepted.min().filter(|_| self.confirmed_by.is_some()).map(|weakest| SOURCES[weakest].3);
        json!({
            "state": self.state,
            "exception_reason": self.reason,
            "claim": self.claim.is_some(),
            "receipt": receipt,
            "reconciled": self.state == "reconciled",
            "confirmed": self.confirmed_by.is_some(),
            "confirmed_by": self.confirmed_by.map(Who::name),
            "confirmation_basis": basis,
        })
    }
}
