//! Prepares acts' forms on their pages, and sends them, one by one or at once.

use serde_json::Value;
use shared::domain::agreement::gate::GateRule;
use shared::domain::ids::ParticipantId;
use tests::app::Page;
use tests::attending::{Attendee, hidden};
use tests::clockwork::Clockwork;
use tests::drafts::{self, Coming};
use tests::payments::READ_OUT;
use tests::pdf::pdf;

use super::History;
use super::model::{Act, Step};

#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Member,
    Participant(usize),
}

pub(super) enum Form {
    Filled {
        by: By,
        path: String,
        fields: Vec<(String, String)>,
        file: Option<String>,
    },
    Tick(Clockwork),
    /// The form's page doesn't exist, which is as good as a refusal.
    Absent,
}

fn filled(by: By, page: &Page, path: String, typed: &[(&str, &str)]) -> Form {
    let is_typed = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
    let own = hidden(page, &path).into_iter().filter(|(name, _)| !is_typed(name));
    let typed = typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Form::Filled { by, path, fields: own.chain(typed).collect(), file: None }
}

impl Form {
    fn with_file(self, text: &str) -> Self {
        match self {
            Self::Filled { by, path, fields, .. } => Self::Filled { by, path, fields, file: Some(text.to_owned()) },
            other => other,
        }
    }
}

impl History {
    pub async fn send(&self, form: &Form) -> (bool, String) {
        let (by, path, fields, file) = match form {
            Form::Filled { by, path, fields, file } => (by, path, fields, file),
            Form::Tick(clock) => {
                let report = clock.tick().await;
                return (report.failed == 0, format!("{report:?}"));
            }
            Form::Absent => return (false, "no page".to_owned()),
        };
        let browser = match by {
            By::Member => &self.live.member,
            By::Participant(who) => &self.people[*who].browser,
        };
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let page = match file {
            Some(text) => browser.upload(path, &fields, ("file", "a.pdf", &pdf(text, ""))).await,
            None => browser.post(path, &fields).await,
        };
        assert!(page.status < 500, "{path}: {}", page.body);
        (page.status == 303 && !page.location().contains("sign-in"), format!("{} {}", page.status, page.title()))
    }

    pub async fn prepare(&mut self, act: &Act) -> Form {
        self.forms += 1;
        // A unique text, so that no form repeats an earlier one.
        let text = format!("Text {}", self.forms);
        match act {
            Act::Cancel if self.cancellation.is_none() => self.cancellation = self.propose_cancellation().await,
            Act::TimePasses => {
                drafts::make_due(&self.live.org, &self.live.agreement.id().to_string(), Coming::Countdown).await;
            }
            _ => {}
        }
        match act {
            Act::Pay(step) => self.payment_form(*step, &text),
            Act::SignOnPaper(_)
            | Act::Accept(..)
            | Act::Return(..)
            | Act::Reopen(_)
            | Act::Verify(_)
            | Act::Reissue(_)
            | Act::Cancel
            | Act::TimePasses => self.members_form(act, &text).await,
            _ => self.participants_form(act, &text).await,
        }
    }

    async fn propose_cancellation(&self) -> Option<String> {
        let body = serde_json::json!({"action": "cancel_agreement", "agreement_id": self.live.agreement.id()});
        let answer = self.live.org.post("/api/v1/proposals", &body).send().await.json();
        answer["id"].as_str().map(|id| format!("/app/proposals/{id}"))
    }

