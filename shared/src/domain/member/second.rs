//! Second members: whose confirmation of another member's record is a second person's word.
//!
//! - Decision: a member who invites another, or resets their password or second factor, may be able to act as them: the
//!   link passes through their hands. So the two, and all tied through others, count as one for
//!   [`limits::SECOND_SELF_S`], time for the other members to notice. Operators create no tie.
//! - Decision: a member is alone if they let in all others, directly or through others, within that time, and nobody
//!   who counted has left within it. So a one-person organization works, even in the week after its first invitations.
//!   Resetting a password doesn't make a member alone, nor does removing the person who would have to confirm.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::ids::MemberId;
use crate::domain::organization::MemberRecord;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::enums::text_enum;

/// Whether a second member must confirm what a member records: paper signatures, instructions, met obligations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// Once a second member confirms it.
    Confirmed,
    /// At once, because nobody counts as a second member.
    Alone,
    /// Once a second member confirms it; the present member and the recorder count as one.
    OneSelf,
}

text_enum! {
    /// What ties a member to another.
    pub enum TieKind {
        /// The other invited them.
        Invited = "invited",
        /// The other reset their password.
        PasswordReset = "password_reset",
        /// The other reset their second factor.
        SecondFactorReset = "second_factor_reset",
    }
}

/// One member let another in, or could act as them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tie {
    /// The member who was let in, or whose password or second factor was reset.
    pub member_id: MemberId,
    /// The member who did it.
    pub by: MemberId,
    /// How.
    pub kind: TieKind,
    /// When it took effect: the invitation was accepted, or the link used.
    pub at: Timestamp,
}

/// A member left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// Who.
    pub member_id: MemberId,
    /// When.
    pub at: Timestamp,
}

/// The members of an organization at a moment, and their ties.
#[derive(Debug, Clone)]
pub struct SecondMembers {
    /// The members.
    pub members: Vec<MemberRecord>,
    /// Their ties, including expired ones.
    pub ties: Vec<Tie>,
    /// Who left, however long ago.
    pub departures: Vec<Departure>,
    /// The moment.
    pub now: Timestamp,
}

impl SecondMembers {
    /// How `by`'s word counts on what `first` recorded. `first` is none if no member did.
    #[must_use]
    pub fn counting(&self, by: MemberId, first: Option<MemberId>) -> Counting {
        if self.is_alone(by) {
            return Counting::Alone;
        }
        let is_one_self = first.is_some_and(|first| first != by && self.are_one_self(by, first));
        if is_one_self { Counting::OneSelf } else { Counting::Confirmed }
    }

    /// The members whose records this member can't confirm: those who count as one with them. Empty if alone.
    #[must_use]
    pub fn not_confirmed_by(&self, member: MemberId) -> BTreeSet<MemberId> {
        if self.is_alone(member) { BTreeSet::new() } else { self.one_self_at(member, self.now) }
    }

    /// Whether nobody counts as a second member for a member.
    #[must_use]
    pub fn is_alone(&self, member: MemberId) -> bool {
        let others = self.members.iter().map(|other| other.id).filter(|other| *other != member);
        let left = self.departures.iter().filter(|left| left.member_id != member && is_recent(left.at, self.now));
        others.map(|other| (other, self.now)).chain(left.map(|left| (left.member_id, left.at))).all(|(other, at)| {
            let let_in = |tie: &Tie| tie.kind == TieKind::Invited && is_recent(tie.at, at);
            reached(member, |from| {
                self.ties.iter().filter(|tie| let_in(tie) && tie.by == from).map(|tie| tie.member_id).collect()
            })
            .contains(&other)
        })
    }

    /// Whether two members count as one.
    #[must_use]
    pub fn are_one_self(&self, one: MemberId, other: MemberId) -> bool {
        self.are_one_self_at(one, other, self.now)
    }

    fn are_one_self_at(&self, one: MemberId, other: MemberId, at: Timestamp) -> bool {
        self.one_self_at(one, at).contains(&other)
    }

    fn one_self_at(&self, member: MemberId, at: Timestamp) -> BTreeSet<MemberId> {
        let tied = |from: MemberId| {
            let recent = self.ties.iter().filter(|tie| is_recent(tie.at, at));
            recent.filter_map(|tie| tie.other_than(from)).collect()
        };
        reached(member, tied)
    }

