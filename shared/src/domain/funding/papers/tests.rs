use super::super::facts::AssetKind;
use super::super::fixtures::{contacts, everything, item, noon, ready_item, trust};
use super::*;
use crate::domain::agreement::blockers::{Blocker, DraftContext, blockers};
use crate::domain::funding::names::NamesDigest;

const PAPERED: [Verb; 5] = [Verb::Deed, Verb::Retitle, Verb::ChangeBeneficiary, Verb::Transfer, Verb::Assign];

fn content() -> DocumentContent {
    DocumentContent { sha256: "0".repeat(64), size_bytes: 9 }
}

#[test]
fn each_verb_has_a_template_that_asks_for_counsel_and_every_field_is_known() {
    let trust = trust();
    let contacts = contacts(&trust);
    let parties = Parties { trust: &trust, contacts: &contacts };
    for verb in PAPERED {
        let item = ready_item(&trust, verb);
        let paper = paper(&item, parties, Day::parse("2026-03-14").unwrap()).unwrap();
        let text: Vec<&str> = paper
            .blocks
            .iter()
            .filter_map(|block| if let Block::Paragraph(text) = block { Some(text.as_str()) } else { None })
            .collect();
        let text = text.join("\n");
        assert!(text.contains("Counsel must review"), "{verb}");
        assert!(!text.contains("{{") && !text.contains('…') && text.contains("14 Mar 2026"), "{verb}: {text}");
        assert!(text.contains("The Ellery Family Trust") && text.contains("Ada"), "{verb}: {text}");
        let has = |is: fn(&Block) -> bool| paper.blocks.iter().filter(|block| is(block)).count();
        assert_eq!(has(|block| matches!(block, Block::Facts(_))), 1, "{verb}");
        assert_eq!(has(|block| matches!(block, Block::Signatures(all) if !all.is_empty())), 1, "{verb}");
    }
    assert_eq!(title(Verb::LeaveOut), None);
    assert_eq!(title(Verb::Deed), Some("Deed cover sheet"));
}

fn written(kind: AssetKind, verb: Verb, is_one: bool) -> Vec<String> {
    let mut trust = trust();
    let mut people = contacts(&trust);
    if !is_one {
        let others = trust_of_others();
        people.extend(others.1);
        trust.trustee_contact_ids.extend(others.0.trustee_contact_ids);
        trust.settlor_contact_ids.extend(others.0.settlor_contact_ids);
    }
    let parties = Parties { trust: &trust, contacts: &people };
    let item = item(&trust, kind).sort(everything(&trust, kind, verb), noon()).unwrap().into_item();
    let paper = paper(&item, parties, Day::parse("2026-03-14").unwrap()).unwrap();
    let signers: Vec<Vec<String>> = paper
        .blocks
        .iter()
        .filter_map(|block| if let Block::Signatures(names) = block { Some(names.clone()) } else { None })
        .collect();
    let names: &[&str] = if is_one { &["Ben", "Ada"] } else { &["Ben", "Saul", "Ada", "Ruth"] };
    assert_eq!(signers, [names]);
    let paragraphs = paper.blocks.into_iter().filter_map(|block| match block {
        Block::Paragraph(text) => Some(text),
        _ => None,
    });
    paragraphs.collect()
}

fn trust_of_others() -> (Trust, Vec<Contact>) {
    let trust = trust();
    let mut people = contacts(&trust);
    for (contact, name) in people.iter_mut().zip(["Ruth", "Saul"]) {
        contact.display_name = crate::domain::contact::DisplayName::parse(name).unwrap();
    }
    (trust, people)
}

const DATED: &str = "Date of this draft: 14 Mar 2026";

type Case = ((AssetKind, Verb, &'static str), [[&'static str; 2]; 2]);

