//! What the demo consists of: three deals with their contacts, agreements and documents.

use crate::seed::demo::drafts::{self, DraftEdit};
use crate::seed::demo::participants::PartAct;

/// A contact of the organization.
pub(crate) struct NewContact {
    pub(crate) display_name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) email: Option<&'static str>,
    /// The organization's own number for the contact, by which the deals name it.
    pub(crate) external_reference: &'static str,
}

/// A deal.
pub(crate) struct NewWorkspace {
    pub(crate) name: &'static str,
    /// The external references of its contacts.
    pub(crate) contacts: &'static [&'static str],
    pub(crate) agreements: &'static [NewAgreement],
}

/// An agreement of a deal, and how far it has come.
pub(crate) struct NewAgreement {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    /// The external reference and the roles of each participant.
    pub(crate) participants: &'static [(&'static str, &'static [&'static str])],
    /// The lines of its document, if that has a file.
    pub(crate) document: Option<&'static [&'static str]>,
    /// Fills in the draft.
    pub(crate) edit: DraftEdit,
    /// The note of the proposal to publish it, if there is one.
    pub(crate) proposal_note: Option<&'static str>,
    /// The note of the member who confirmed that proposal, if it is confirmed.
    pub(crate) confirmation_note: Option<&'static str>,
    /// What participants have done since, each by their place among the participants.
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
                edit: drafts::questionnaire,
                proposal_note: Some("What we ask everyone in a program."),
                confirmation_note: Some("The usual questions."),
                acts: &[(1, PartAct::Answer)],
            },
        ],
    },
];

/// The company that issues the SAFEs of the seed round, and the person who signs for it.
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
