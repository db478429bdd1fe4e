//! Invariants of the table, checked beside the model.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use shared::domain::time::Timestamp;
use tests::Org;
use tests::rows::{self, Snapshot};

use super::{History, on_record};

// Checked every few steps, since a scan of the table takes as long as a step.
impl History {
    pub async fn check(&mut self) {
        let now = Snapshot::of(self.ours.stack().table()).await;
        self.check_audit(&now);
        self.check_events(&now);
        self.check_changes(&now);
        self.check_due(&now);
        self.before = now;
    }

    /// Each call and clock act has exactly one audit row, which says who did what and how it ended.
    fn check_audit(&self, now: &Snapshot) {
        let (mut found, mut ticks) = (BTreeMap::new(), Vec::new());
        for row in now.audit(self.ours.id) {
            match row["operation"].as_str() {
                Some("expire_proposal" | "proceed_agreement") => {
                    ticks.push(format!("{} {:?}", on_record(row), rows::objects(row)));
                }
                _ => assert!(found.insert(rows::key(row).1, on_record(row)).is_none(), "one row for a call: {row}"),
            }
        }
        let missing: Vec<_> = self.calls.iter().filter(|(id, row)| found.get(*id) != Some(row)).collect();
        let found: Vec<_> = found.iter().filter(|(id, row)| self.calls.get(*id) != Some(row)).collect();
        assert_eq!(found, missing, "the audit rows, but for those that are as they have to be");
        assert_eq!(sorted(ticks), sorted(self.ticks.clone()), "the audit rows of the clock");
        assert_eq!(now.audit(self.theirs.id), self.before.audit(self.theirs.id));
    }

    fn check_events(&mut self, now: &Snapshot) {
        let events = now.events(self.ours.id);
        let found: Vec<(&str, &Value)> =
            events.iter().map(|event| (event["type"].as_str().expect("a type"), &event["data"])).collect();
        // Events of one tick may come in any order, which is fixed from now on.
        let settled = self.model.emitted.len() - std::mem::take(&mut self.model.emitted_unordered);
        let place = |(of_type, data): &(&str, Value)| found.iter().position(|one| *one == (*of_type, data));
        self.model.emitted[settled..].sort_by_key(place);
        let emitted: Vec<(&str, &Value)> = self.model.emitted.iter().map(|(of_type, data)| (*of_type, data)).collect();
        assert_eq!(found, emitted, "emitted events");
        let ids: BTreeSet<String> = events.iter().map(|event| event["id"].to_string()).collect();
        assert_eq!(ids.len(), events.len());
        assert!(self.before.events(self.ours.id).iter().all(|event| events.contains(event)), "emitted events stay");
    }

    fn check_changes(&mut self, now: &Snapshot) {
        let touched = std::mem::take(&mut self.model.touched);
        let changed = changes(&self.before, now, &self.ours);
        for key in &changed {
            assert!(touched.iter().any(|what| key.contains(what.as_str())), "{key} has changed");
        }
        // A claim may have come and gone since; `check_due` knows the existing ones.
        for what in touched.iter().filter(|what| !what.starts_with("PENDING#")) {
            assert!(changed.iter().any(|key| key.contains(what.as_str())), "{what} has not changed");
        }
        assert_eq!(changes(&self.before, now, &self.theirs), BTreeSet::new());
    }

    /// Exactly the ends of pending proposals, agreements' next moments, and workspaces whose people must be counted.
    pub fn check_due(&self, now: &Snapshot) {
        let (org, rows) = (self.ours.id, now.of_organization(self.ours.id));
        let due = now.due(org).into_iter().map(|(_, sort)| sort).filter(|sort| !sort.starts_with("PEOPLE#"));
        let (events, due): (Vec<String>, Vec<String>) = due.partition(|sort| sort.starts_with("EVENT#"));
        let emitted = now.events(org);
        let is_emitted = |key: &String| emitted.iter().any(|event| key.ends_with(event["id"].as_str().expect("an id")));
        assert!(events.iter().all(is_emitted), "{events:?}");
        let entry = |of: &str, at: Timestamp, id: &str| format!("{of}#{:015}#{org}#{id}", at.unix_ms());
        let proposals = self.model.open_proposals().map(|at| &self.model.proposals[at]);
        let agreements = self.model.agreements.iter().filter(|agreement| agreement.waits_for_time());
        let next = |id: &str| {
            let is_record = |row: &&&Value| row["pk"] == format!("ORG#{org}#AGREEMENT#{id}");
            next_moment(rows.iter().find(is_record).expect("a record"))
        };
        let expected = proposals
            .map(|proposal| entry("PROPOSAL", proposal.expires_at, &proposal.id))
            .chain(agreements.map(|agreement| entry("AGREEMENT", next(&agreement.id), &agreement.id)));
        assert_eq!(sorted(due), sorted(expected.collect()), "what is due");

        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let claims = rows.iter().map(|row| (text(row, "pk"), text(row, "proposal_id")));
        let claims = claims.filter(|(key, _)| key.contains("#PENDING#")).collect();
        let claim = |at| (format!("ORG#{org}#{}", self.model.claim(at)), self.model.proposals[at].id.clone());
        assert_eq!(
            sorted(claims),
            sorted(self.model.open_proposals().map(claim).collect()),
            "what waits for a decision"
        );
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

fn next_moment(record: &Value) -> Timestamp {
    let gates = record["stages"].as_array().expect("stages").iter().filter_map(|stage| stage["gates"].as_array());
    let moments = gates.flatten().map(|gate| &gate["state"]["due_at"]).chain([&record["expires_at"]]);
    moments.filter_map(|moment| moment.as_str()?.parse().ok()).min().expect("a moment")
}

fn changes(before: &Snapshot, after: &Snapshot, org: &Org) -> BTreeSet<String> {
    let by_key = |shot: &'_ Snapshot| -> BTreeMap<String, Value> {
        let rows = shot.of_organization(org.id).into_iter().map(|row| (rows::key(row), row.clone()));
        let rows = rows.filter(|((pk, _), _)| !pk.contains("#EVENT#"));
        rows.map(|((pk, sk), row)| (format!("{pk}/{sk}"), row)).collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let is_new_act = |key: &str| key.contains("/ACT#") && !before.contains_key(key);
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    changed.filter(|key| !is_new_act(key)).cloned().collect()
}
