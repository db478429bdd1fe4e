use fastrand::Rng;
use shared::domain::agreement::Lifecycle;
use shared::domain::proposal::ProposalState;
use tests::drafts::Coming;

use super::model::{ACTIONS, Call, Command, Contact, Expected, Expiry, Stage};
use super::{History, Step};

impl History {
    /// Steps that are possible now; a decision comes with the opening of its page.
    pub fn draw(&mut self) -> Vec<Step> {
        std::iter::repeat_with(|| self.try_draw()).flatten().next().expect("something can always happen")
    }

    fn try_draw(&mut self) -> Option<Vec<Step>> {
        let (who, newest) = (self.rng.usize(..2), self.model.reviews.len());
        let [choice, other] = [(); 2].map(|()| if self.rng.u8(..4) > 0 { "confirm" } else { "decline" });
        let decide = |who, choice| Command::Decide { who, review: newest, choice };
        Some(match self.rng.u32(..100) {
            0..25 => {
                let call = self.draw_call()?;
                let key = self.draw_key(&call);
                vec![Step::One(Command::Write { call, key })]
            }
            25..30 => {
                let (again, key) = one_of(&mut self.rng, &self.keyed)?.clone();
                let call = if self.rng.bool() { again } else { self.draw_call().filter(takes_key)? };
                vec![Step::One(Command::Write { call, key: Some(key) })]
            }
            30..34 => {
                let call = self.draw_call()?;
                let key = self.draw_key(&call);
                // Without a key, calls that differ only in timing.
                let is_same = matches!(call, Call::Propose { .. } | Call::AddParticipant { .. });
                (is_same || key.is_some()).then_some(())?;
                let write = Command::Write { call, key };
                vec![Step::Both([write.clone(), write])]
            }
            34..40 => vec![Step::Open(self.draw_pending()?)],
            40..62 => {
                let proposal = self.draw_pending()?;
                let step = match self.rng.u8(..6) {
                    0 => Step::Both([decide(0, choice), decide(1, other)]),
                    1 => {
                        let call = self.draw_change(self.model.proposals[proposal].agreement)?;
                        Step::Both([decide(who, choice), Command::Write { call, key: None }])
                    }
                    _ => Step::One(decide(who, choice)),
                };
                vec![Step::Open(proposal), step]
            }
            62..70 => {
                // Prefer recently opened ones.
                let review = one_of(&mut self.rng, newest.saturating_sub(4)..newest)?;
                vec![Step::One(Command::Decide { who, review, choice })]
            }
            70..72 => {
                let workspace = one_of(&mut self.rng, 0..self.model.workspaces.len())?;
                let activate = |who| Command::Activate { who, workspace };
                vec![if self.rng.bool() { Step::One(activate(who)) } else { Step::Both([0, 1].map(activate)) }]
            }
            72..81 => vec![self.draw_set_up()?],
            81..84 => vec![Step::LetExpire(self.draw_pending()?)],
            84..93 => {
                let coming = one_of(&mut self.rng, [Coming::Countdown, Coming::Countdown, Coming::Expiry])?;
                let can = |at: &usize| self.model.agreements[*at].can_come(coming);
                let at = one_of(&mut self.rng, (0..self.model.agreements.len()).filter(can))?;
                let let_come = Step::LetCome(at, coming);
                // Prefer a moment when a member has its review page open.
                let waiting = self.pending().into_iter().find(|waiting| self.model.proposals[*waiting].agreement == at);
                match waiting.filter(|_| self.rng.bool()) {
                    Some(waiting) => vec![Step::Open(waiting), let_come, Step::One(decide(who, "confirm"))],
                    None => vec![let_come],
                }
            }
            93..99 => vec![Step::Tick],
            _ => vec![Step::Read],
        })
    }

    fn draw_set_up(&mut self) -> Option<Step> {
        let at = self.draw_draft()?;
        let people = self.model.agreements[at].participants.clone();
        let mut stages = Vec::new();
        for _ in 0..self.rng.usize(..4) {
            stages.push(match self.rng.u8(..5) {
                0 => Stage::Approval(one_of(&mut self.rng, people.iter().copied())?),
                1 => Stage::Past,
                hours => Stage::Hours(hours.into()),
            });
        }
        let expiry = [Expiry::Never, Expiry::Never, Expiry::Never, Expiry::Later, Expiry::Later, Expiry::Over];
        Some(Step::SetUp(at, stages, one_of(&mut self.rng, expiry)?))
    }

    fn draw_propose(&mut self) -> Option<Call> {
        let [publish, cancel] = ACTIONS;
        let all = (0..self.model.agreements.len())
            .flat_map(|agreement| [publish, publish, cancel].map(|action| Call::Propose { agreement, action }));
        let can_be = |call: &Call| {
            let command = Command::Write { call: call.clone(), key: None };
            matches!(self.model.expected(&command), Expected::Done(_))
        };
        let (good, refused): (Vec<Call>, Vec<Call>) = all.partition(can_be);
        let wanted = if self.rng.u8(..10) < 7 { good } else { refused };
        one_of(&mut self.rng, wanted)
    }

    fn draw_call(&mut self) -> Option<Call> {
        match self.rng.u8(..10) {
            0 => {
                let workspace = one_of(&mut self.rng, 0..self.model.workspaces.len())?;
                Some(Call::NewAgreement { workspace, name: format!("Deal {}", self.steps.len()) })
            }
            1..5 => {
                let any = one_of(&mut self.rng, 0..self.model.agreements.len())?;
                let agreement = if self.rng.u8(..4) > 0 { self.draw_draft()? } else { any };
                self.draw_change(agreement)
            }
            _ => self.draw_propose(),
        }
    }

    fn draw_change(&mut self, agreement: usize) -> Option<Call> {
        let contact = one_of(&mut self.rng, 0..self.model.contacts.len())?;
        let Contact { mut name, mut email, .. } = self.model.contacts[contact].clone();
        match self.rng.u8(..6) {
            0 => name = format!("Contact {contact} once {}", self.steps.len()),
            1 => email = None,
            2 => email = Some(format!("contact-{contact}@people.example")),
            _ => return Some(Call::AddParticipant { agreement, contact }),
        }
        Some(Call::Change { contact, name, email })
    }

    fn draw_key(&mut self, call: &Call) -> Option<String> {
        (takes_key(call) && self.rng.bool()).then(|| format!("key-{}", self.steps.len()))
    }

    fn draw_draft(&mut self) -> Option<usize> {
        let is_draft = |at: &usize| self.model.agreements[*at].lifecycle == Lifecycle::Draft;
        one_of(&mut self.rng, (0..self.model.agreements.len()).filter(is_draft))
    }

    fn draw_pending(&mut self) -> Option<usize> {
        let pending = self.pending();
        one_of(&mut self.rng, pending)
    }

    fn pending(&self) -> Vec<usize> {
        let is_pending = |at: &usize| self.model.proposals[*at].state == ProposalState::Pending;
        self.model.open_proposals().filter(is_pending).collect()
    }
}

fn takes_key(call: &Call) -> bool {
    !matches!(call, Call::Change { .. })
}

fn one_of<T>(rng: &mut Rng, all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    if all.is_empty() { None } else { Some(all.swap_remove(rng.usize(..all.len()))) }
}