const CASES: [Case; 4] = [
    (
        (AssetKind::PersonalProperty, Verb::Assign, "assignment"),
        [
            [
                "Ben (the \"assignor\") assigns to Ada, as trustee of The Ellery Family Trust, all right, title and \
                 interest in the asset described below.",
                "The assignor will sign any further document that the law requires to complete the assignment. For the \
                 purposes of the trust's funding, the assignment counts as complete only once the trustee has \
                 confirmed it in writing.",
            ],
            [
                "Ben and Saul (the \"assignors\") assign to Ada and Ruth, as trustees of The Ellery Family Trust, all \
                 right, title and interest in the asset described below.",
                "The assignors will sign any further document that the law requires to complete the assignment. For \
                 the purposes of the trust's funding, the assignment counts as complete only once the trustees have \
                 confirmed it in writing.",
            ],
        ],
    ),
    (
        (AssetKind::Vehicle, Verb::Retitle, "request"),
        [
            [
                "Ben asks you to change the title of the asset described below to the following: Ada, as trustee of The \
                 Ellery Family Trust.",
                "Please confirm the new title to the trustee in writing. A certification of trust is available on \
                 request.",
            ],
            [
                "Ben and Saul ask you to change the title of the asset described below to the following: Ada and Ruth, \
                 as trustees of The Ellery Family Trust.",
                "Please confirm the new title to the trustees in writing. A certification of trust is available on \
                 request.",
            ],
        ],
    ),
    (
        (AssetKind::LifeInsurance, Verb::ChangeBeneficiary, "request"),
        [
            [
                "Ben asks you to record the following beneficiary of the asset described below: Ada, as trustee of The \
                 Ellery Family Trust.",
                "Please confirm to the trustee in writing which beneficiary you have on record. If your own form is \
                 required, please send it to the trustee.",
            ],
            [
                "Ben and Saul ask you to record the following beneficiary of the asset described below: Ada and Ruth, \
                 as trustees of The Ellery Family Trust.",
                "Please confirm to the trustees in writing which beneficiary you have on record. If your own form is \
                 required, please send it to the trustees.",
            ],
        ],
    ),
    (
        (AssetKind::BankAccount, Verb::Transfer, "request"),
        [
            [
                "Ben asks you to transfer the asset described below to Ada, as trustee of The Ellery Family Trust. \
                 Account numbers and instructions will follow on your own form. They are not part of this document.",
                "Please confirm the transfer to the trustee in writing once it is complete.",
            ],
            [
                "Ben and Saul ask you to transfer the asset described below to Ada and Ruth, as trustees of The Ellery \
                 Family Trust. Account numbers and instructions will follow on your own form. They are not part of \
                 this document.",
                "Please confirm the transfer to the trustees in writing once it is complete.",
            ],
        ],
    ),
];

#[test]
fn each_document_is_written_for_one_person_and_for_several() {
    for ((kind, verb, what), texts) in CASES {
        for (is_one, [before, behind]) in [true, false].into_iter().zip(texts) {
            let mut written = written(kind, verb, is_one);
            let draft = format!("DRAFT. Counsel must review this {what} before anyone signs it.");
            assert_eq!(written.remove(0), draft);
            if verb != Verb::Assign {
                assert!(written.remove(0).starts_with("To "), "{verb}");
            }
            assert_eq!(written, [before, behind, DATED], "{kind} {verb}");
        }
    }
}

/// Counsel prepares the deed; this draft only describes it.
#[test]
fn the_cover_sheet_of_a_deed_conveys_nothing() {
    for (is_one, people) in [
        (true, ["Grantor: Ben", "Grantee: Ada, as trustee of The Ellery Family Trust"]),
        (false, ["Grantors: Ben and Saul", "Grantees: Ada and Ruth, as trustees of The Ellery Family Trust"]),
    ] {
        let (grantor, grantee, trustee) =
            if is_one { ("grantor", "grantee", "trustee") } else { ("grantors", "grantees", "trustees") };
        let expected = [
            "DRAFT. Counsel must review this cover sheet, and prepare the deed itself, before anyone signs.".to_owned(),
            "This cover sheet describes a deed that counsel will prepare. It is not the deed, and it transfers nothing."
                .to_owned(),
            people[0].to_owned(),
            people[1].to_owned(),
            format!(
                "The deed will transfer the property described below from the {grantor} to the {grantee}. It is to be \
                 recorded by the recorder of deeds of Some words, Some words."
            ),
            format!(
                "Please return the recorded deed to the {trustee}: the recording stamp is the proof of the transfer. The \
                 signatures below confirm this description and nothing else."
            ),
            DATED.to_owned(),
        ];
        assert_eq!(written(AssetKind::RealEstate, Verb::Deed, is_one), expected);
    }
}

#[test]
fn each_document_goes_to_whoever_keeps_the_record() {
    let other = "the institution or office that keeps the record of the asset";
    for (kind, verb, keeper) in [
        (AssetKind::RealEstate, Verb::ChangeBeneficiary, "the recorder of deeds of Some words, Some words"),
        (AssetKind::BankAccount, Verb::Retitle, "Some words"),
        (AssetKind::BrokerageAccount, Verb::Transfer, "Some words"),
        (AssetKind::RetirementAccount, Verb::ChangeBeneficiary, "Some words, custodian of the plan"),
        (AssetKind::Annuity, Verb::ChangeBeneficiary, "Some words"),
        (AssetKind::Vehicle, Verb::Retitle, "the titling agency of Some words"),
        (AssetKind::Vehicle, Verb::ChangeBeneficiary, "the titling agency of Some words"),
        (AssetKind::DigitalAsset, Verb::Transfer, "Some words"),
        (AssetKind::Other, Verb::Retitle, other),
    ] {
        assert_eq!(written(kind, verb, true)[1], format!("To {keeper}"), "{kind} {verb}");
    }
    for (kind, keeper) in [
        (AssetKind::LifeInsurance, "Some words"),
        (AssetKind::BusinessInterest, "Some words or its transfer agent"),
        (AssetKind::PromissoryNote, "Some words"),
        (AssetKind::IntellectualProperty, "the office where the right is registered"),
        (AssetKind::Other, other),
    ] {
        let last = written(kind, Verb::Assign, true)[2].clone();
        assert!(last.contains(&format!("that {keeper} or the law requires")), "{kind}: {last}");
        assert!(last.contains(&format!("once {keeper} has confirmed it in writing.")), "{kind}: {last}");
    }
    for kind in AssetKind::ALL {
        for verb in kind.verbs().filter(|verb| *verb != Verb::LeaveOut) {
            let text = written(kind, verb, false).join("\n");
            assert!(!text.contains('…') && !text.contains("{{"), "{kind} {verb}: {text}");
        }
    }
}

