//! The demo's four deals: contacts, agreements, documents and payments.

use shared::domain::movement::state::MovementState;
use shared::domain::movement::terms::Direction;

use crate::seed::demo::drafts::{self, DraftEdit};
use crate::seed::demo::money::{NewPayment, Parties};
use crate::seed::demo::participants::PartAct;

pub(crate) struct NewContact {
    pub(crate) display_name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) email: Option<&'static str>,
    /// The organization's number for the contact, with which the deals refer to it.
    pub(crate) external_reference: &'static str,
}

pub(crate) struct NewWorkspace {
    pub(crate) name: &'static str,
    /// By external reference.
    pub(crate) contacts: &'static [&'static str],
    pub(crate) agreements: &'static [NewAgreement],
}

pub(crate) struct NewAgreement {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    /// Each participant's external reference and roles.
    pub(crate) participants: &'static [(&'static str, &'static [&'static str])],
    /// Lines of the document's file, if it has one.
    pub(crate) document: Option<&'static [&'static str]>,
    /// Added before the draft is filled in.
    pub(crate) payments: &'static [NewPayment],
    pub(crate) edit: DraftEdit,
    /// Note of the proposal to publish, if proposed.
    pub(crate) proposal_note: Option<&'static str>,
    /// The confirming member's note, if confirmed.
    pub(crate) confirmation_note: Option<&'static str>,
    /// What participants have done since, each by index.
    pub(crate) acts: &'static [(usize, PartAct)],
}

const fn contact(
    display_name: &'static str,
    kind: &'static str,
    email: Option<&'static str>,
    external_reference: &'static str,
) -> NewContact {
    NewContact { display_name, kind, email, external_reference }
}

/// The contact that the organization acts as: money goes through its escrow account.
pub(crate) const OWN_CONTACT: &str = "CRM-1012";

pub(crate) const CONTACTS: &[NewContact] = &[
    contact("Northwind Robotics, Inc.", "corporation", Some("legal@northwind.example"), "CRM-1001"),
    contact("Priya Raman", "person", Some("priya@northwind.example"), "CRM-1002"),
    contact("Tomás Álvarez", "person", Some("tomas@northwind.example"), "CRM-1003"),
    contact("Juniper Seed Fund II, LP", "partnership", Some("deals@juniper.example"), "CRM-1004"),
    contact("Hana Weiß", "person", Some("hana.weiss@juniper.example"), "CRM-1005"),
    contact("Cobalt Angels LLC", "llc", Some("hello@cobalt.example"), "CRM-1006"),
    contact("The Ellery Household", "household", Some("ellery@mail.example"), "CRM-1007"),
    contact("Ellery Family Trust", "trust", None, "CRM-1008"),
    contact("Riverside Makers Foundation", "nonprofit", Some("grants@riverside.example"), "CRM-1009"),
    contact("Lumen Dental Group LLC", "llc", Some("accounts@lumen.example"), "CRM-1010"),
    contact("Alder Street Holdings, LP", "partnership", Some("closings@alderstreet.example"), "CRM-1011"),
    contact("Harbor & Pine LLP, escrow", "partnership", Some("escrow@harborpine.example"), OWN_CONTACT),
];

