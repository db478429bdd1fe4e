//! Explains why a member doesn't count as a second one, and who does.

use shared::domain::ids::MemberId;
use shared::domain::member::SecondMembers;
use shared::domain::member::second::{Tie, TieKind};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::text::reader::Shown as _;

/// Why a member is no second member for another, without details.
#[must_use]
pub fn one_self(did: &str) -> String {
    format!(
        "You don’t count as a second member for the person who {did}: one of you invited the other, or reset the other’s password or second factor, in the last 7 days."
    )
}

/// Why two members count as one, until when, and who can replace the first. The text addresses `by`.
#[must_use]
pub fn why_one_self(seconds: &SecondMembers, by: MemberId, first: MemberId, zone: &TimeZone) -> String {
    let why = match seconds.tie_between(by, first) {
        Some(tie) => tied(seconds, tie, by, first),
        None => format!(
            "Through invitations or resets, you and {} are connected to one member",
            name(seconds, first, "the member who did it")
        ),
    };
    let until = day(seconds.one_self_until(by, first), zone);
    format!("{why}, so until {until} you two count as one person. {}", who_can(seconds, first))
}

fn tied(seconds: &SecondMembers, tie: &Tie, by: MemberId, first: MemberId) -> String {
    let other = name(seconds, first, "the other member");
    let (who, whom, whose) = if tie.by == by {
        ("You".to_owned(), other.clone(), format!("{other}’s"))
    } else {
        (other, "you".to_owned(), "your".to_owned())
    };
    match tie.kind {
        TieKind::Invited => format!("{who} invited {whom}"),
        TieKind::PasswordReset => format!("{who} reset {whose} password"),
        TieKind::SecondFactorReset => format!("{who} reset {whose} second factor"),
    }
}

/// Who counts as a second member beside this one.
#[must_use]
pub fn who_can(seconds: &SecondMembers, first: MemberId) -> String {
    const NAMED_MAX: usize = 3;
    let names: Vec<&str> = seconds.seconds_of(first).map(|member| member.name.as_str()).collect();
    match names.as_slice() {
        [] => "No other member counts as a second member until then. A member whom your operator adds counts at once."
            .to_owned(),
        [one] => format!("{one} can do it."),
        many if many.len() > NAMED_MAX => format!("{} members can do it.", many.len()),
        many => format!("{} can do it.", many.join(" or ")),
    }
}

/// Why a member without a second one isn't alone: another member left a few days ago.
#[must_use]
pub fn why_not_alone(seconds: &SecondMembers, member: MemberId, zone: &TimeZone) -> Option<String> {
    let left = seconds.kept_by_departure(member)?;
    let until = day(left.at.plus_seconds(shared::limits::SECOND_SELF_S), zone);
    Some(format!(
        "A member left less than 7 days ago. From {until} on, you can do it alone. Until then, a second member has to; one whom your operator adds counts at once."
    ))
}

/// Why a member needs no second one.
#[must_use]
pub fn why_alone(seconds: &SecondMembers) -> &'static str {
    if seconds.members.len() < 2 {
        "You are the only member, so no one else can"
    } else {
        "All other members were invited in the last 7 days by you or through you, so no one else can"
    }
}

fn name(seconds: &SecondMembers, id: MemberId, otherwise: &str) -> String {
    let found = seconds.members.iter().find(|member| member.id == id);
    found.map_or_else(|| otherwise.to_owned(), |member| member.name.as_str().to_owned())
}

fn day(at: Timestamp, zone: &TimeZone) -> String {
    zone.day_of(at).shown()
}