    /// The latest direct tie between two members, if any.
    #[must_use]
    pub fn tie_between(&self, one: MemberId, other: MemberId) -> Option<&Tie> {
        let between = |tie: &&Tie| tie.other_than(one) == Some(other) && is_recent(tie.at, self.now);
        self.ties.iter().filter(between).max_by_key(|tie| tie.at)
    }

    /// When two members who count as one become two again.
    #[must_use]
    pub fn one_self_until(&self, one: MemberId, other: MemberId) -> Timestamp {
        let mut ends: Vec<Timestamp> = self
            .ties
            .iter()
            .map(|tie| tie.at.plus_seconds(limits::SECOND_SELF_S))
            .filter(|end| *end > self.now)
            .collect();
        ends.sort_unstable();
        ends.into_iter().find(|end| !self.are_one_self_at(one, other, *end)).unwrap_or(self.now)
    }

    /// The members who count as a second member for a member.
    pub fn seconds_of(&self, member: MemberId) -> impl Iterator<Item = &MemberRecord> {
        self.members.iter().filter(move |other| other.id != member && !self.are_one_self(member, other.id))
    }

    /// The last departure, if it alone keeps a member from being alone.
    #[must_use]
    pub fn kept_by_departure(&self, member: MemberId) -> Option<&Departure> {
        let without = Self { departures: Vec::new(), ..self.clone() };
        let is_kept = !self.is_alone(member) && without.is_alone(member);
        self.departures.iter().filter(|_| is_kept).max_by_key(|left| left.at)
    }
}

fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    now < at.plus_seconds(limits::SECOND_SELF_S)
}

impl Tie {
    fn other_than(&self, member: MemberId) -> Option<MemberId> {
        if self.by == member { Some(self.member_id) } else { Some(self.by).filter(|_| self.member_id == member) }
    }
}