pub(crate) const WORKSPACES: &[NewWorkspace] = &[
    NewWorkspace {
        name: "Northwind Robotics: seed round",
        contacts: &["CRM-1001", "CRM-1002", "CRM-1003", "CRM-1004", "CRM-1005", "CRM-1006"],
        agreements: &[
            NewAgreement {
                name: "SAFE: Juniper Seed Fund II",
                kind: "safe",
                participants: &[ISSUER, ISSUERS_SIGNER, ("CRM-1004", &["investor"]), ("CRM-1005", &["signer"])],
                document: Some(SAFE),
                payments: &[],
                edit: |draft, file, now| drafts::safe(draft, 75_000_000, file, now),
                proposal_note: Some("Terms as agreed on Tuesday's call; legal has read them."),
                confirmation_note: None,
                acts: &[],
            },
            NewAgreement {
                name: "SAFE: Cobalt Angels",
                kind: "safe",
                participants: &[ISSUER, ISSUERS_SIGNER, ("CRM-1006", &["signer", "investor"])],
                document: Some(SAFE),
                payments: &[payment(
                    "Investment amount",
                    "SAFE-COBALT",
                    25_000_000,
                    Parties { direction: Direction::ThirdParty, payer: 2, payee: 0 },
                    30,
                    MovementState::Draft,
                )],
                edit: drafts::safe_of_newcomers,
                proposal_note: None,
                confirmation_note: None,
                acts: &[],
            },
            NewAgreement {
                name: "Advisory agreement: Tomás Álvarez",
                kind: "general",
                participants: &[("CRM-1003", &["signer", "contributor"])],
                document: None,
                payments: &[],
                edit: drafts::advisory,
                proposal_note: None,
                confirmation_note: None,
                acts: &[],
            },
        ],
    },
    NewWorkspace {
        name: "Ellery family trust funding",
        contacts: &["CRM-1007", "CRM-1008"],
        agreements: &[
            NewAgreement {
                name: "Engagement letter: Ellery household",
                kind: "general",
                participants: &[("CRM-1007", &["signer", "approver"]), ("CRM-1008", &["observer"])],
                document: Some(ENGAGEMENT),
                payments: &[],
                edit: drafts::engagement,
                proposal_note: Some("Our standard letter."),
                confirmation_note: Some("Checked against the conflict list."),
                acts: &[],
            },
            NewAgreement {
                name: "Notice of fees: Ellery household",
                kind: "general",
                participants: &[("CRM-1007", &["observer"])],
                document: None,
                payments: &[],
                edit: drafts::notice,
                proposal_note: Some("The new fees, with two weeks' notice."),
                confirmation_note: Some("Nobody has objected."),
                acts: &[],
            },
        ],
    },
    NewWorkspace {
        name: "Riverside Makers: program grant",
        contacts: &["CRM-1009", "CRM-1002", "CRM-1003"],
        agreements: &[
            NewAgreement {
                name: "Confidentiality agreement: Riverside Makers",
                kind: "general",
                participants: &[("CRM-1009", &["signer"]), ("CRM-1002", &["signer"])],
                document: Some(CONFIDENTIALITY),
                payments: &[],
                edit: |draft, file, now| drafts::two_signers(draft, "Confidentiality agreement", file, now),
                proposal_note: Some("Our standard text, both ways."),
                confirmation_note: Some("Read, and fine."),
                acts: &[(0, PartAct::Sign), (1, PartAct::Sign)],
            },
            NewAgreement {
                name: "Grant agreement: Riverside Makers",
                kind: "general",
                participants: &[("CRM-1009", &["signer"]), ("CRM-1002", &["signer"]), ("CRM-1003", &["approver"])],
                document: Some(GRANT),
                payments: &[],
                edit: drafts::grant,
                proposal_note: Some("As the board approved it in October."),
                confirmation_note: Some("The amounts match the board's resolution."),
                acts: &[(2, PartAct::Approve), (0, PartAct::Sign)],
            },
            NewAgreement {
                name: "Program questionnaire: Riverside Makers",
                kind: "general",
                participants: &[("CRM-1009", &["contributor"]), ("CRM-1003", &["contributor"])],
                document: None,
                payments: &[],
                edit: drafts::questionnaire,
                proposal_note: Some("What we ask everyone in a program."),
                confirmation_note: Some("The usual questions."),
                acts: &[(1, PartAct::Answer)],
            },
        ],
    },
    NewWorkspace {
        name: "Alder Street office: purchase",
        contacts: &["CRM-1010", "CRM-1011", OWN_CONTACT],
        agreements: &[
            NewAgreement {
                name: "Retainer: Lumen Dental Group",
                kind: "general",
                participants: &[("CRM-1010", &["funder"]), (OWN_CONTACT, &["receiver"])],
                document: None,
                payments: &[payment(
                    "Retainer",
                    "RET-2210",
                    500_000,
                    Parties { direction: Direction::Incoming, payer: 0, payee: 1 },
                    -6,
                    MovementState::Reconciled,
                )],
                edit: drafts::retainer,
                proposal_note: Some("Our usual retainer."),
                confirmation_note: Some("The conflict check is clear."),
                acts: &[],
            },
            NewAgreement {
                name: "Office purchase: 14 Alder Street",
                kind: "general",
                participants: &[
                    ("CRM-1010", &["funder", "signer"]),
                    ("CRM-1011", &["receiver", "signer"]),
                    (OWN_CONTACT, &["receiver"]),
                ],
                document: Some(PURCHASE),
                payments: PURCHASE_PAYMENTS,
                edit: drafts::purchase,
                proposal_note: Some("The closing is set for the end of the month."),
                confirmation_note: Some("The amounts match the settlement statement."),
                acts: &[(0, PartAct::Sign), (1, PartAct::Sign)],
            },
        ],
    },
];