    async fn participants_form(&self, act: &Act, text: &str) -> Form {
        let document = format!("/documents/{}", self.live.agreement.documents[0].id);
        let (who, page, rest) = match act {
            Act::Sign(who) => (*who, document.clone(), format!("{document}/sign")),
            Act::DeclineDocument(who) => (*who, document.clone(), format!("{document}/decline")),
            Act::Consent(who) => (*who, String::new(), "/consent".to_owned()),
            Act::Withdraw(who) => (*who, String::new(), "/consent/withdraw".to_owned()),
            Act::Approve(gate, who)
            | Act::Upload(gate, who)
            | Act::Save(gate, who, _)
            | Act::Send(gate, who, _)
            | Act::Decline(gate, who) => {
                let end = match act {
                    Act::Approve(..) => "approve",
                    Act::Upload(..) => "upload",
                    Act::Save(..) => "answers/save",
                    Act::Send(..) => "answers/send",
                    _ => "decline",
                };
                (*who, format!("/conditions/{gate}"), format!("/conditions/{gate}/{end}"))
            }
            other => panic!("no participant does {other:?}"),
        };
        let person: &Attendee = &self.people[who];
        let page = person.get(&page).await;
        let field = match act {
            Act::Save(gate, ..) | Act::Send(gate, ..) => match &self.terms.gate(*gate).rule {
                GateRule::InformationRequest { fields, .. } => format!("answer.{}", fields[0].id),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let typed = match act {
            Act::Sign(_) => vec![("signature", "A name")],
            Act::Save(_, _, answer) | Act::Send(_, _, answer) => vec![(field.as_str(), answer.as_str())],
            Act::Decline(..) | Act::DeclineDocument(_) => vec![("reason", text)],
            _ => Vec::new(),
        };
        let token = (!page.says("name=\"form_token\"")).then_some(("form_token", self.tokens[who].as_str()));
        let typed: Vec<_> = token.into_iter().chain(typed).collect();
        let form = filled(By::Participant(who), &page, person.at(&rest), &typed);
        if matches!(act, Act::Upload(..)) { form.with_file(text) } else { form }
    }

    async fn members_form(&self, act: &Act, text: &str) -> Form {
        let (member, at) = (&self.live.member, self.live.path());
        let person = |who: &usize| -> ParticipantId { self.people[*who].participant };
        match act {
            Act::SignOnPaper(who) => {
                let path = format!("{at}/participants/{}/paper/{}", person(who), self.live.agreement.documents[0].id);
                let page = member.get(&path).await;
                if page.status != 200 {
                    return Form::Absent;
                }
                let typed = [("day", "20/11/2026"), ("how", "By post"), ("note", "")];
                filled(By::Member, &page, path, &typed).with_file(text)
            }
            Act::Accept(gate, who) | Act::Return(gate, who) => {
                let answers = format!("{at}/conditions/{gate}/answers/{}", person(who));
                let page = member.get(&answers).await;
                if page.status == 404 {
                    return Form::Absent;
                }
                let submission =
                    if page.says("name=\"submission\"") { page.hidden("submission") } else { String::new() };
                let end = if matches!(act, Act::Accept(..)) { "accept" } else { "return" };
                let typed = [("submission", submission.as_str()), ("reason", text)];
                filled(By::Member, &page, format!("{answers}/{end}"), &typed)
            }
            Act::Reopen(gate) => {
                let action = format!("{at}/conditions/{gate}/reopen");
                let page = member.get(&at).await;
                if page.says(&action) { filled(By::Member, &page, action, &[]) } else { Form::Absent }
            }
            Act::Verify(who) => {
                let path = format!("{at}/participants/{}/verification", person(who));
                let page = member.get("/app").await;
                filled(By::Member, &page, path, &[("method", "Passport"), ("day", "20/11/2026")])
            }
            Act::Reissue(who) => {
                let access = format!("{at}/participants/{}/access", person(who));
                let page = member.get(&access).await;
                filled(By::Member, &page, format!("{access}/reissue"), &[])
            }
            Act::Cancel => {
                let Some(review) = &self.cancellation else { return Form::Absent };
                let page = member.get(review).await;
                if !page.says("name=\"version\"") {
                    return Form::Absent;
                }
                let (token, version) = (page.hidden("form_token"), page.hidden("version"));
                let typed = [("form_token", &*token), ("version", &version), ("note", ""), ("decision", "confirm")];
                filled(By::Member, &page, review.clone(), &typed)
            }
            Act::TimePasses => Form::Tick(Clockwork::of(&self.live.org)),
            other => panic!("no member does {other:?}"),
        }
    }

    fn payment_form(&self, step: Step, text: &str) -> Form {
        let path = |rest: &str| format!("/app/money/movements/{}{rest}", self.payment);
        let evidence = |act: &str| match &self.evidence {
            Some(id) => path(&format!("/evidence/{id}/{act}")),
            None => path("/evidence/none"),
        };
        let revision = if self.model.payment.is_entered { "1" } else { "0" };
        let account = [
            ("kind", "aba"),
            ("holder", "Northwind"),
            ("bank", "First Bank"),
            ("code", "021000021"),
            ("number", "000123456789"),
            ("revision", revision),
        ];
        let numbers = [("number", "000123456789"), ("code", "021000021"), ("revision", revision)];
        let verified = [&READ_OUT[..], &numbers].concat();
        let proof = [
            ("copy", self.proof.name.as_str()),
            ("source", "receiving_bank_statement"),
            ("amount", "250,000.00"),
            ("currency", "USD"),
            ("value_date", "16/3/2026"),
            ("bank_reference", ""),
        ];
        let (path, typed): (String, &[(&str, &str)]) = match step {
            Step::Authorize => (path("/authorize"), &[]),
            Step::Enter => (path("/instructions"), &account),
            Step::Verify => (path("/instructions/verify"), &verified),
            Step::Release => (path("/instructions/release"), &[("revision", revision)]),
            Step::Report => (path("/claim"), &[("sent_on", "14/3/2026")]),
            Step::File => (path("/evidence"), &proof),
            Step::Accept => (evidence("accept"), &[("received", "0")]),
            Step::Flag => (path("/exception"), &[("reason", "suspected_fraud"), ("note", text)]),
            Step::Resolve => (path("/resolve"), &[("resolution", "await_proof")]),
        };
        let token = self.members_token.as_str();
        let typed = typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let fields = std::iter::once(("form_token".to_owned(), token.to_owned())).chain(typed).collect();
        let form = Form::Filled { by: By::Member, path, fields, file: None };
        if step == Step::File { form.with_file(text) } else { form }
    }

    pub async fn observed(&self) -> (Value, Value) {
        let (org, id) = (&self.live.org, self.live.agreement.id());
        let read = self.live.read().await;
        let stages = read["stages"].as_array().expect("stages");
        let gates = stages.iter().flat_map(|stage| stage["gates"].as_array().expect("gates"));
        let information = org.get(format!("/api/v1/agreements/{id}/information")).send().await.ok(200);
        let sent = information.as_array().expect("an array").iter().map(|entry| {
            let value = &entry["answers"][0]["value"];
            serde_json::json!([entry["gate_id"], entry["participant_id"], value, entry["state"]])
        });
        let payment = org.get(format!("/api/v1/movements/{}", self.payment)).send().await.ok(200);
        let obligations = org.get("/api/v1/obligations").query("agreement_id", id).query("limit", 1);
        let obligations = obligations.send().await.ok(200);
        let events = org.events().await;
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        let told = [
            "signature.completed",
            "agreement.completed",
            "movement.sender_reported",
            "movement.reconciled",
            "movement.exception",
        ];
        let told: serde_json::Map<String, Value> =
            told.into_iter().map(|kind| (kind.to_owned(), count(kind).into())).collect();
        let shown = serde_json::json!({
            "lifecycle": read["lifecycle"],
            "current steps": stages.iter().filter(|stage| stage["state"] == "current").count(),
            "conditions": gates.map(|gate| gate["state"].clone()).collect::<Vec<_>>(),
            "document": read["documents"][0]["state"],
            "information": sent.collect::<Vec<_>>(),
            "payment": payment["state"],
            "obligations": obligations["pagination"]["total"],
            "events": told,
        });
        (shown, read)
    }
}
