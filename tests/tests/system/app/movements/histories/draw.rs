use std::collections::BTreeSet;

use fastrand::Rng;

use super::model::{AMOUNT, Act, New, Payment, REASONS, SOURCES, Who};
use super::{STEPS, STEPS_UNTIL_ENDS};

/// Few, so that some documents are filed again.
const DOCUMENTS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acts {
    Everyones,
    /// The sender's side's acts, members' acts on its statements, and calls of the API.
    OfTheSender,
}

pub(super) struct Drawn {
    pub at: usize,
    pub by: Who,
    pub act: Act,
}

pub(super) struct Drawing<'a> {
    pub rng: &'a mut Rng,
    pub acts: Acts,
    pub payments: &'a [Payment],
    pub is_late: bool,
}

pub(super) fn is_elsewhere(payments: &[Payment], at: usize, act: &Act) -> bool {
    let others = payments.iter().enumerate().filter(|(other, _)| *other != at);
    let mut filed = others.flat_map(|(_, payment)| &payment.evidence);
    match act {
        Act::Accept(which, _) => {
            let judged = &payments[at].evidence[*which].new;
            filed.any(|filed| filed.is_accepted_arrival() && filed.new.minor == judged.minor)
        }
        _ => false,
    }
}

/// The distinct events of a seed's history: state, act, next state, and whether it changed anything.
fn variety(seed: u64, acts: Acts) -> BTreeSet<String> {
    let mut rng = Rng::with_seed(seed);
    let mut payments = vec![Payment::new(), Payment::new()];
    let mut found = BTreeSet::new();
    for step in 1..=STEPS {
        let is_late = step > STEPS_UNTIL_ENDS;
        let Drawn { at, by, act } = Drawing { rng: &mut rng, acts, payments: &payments, is_late }.draw();
        let is_elsewhere = is_elsewhere(&payments, at, &act);
        let (before, completed) = (payments[at].state, payments[at].is_completed());
        let did = payments[at].act(by, &act, is_elsewhere);
        let kind = format!("{act:?}");
        let kind = kind.split(['(', ' ']).next().unwrap_or_default();
        let (after, sum) = (payments[at].state, payments[at].proven() - AMOUNT);
        // One minor unit less or more are separate cases.
        let sum = if matches!(act, Act::Accept(..)) && did.is_ok() { sum.clamp(-2, 2) } else { 0 };
        found.insert(format!("{before} {completed} {kind} {after} {} {sum}", did.is_ok()));
    }
    found
}

/// A history's value: begins and ends of proof count more than the rest, amounts off by one minor unit most.
pub(super) fn worth(seed: u64, acts: Acts) -> usize {
    let worth = |what: String| match what.rsplit_once(' ') {
        Some((_, "-1" | "1")) => 16,
        _ if what.contains("reconciled") => 4,
        _ => 1,
    };
    variety(seed, acts).into_iter().map(worth).sum()
}