const fn payment(
    purpose: &'static str,
    reference: &'static str,
    amount_minor: i64,
    parties: Parties,
    due_in_days: i32,
    state: MovementState,
) -> NewPayment {
    NewPayment { purpose, reference, amount_minor, parties, due_in_days, state }
}

const PURCHASE_PAYMENTS: &[NewPayment] = {
    use MovementState as State;
    const TO_ESCROW: Parties = Parties { direction: Direction::Incoming, payer: 0, payee: 2 };
    const TO_SELLER: Parties = Parties { direction: Direction::Outgoing, payer: 2, payee: 1 };
    const BETWEEN_THEM: Parties = Parties { direction: Direction::ThirdParty, payer: 0, payee: 1 };
    &[
        payment("Earnest money deposit", "ALDER-01", 12_500_000, TO_ESCROW, -20, State::Reconciled),
        payment("Balance of the purchase price", "ALDER-02", 237_500_000, TO_ESCROW, 5, State::Processing),
        payment("Closing costs of the buyer", "ALDER-03", 1_864_050, TO_ESCROW, 5, State::SenderReported),
        payment("Prorated property tax", "ALDER-04", 642_317, BETWEEN_THEM, 3, State::ReceiptPending),
        payment("Reserve for repairs", "ALDER-05", 4_000_000, TO_ESCROW, -2, State::Exception),
        payment("Purchase price to the seller", "ALDER-06", 244_000_000, TO_SELLER, 7, State::Authorized),
        payment("Furniture and fixtures", "ALDER-07", 1_850_000, BETWEEN_THEM, 7, State::InstructionsReady),
        payment("Holdback until the roof is fixed", "ALDER-08", 6_000_000, TO_SELLER, 90, State::Draft),
        payment("Utility deposits", "ALDER-09", 120_000, BETWEEN_THEM, -8, State::Returned),
        payment("Moving allowance", "ALDER-10", 350_000, BETWEEN_THEM, 2, State::Cancelled),
    ]
};

/// The company that issues the seed round's SAFEs, and the person who signs for it.
const ISSUER: (&str, &[&str]) = ("CRM-1001", &["issuer"]);
const ISSUERS_SIGNER: (&str, &[&str]) = ("CRM-1002", &["signer"]);

const SAFE: &[&str] = &[
    "Simple agreement for future equity",
    "",
    "The investor pays the investment amount to the company. In exchange the company gives the investor",
    "the right to shares of its capital stock, on the terms that are part of this agreement.",
    "",
    "This is a sample. It is no legal document.",
];
const ENGAGEMENT: &[&str] = &[
    "Engagement letter",
    "",
    "We advise the household on funding its family trust, and report to both spouses.",
    "",
    "This is a sample. It is no legal document.",
];
const PURCHASE: &[&str] = &[
    "Purchase agreement",
    "",
    "The buyer buys the office at 14 Alder Street. The price goes through the escrow account of Harbor & Pine.",
    "",
    "This is a sample. It is no legal document.",
];
const CONFIDENTIALITY: &[&str] = &[
    "Confidentiality agreement",
    "",
    "Each side keeps to itself what it learns from the other about the program, for three years.",
    "",
    "This is a sample. It is no legal document.",
];
const GRANT: &[&str] = &[
    "Grant agreement",
    "",
    "The foundation supports the robotics workshops of the coming school year, and gets a report in June.",
    "",
    "This is a sample. It is no legal document.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_payment_in_every_state_with_parties_that_are_there() {
        let agreements = || WORKSPACES.iter().flat_map(|workspace| workspace.agreements);
        let payments = || agreements().flat_map(|agreement| agreement.payments);
        for state in MovementState::ALL {
            assert!(payments().any(|payment| payment.state == state), "{state:?}");
        }
        for agreement in agreements() {
            let places = agreement.payments.iter().flat_map(|payment| [payment.parties.payer, payment.parties.payee]);
            assert!(places.into_iter().all(|place| place < agreement.participants.len()), "{}", agreement.name);
        }
    }

    #[test]
    fn every_participant_is_a_contact() {
        let is_known = |reference: &str| CONTACTS.iter().any(|contact| contact.external_reference == reference);
        for workspace in WORKSPACES {
            assert!(workspace.contacts.iter().all(|reference| is_known(reference)), "{}", workspace.name);
            for agreement in workspace.agreements {
                assert!(agreement.participants.iter().all(|(reference, _)| is_known(reference)), "{}", agreement.name);
            }
        }
    }
}