fn reached(from: MemberId, next: impl Fn(MemberId) -> Vec<MemberId>) -> BTreeSet<MemberId> {
    let (mut found, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(member) = open.pop() {
        open.extend(next(member).into_iter().filter(|member| found.insert(*member)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::noon;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::organization::Role;

    const DAY_S: i64 = 24 * 60 * 60;

    struct World {
        seconds: SecondMembers,
    }

    impl World {
        fn new(names: &[&str]) -> Self {
            let member = |name: &&str| MemberRecord {
                id: MemberId::new(),
                name: DisplayName::parse(name).unwrap(),
                email: Email::parse(&format!("{name}@example.org")).unwrap(),
                role: Role::Admin,
                created_at: noon(),
            };
            let members = names.iter().map(member).collect();
            Self { seconds: SecondMembers { members, ties: Vec::new(), departures: Vec::new(), now: noon() } }
        }

        fn id(&self, name: &str) -> MemberId {
            self.seconds.members.iter().find(|member| member.name.as_str() == name).unwrap().id
        }

        fn days_ago(&self, days: i64) -> Timestamp {
            self.seconds.now.plus_seconds(-days * DAY_S)
        }

        fn tie(mut self, by: &str, kind: TieKind, name: &str, days_ago: i64) -> Self {
            let (member_id, by, at) = (self.id(name), self.id(by), self.days_ago(days_ago));
            self.seconds.ties.push(Tie { member_id, by, kind, at });
            self
        }

        fn leave(mut self, name: &str, days_ago: i64) -> Self {
            let (member_id, at) = (self.id(name), self.days_ago(days_ago));
            self.seconds.departures.push(Departure { member_id, at });
            self.seconds.members.retain(|member| member.id != member_id);
            self
        }

        fn counting(&self, by: &str, first: &str) -> Counting {
            self.seconds.counting(self.id(by), Some(self.id(first)))
        }

        fn is_alone(&self, name: &str) -> bool {
            self.seconds.is_alone(self.id(name))
        }

        fn seconds_of(&self, name: &str) -> Vec<&str> {
            self.seconds.seconds_of(self.id(name)).map(|member| member.name.as_str()).collect()
        }
    }

    use TieKind::{Invited, PasswordReset, SecondFactorReset};

    #[test]
    fn members_whom_an_operator_made_count_at_once() {
        let two = World::new(&["Ada", "Ben"]);
        assert_eq!((two.counting("Ben", "Ada"), two.is_alone("Ada")), (Counting::Confirmed, false));
        let one = World::new(&["Ada"]);
        assert_eq!(one.counting("Ada", "Ada"), Counting::Alone);
    }

    #[test]
    fn whoever_let_another_in_or_could_act_as_them_is_no_second_member_for_a_week() {
        for kind in TieKind::ALL {
            let world = World::new(&["Ada", "Ben", "Kim"]).tie("Ada", kind, "Ben", 6);
            for (by, first) in [("Ben", "Ada"), ("Ada", "Ben")] {
                assert_eq!(world.counting(by, first), Counting::OneSelf, "{kind}");
                assert_eq!(world.counting("Kim", first), Counting::Confirmed, "{kind}");
            }
            assert_eq!(world.seconds_of("Ada"), ["Kim"], "{kind}");
            let (ada, ben) = (world.id("Ada"), world.id("Ben"));
            assert_eq!(world.seconds.tie_between(ben, ada).map(|tie| tie.kind), Some(kind));
            assert_eq!(world.seconds.one_self_until(ada, ben), world.days_ago(-1), "{kind}");
            let later = World::new(&["Ada", "Ben", "Kim"]).tie("Ada", kind, "Ben", 7);
            assert_eq!(later.counting("Ben", "Ada"), Counting::Confirmed, "{kind}");
        }
    }

    #[test]
    fn what_waits_for_a_member_is_not_of_their_second_selves() {
        let world = World::new(&["Ada", "Ben", "Kim"]).tie("Ada", Invited, "Ben", 6);
        let not_by = |name: &str| world.seconds.not_confirmed_by(world.id(name));
        assert_eq!(not_by("Ben"), [world.id("Ada"), world.id("Ben")].into());
        assert_eq!(not_by("Kim"), [world.id("Kim")].into());
        let alone = World::new(&["Ada", "Ben"]).tie("Ada", Invited, "Ben", 6);
        assert_eq!(alone.seconds.not_confirmed_by(alone.id("Ada")), BTreeSet::new());
        assert_eq!(alone.seconds.not_confirmed_by(alone.id("Ben")).len(), 2);
    }

    #[test]
    fn ties_go_through_others() {
        let world = World::new(&["Ada", "Ben", "Cleo", "Dan", "Kim"])
            .tie("Ada", Invited, "Ben", 1)
            .tie("Ben", SecondFactorReset, "Cleo", 2)
            .tie("Ada", PasswordReset, "Dan", 6);
        for (by, first) in [("Cleo", "Ada"), ("Dan", "Cleo"), ("Ben", "Dan")] {
            assert_eq!(world.counting(by, first), Counting::OneSelf, "{by} {first}");
        }
        assert_eq!(world.seconds_of("Cleo"), ["Kim"]);
        let (cleo, dan) = (world.id("Cleo"), world.id("Dan"));
        assert_eq!(world.seconds.tie_between(cleo, dan), None);
        // As soon as one tie on the way expires.
        assert_eq!(world.seconds.one_self_until(cleo, dan), world.days_ago(-1));
    }

    #[test]
    fn who_let_in_all_others_this_week_is_alone_and_they_are_not() {
        let world = World::new(&["Ada", "Ben", "Cleo"]).tie("Ada", Invited, "Ben", 1).tie("Ben", Invited, "Cleo", 0);
        assert_eq!(["Ada", "Ben", "Cleo"].map(|name| world.is_alone(name)), [true, false, false]);
        let week_later = World::new(&["Ada", "Ben"]).tie("Ada", Invited, "Ben", 7);
        assert!(!week_later.is_alone("Ada"));
    }

    #[test]
    fn nobody_becomes_alone_by_resetting_or_removing_who_would_have_to_confirm() {
        for kind in [PasswordReset, SecondFactorReset] {
            let world = World::new(&["Ada", "Ben"]).tie("Ada", kind, "Ben", 1);
            assert_eq!(world.counting("Ada", "Ada"), Counting::Confirmed, "{kind}");
            assert_eq!(world.counting("Ben", "Ada"), Counting::OneSelf, "{kind}");
        }
        let removed = World::new(&["Ada", "Ben"]).leave("Ben", 6);
        assert!(!removed.is_alone("Ada"));
        assert!(removed.seconds.kept_by_departure(removed.id("Ada")).is_some());
        assert!(World::new(&["Ada", "Ben"]).leave("Ben", 7).is_alone("Ada"));
        // The departure of a member who never counted doesn't prevent being alone.
        let guest = World::new(&["Ada", "Ben"]).tie("Ada", Invited, "Ben", 3).leave("Ben", 1);
        assert!(guest.is_alone("Ada"));
        let counted = World::new(&["Ada", "Ben"]).tie("Ada", Invited, "Ben", 9).leave("Ben", 1);
        assert!(!counted.is_alone("Ada"));
    }
}
