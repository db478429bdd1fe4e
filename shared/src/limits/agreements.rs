//! Agreements: workspaces, participants, documents, conditions, answers and proposals.

use std::time::Duration;

use super::NAME_CHARS_MAX;

/// People of one workspace (contract, section 2).
pub const WORKSPACE_PEOPLE_MAX: usize = 500;
/// Agreements read at once to see which keeps a contact among the people: one batch of keys; most need one.
pub const REFERRING_AGREEMENTS_READ: usize = 10;
/// Participants of one agreement (contract, section 2).
pub const AGREEMENT_PARTICIPANTS_MAX: usize = 100;
/// Participants named by one agreement's conditions, counted per condition: each may leave a fact in the item (400 KB).
pub const NAMED_PARTICIPANTS_MAX: usize = 500;
/// Withdrawals of one participant's consent in an agreement. Giving it is never refused: nobody can keep them out.
pub const WITHDRAWALS_PER_PARTICIPANT_MAX: usize = 50;
/// Files that one participant uploads for one condition.
pub const UPLOADS_PER_CONDITION_MAX: usize = 10;
/// Bytes of files that one participant's link stores in all: three times what a condition takes. Reissuing begins anew.
pub const PARTICIPANT_FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Acts of one participant on the payments of an agreement.
pub const PAYMENT_ACTS_PER_PARTICIPANT_MAX: usize = 200;
/// Acts of one participant on an agreement's obligations: 25 that are due monthly, for three years.
pub const OBLIGATION_ACTS_PER_PARTICIPANT_MAX: usize = 1000;
/// Most characters of an answer of one line.
pub const ANSWER_LINE_CHARS_MAX: usize = NAME_CHARS_MAX;
/// Bytes of a participant's answers to one information request, as JSON. Sealed, they still fit into an item.
pub const ANSWERS_BYTES_MAX: usize = 200 * 1024;
/// Half a year in seconds, after which an unsaved draft of answers is dropped.
pub const ANSWER_DRAFT_LIFETIME_S: i64 = 180 * 24 * 3600;
/// Bytes of one submission in a response, with its questions: an item has up to 400 KB.
pub const SUBMISSION_BYTES_MAX: usize = 370_000;
/// Bytes of all answers sent in an agreement, one unpaged response below
/// [`RESPONSE_BYTES_MAX`](super::RESPONSE_BYTES_MAX) with returns' reasons.
pub const INFORMATION_BYTES_MAX: usize = 5_000_000;
/// Points of a drawn signature. A long one has some hundred.
pub const DRAWING_POINTS_MAX: usize = 12_000;
/// Characters of what a browser says about itself that a receipt keeps.
pub const BROWSER_CHARS_MAX: usize = 300;
/// Recorded signatures on paper of one participant of an agreement, rejected ones included.
pub const PAPER_SIGNATURES_PER_PARTICIPANT_MAX: usize = 50;
/// The first possible day of a paper signature. An earlier one is a slip, such as 1926 for 2026.
pub const PAPER_SIGNATURE_DAY_MIN: &str = "2000-01-01";
/// Paper signatures of one agreement that wait for a second member. The agreement's item names them.
pub const PAPER_SIGNATURES_PENDING_MAX: usize = 50;
/// Recorded verifications of one participant of an agreement.
pub const VERIFICATIONS_PER_PARTICIPANT_MAX: usize = 10;
/// Stages of one agreement (contract, section 2).
pub const AGREEMENT_STAGES_MAX: usize = 50;
/// Gates of one stage (contract, section 2).
pub const STAGE_GATES_MAX: usize = 20;
/// Documents of one agreement (contract, section 2).
pub const AGREEMENT_DOCUMENTS_MAX: usize = 50;
/// Signature blocks of one agreement (contract, section 2).
pub const AGREEMENT_BLOCKS_MAX: usize = 200;
/// Questions of one information request: people would not fill in a longer form.
pub const GATE_FIELDS_MAX: usize = 50;
/// Options of one question.
pub const FIELD_OPTIONS_MAX: usize = 50;
/// The longest countdown, in hours: ten years.
pub const COUNTDOWN_HOURS_MAX: u32 = 10 * 366 * 24;
/// Bytes of a stored agreement: DynamoDB's items end at 400 KB (contract, section 2).
pub const AGREEMENT_BYTES_MAX: usize = 300 * 1024;
/// Bytes of JSON of an agreement's snapshot in a proposal, before compression: the agreement, a hundred people's names
/// and addresses, and a thousand payments' amounts. It bounds decompression, and exceeds any snapshot.
pub const PROPOSED_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a payment's purpose in a proposal's snapshot: enough to recognize the payment.
pub const PROPOSED_PURPOSE_CHARS_MAX: usize = 60;
/// How long a proposal waits for a decision, in seconds: 72 hours (specification, "Limits").
pub const PROPOSAL_LIFETIME_S: i64 = 72 * 3600;
/// The time after a commit for adding people and showing them in lists. The clock does what takes longer.
pub const PEOPLE_JOIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Former names and addresses of a contact, newest first, that its record keeps, at most 3 KB each.
pub const FORMER_IDENTITIES_MAX: usize = 50;
/// Templates of one organization, which one page lists, and one item names.
pub const TEMPLATES_MAX: usize = 50;
/// Roles of a template. A draft begins in one transaction, in which a new contact that takes a role has three items.
pub const TEMPLATE_PARTIES_MAX: usize = 16;
/// Payments of a template, of which each has two items in that transaction.
pub const TEMPLATE_PAYMENTS_MAX: usize = 16;
/// Own contacts of one organization: the entities that it acts as.
pub const OWN_CONTACTS_MAX: usize = 50;
/// Contacts merged into one, whose record names each.
pub const MERGED_CONTACTS_MAX: usize = 20;
/// Contacts that one import adds: so many that a preview reads and checks them within one call.
pub const CONTACTS_IMPORTED_MAX: usize = 1000;
/// Contacts that one transaction creates: each is an item with its row and reference.
pub const CONTACTS_CREATED_AT_ONCE: usize = 25;