impl Drawing<'_> {
    pub fn draw(&mut self) -> Drawn {
        if self.rng.u8(..10) < 4 {
            return self.draw_next();
        }
        let is_hopeful = self.rng.u8(..10) < 8;
        let mut drawn = self.draw_any();
        for _ in 0..40 {
            let Drawn { at, by, act } = &drawn;
            let mut after = self.payments[*at].clone();
            let does = after.act(*by, act, is_elsewhere(self.payments, *at, act)).is_ok();
            // Ends are rare before the last steps, so that histories continue.
            let is_end = ["returned", "cancelled"].contains(&after.state) && !self.is_late && self.rng.u8(..12) > 0;
            if !is_hopeful || (does && !is_end) {
                break;
            }
            drawn = self.draw_any();
        }
        drawn
    }

    fn draw_next(&mut self) -> Drawn {
        let at = self.rng.usize(..self.payments.len());
        let payment = &self.payments[at];
        let [one, other] = if self.rng.bool() { [Who::Maren, Who::Kim] } else { [Who::Kim, Who::Maren] };
        let last = |state: &str| payment.evidence.iter().rposition(|filed| filed.state == state);
        let (by, act) = match (payment.state, last("filed"), last("accepted")) {
            ("draft", ..) => (one, Act::Authorize),
            ("authorized", ..) if payment.revision == 0 => (one, Act::Enter),
            ("authorized", ..) => match payment.clone().act(one, &Act::Release, false) {
                Ok(()) => (one, Act::Release),
                Err(_) if payment.clone().act(one, &Act::Verify, false).is_ok() => (one, Act::Verify),
                Err(_) => (other, Act::Verify),
            },
            ("instructions_ready", ..) => (Who::Ada, Act::Report(false)),
            ("processing", Some(which), _) => (one, Act::Accept(which, self.rng.u8(..4) > 0)),
            ("exception", ..) if payment.clone().act(one, &Act::Settle(true), false).is_ok() && self.rng.bool() => {
                (one, Act::Settle(self.rng.bool()))
            }
            ("exception", ..) if self.is_late => (one, Act::Return),
            ("exception", ..) => (one, Act::Resolve(self.rng.bool())),
            ("reconciled", _, Some(which)) => match self.rng.u8(..6) {
                0 => (Who::Ada, Act::Approve),
                1 | 2 => (one, Act::Flag("suspected_fraud")),
                _ if self.is_late => (one, Act::Return),
                _ => (one, Act::Withdraw(which)),
            },
            _ => (one, Act::File(self.draw_proof(at))),
        };
        Drawn { at, by, act }
    }

    fn draw_proof(&mut self, at: usize) -> New {
        let rest = (AMOUNT - self.payments[at].proven()).max(1);
        let sources = if self.acts == Acts::Everyones { 2..5 } else { 0..2 };
        let new = self.draw_evidence(sources, true);
        let minor = match self.rng.u8(..10) {
            0 => rest - 1,
            1 => rest + 1,
            2..6 => rest - rest / 2,
            _ => rest,
        };
        New { minor: minor.max(1), is_usd: true, ..new }
    }

    fn draw_any(&mut self) -> Drawn {
        let at = self.rng.usize(..self.payments.len());
        let member = if self.rng.bool() { Who::Maren } else { Who::Kim };
        let party = if self.rng.bool() { Who::Ada } else { Who::Northwind };
        let filed = self.payments[at].evidence.len();
        let is_all = self.acts == Acts::Everyones;
        let (by, act) = match self.rng.u8(..if is_all { 30 } else { 24 }) {
            0 | 1 => (member, Act::Authorize),
            2 => (member, Act::Enter),
            3 | 4 => (member, Act::Verify),
            5 | 6 => (member, Act::Release),
            7 | 8 => (Who::Ada, Act::Report(self.rng.u8(..4) == 0)),
            9 => (member, Act::Report(false)),
            11 | 12 => (member, Act::File(self.draw_evidence(if is_all { 0..5 } else { 0..2 }, true))),
            13 => (Who::Ada, Act::File(self.draw_evidence(1..3, false))),
            14 | 15 if filed > 0 => (member, Act::Accept(self.rng.usize(..filed), self.rng.bool())),
            16 if filed > 0 => (member, Act::Reject(self.rng.usize(..filed))),
            17 if filed > 0 => (member, Act::Withdraw(self.rng.usize(..filed))),
            18 if filed > 0 => (if is_all { party } else { Who::Ada }, Act::Withdraw(self.rng.usize(..filed))),
            19 => (member, Act::Flag(REASONS[self.rng.usize(..REASONS.len())])),
            20 => (member, Act::Resolve(self.rng.bool())),
            21 => (member, Act::Settle(self.rng.bool())),
            22 if self.rng.u8(..8) == 0 => (Who::Ada, Act::Approve),
            24..27 => (member, Act::File(self.draw_evidence(2..5, true))),
            27 => (Who::Northwind, Act::File(self.draw_evidence(1..3, false))),
            28 => (member, Act::Return),
            29 => (member, Act::Cancel),
            _ => (member, Act::Ask),
        };
        Drawn { at, by, act }
    }

    fn draw_evidence(&mut self, sources: std::ops::Range<usize>, is_by_member: bool) -> New {
        const MINOR: [i64; 8] = [AMOUNT, AMOUNT, AMOUNT, AMOUNT / 2, AMOUNT / 2, AMOUNT - 1, AMOUNT + 1, 1];
        let source = self.rng.usize(sources);
        // Banks' documents have files, and so do parties' own.
        let has_file = !["sender_statement", "recipient_confirmation"].contains(&SOURCES[source].0) || !is_by_member;
        New {
            source,
            minor: MINOR[self.rng.usize(..MINOR.len())],
            is_usd: self.rng.u8(..10) > 0,
            document: has_file.then(|| self.rng.usize(..DOCUMENTS)),
            id: String::new(),
            copy: String::new(),
        }
    }
}