#[test]
fn amounts_are_written_out() {
    let (trust, kind) = (trust(), AssetKind::BankAccount);
    let item = item(&trust, kind).sort(everything(&trust, kind, Verb::Transfer), noon()).unwrap().into_item();
    let people = contacts(&trust);
    let paper = paper(&item, Parties { trust: &trust, contacts: &people }, Day::parse("2026-03-14").unwrap()).unwrap();
    let written = format!("{:?}", paper.blocks);
    assert!(written.contains("(\"Amount\", \"$1,250.00 USD\")"), "{written}");
    assert!(!written.contains("minor") && !written.contains("\"Currency\""), "{written}");
}

#[test]
fn a_name_with_braces_is_no_field_and_one_with_a_point_ends_a_sentence() {
    let fields =
        |all: &[(&'static str, &str)]| Fields(all.iter().map(|(name, value)| (*name, (*value).to_owned())).collect());
    assert_eq!(fields(&[("a", "{{b}}"), ("b", "x")]).fill("{{a}} and {{b}}"), "{{b}} and x");
    assert_eq!(fields(&[]).fill("open {{a"), "open a");
    assert_eq!(
        fields(&[("a", "Acme, Inc.")]).fill("To {{a}}. Then {{a}}, or {{a}}."),
        "To Acme, Inc. Then Acme, Inc., or Acme, Inc."
    );
}

#[test]
fn an_item_has_changed_once_an_owner_or_a_trustee_has_another_name() {
    let trust = trust();
    let people = contacts(&trust);
    let item = ready_item(&trust, Verb::Assign);
    let names = |people: &[Contact]| NamesDigest::of(item.owner_contact_ids(), &trust.trustee_contact_ids, people);
    let id = AgreementId::new();
    let papering =
        super::super::item::Papering { agreement_id: id, papered_at: noon(), trust_version: 3, names: names(&people) };
    let papered = item.paper(papering).unwrap().into_item();
    let has_changed = |people: &[Contact], version| {
        papered.has_changed_since_papered(id, Some((trust.trustee_contact_ids.as_slice(), version)), people)
    };
    assert!(!has_changed(&people, 3));
    assert!(has_changed(&people, 4) && papered.has_changed_since_papered(id, None, &people));
    assert!(papered.has_changed_since_papered(
        AgreementId::new(),
        Some((trust.trustee_contact_ids.as_slice(), 3)),
        &people
    ));
    for at in 0..people.len() {
        let mut other = people.clone();
        other[at].email = None;
        assert!(!has_changed(&other, 3), "an address is in no document");
        other[at].display_name = crate::domain::contact::DisplayName::parse("Ada Maria").unwrap();
        assert!(has_changed(&other, 3));
    }
}

#[test]
fn the_draft_lacks_only_the_activation() {
    let trust = trust();
    let items: Vec<FundingItem> = PAPERED.iter().map(|verb| ready_item(&trust, *verb)).collect();
    let papered: Vec<_> = items.iter().map(|item| (item, content())).collect();
    let name = default_name(&trust).unwrap();
    let draft = draft(AgreementId::new(), name, &trust, &papered, Actor::system(), noon()).unwrap();
    let contacts = contacts(&trust);
    let context = DraftContext {
        workspace_activated: false,
        contacts: &contacts,
        payments: &[],
        changed_items: &[],
        now: noon(),
    };
    assert_eq!(blockers(&draft, &context), [Blocker::WorkspaceNotActivated]);
    assert_eq!(draft.documents.len(), PAPERED.len());
    assert_eq!(draft.documents[0].name.as_str(), "Deed cover sheet: Other asset");
    assert_eq!(draft.funding_item_ids, items.iter().map(FundingItem::id).collect::<Vec<_>>());
    let names: Vec<&str> = draft.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["Signing", "Confirmation"]);
    let ada = draft.participants.iter().find(|one| one.contact_id == trust.trustee_contact_ids[0]).unwrap();
    assert!(ada.roles.contains(&ParticipantRole::Trustee) && ada.roles.contains(&ParticipantRole::Signer));
    let mute: Vec<Contact> = contacts.iter().map(|contact| Contact { email: None, ..contact.clone() }).collect();
    let without = DraftContext { contacts: &mute, ..context };
    let found = blockers(&draft, &without);
    assert!(found.iter().any(|blocker| matches!(blocker, Blocker::ParticipantEmailMissing { .. })), "{found:?}");
}
