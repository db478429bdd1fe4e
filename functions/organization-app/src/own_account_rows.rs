use pages::fields::Fields;
use pages::labels::{Badge, actor_label};
use pages::second_members::{who_can, why_one_self};
use shared::domain::ids::MemberId;
use shared::domain::member::{Counting, SecondMembers};
use shared::domain::organization::Organization;
use shared::domain::own_account::{Agreed, OwnAccount};
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::service::scope::Scope;
use shared::service::second_members;
use shared::text::reader::Shown as _;

pub(crate) struct OwnAccounts {
    pub rows: Vec<Row>,
    pub fields: Fields,
}

pub(crate) struct Row {
    pub id: String,
    pub ending: String,
    pub about: String,
    pub badge: Badge,
    pub can_agree: bool,
}

impl OwnAccounts {
    pub async fn load(scope: &Scope, organization: &Organization, by: MemberId, fields: Fields) -> Result<Self, Error> {
        let (mut rows, all) = (Vec::new(), &organization.own_accounts);
        let waits = all.iter().any(|own| own.agreed.is_none());
        let seconds = if waits { Some(second_members::load(scope).await?) } else { None };
        for own in all {
            rows.push(Row::new(own, seconds.as_ref(), by, &organization.time_zone));
        }
        Ok(Self { rows, fields: fields.within("own") })
    }
}

impl Row {
    fn new(own: &OwnAccount, seconds: Option<&SecondMembers>, by: MemberId, zone: &TimeZone) -> Self {
        let said = format!("Said by {} on {}.", actor_label(&own.said_by), zone.day_of(own.said_at).shown());
        let (then, can_agree) = match (&own.agreed, seconds) {
            (Some(Agreed { is_alone: true, .. }), _) => ("No other member counted as a second one.".to_owned(), false),
            (Some(Agreed { by, .. }), _) => (format!("{} agreed.", actor_label(by)), false),
            (None, Some(seconds)) => waiting(own, seconds, by, zone),
            (None, None) => (String::new(), false),
        };
        let about = format!("{said} {then}");
        let badge = match own.agreed {
            Some(_) => Badge { text: "Own", class: "green" },
            None => Badge { text: "Waits for a second member", class: "amber" },
        };
        Self { id: own.id.to_string(), ending: own.ending.clone(), about, badge, can_agree }
    }
}

fn waiting(own: &OwnAccount, seconds: &SecondMembers, by: MemberId, zone: &TimeZone) -> (String, bool) {
    let first = own.said_by_member();
    match (seconds.counting(by, first), first) {
        (Counting::Confirmed, Some(first)) if first == by => (who_can(seconds, by), false),
        (Counting::OneSelf, Some(first)) => (why_one_self(seconds, by, first, zone), false),
        _ => (String::new(), true),
    }
}
