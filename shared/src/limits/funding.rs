//! Trusts and funding.

/// Funding items of one workspace (contract, section 2). Each takes a place: the number is exact without a shared item.
pub const WORKSPACE_FUNDING_ITEMS_MAX: u16 = 1000;
/// Places in each range of a long funding schedule: so many items of most facts and notes fit in one response (1 MB).
pub const FUNDING_PLACES_IN_RANGE: u16 = 25;
/// The facts of one funding item, in bytes of JSON (contract, section 2: 4 KB).
pub const FACTS_BYTES_MAX: usize = 4 * 1024;
/// Contacts in each role of a trust or funding item. What papers items has
/// [`AGREEMENT_PARTICIPANTS_MAX`](super::AGREEMENT_PARTICIPANTS_MAX) in all.
pub const FUNDING_CONTACTS_MAX: usize = 20;
/// Funding items of one agreement (contract, section 2). They change with it in one transaction, each with its event.
pub const PAPERED_ITEMS_MAX: usize = 25;
/// Withdrawn claims of one funding item. Its record keeps them.
pub const CLAIMS_WITHDRAWN_MAX: usize = 10;
/// Proof of one funding item that waits for a member.
pub const PROOFS_WAITING_MAX: usize = 20;
/// Proof ever filed for one funding item. Its record keeps all of it, in some 600 bytes each, and its notes.
pub const PROOFS_PER_ITEM_MAX: usize = 100;
/// Bytes of a funding item up to which it takes proof, plus [`FUNDING_PROOF_DECISION_BYTES`] for each that waits.
pub const FUNDING_ITEM_BYTES_MAX: usize = 300 * 1024;
/// Bytes that the decision on proof adds to its item at most: a reason of 2,000 characters.
pub const FUNDING_PROOF_DECISION_BYTES: usize = 8 * 1024;
/// Bytes of JSON of all facts of a funding schedule. Beyond it the schedule omits them, so that the response stays
/// below [`RESPONSE_BYTES_MAX`](super::RESPONSE_BYTES_MAX): a thousand items have 1.5 KB each besides, and quotation
/// marks count twice.
pub const SCHEDULE_FACTS_BYTES_MAX: usize = 1_500_000;
/// Funding items that one transaction creates: each is an item with its pointer, reference and event.
pub const FUNDING_ITEMS_CREATED_AT_ONCE: usize = 15;
/// Funding items that one transaction creates and sorts: each has one more event.
pub const FUNDING_ITEMS_SORTED_AT_ONCE: usize = 12;
/// Agreements whose documents the page of a trust shows, the newest first.
pub const TRUST_AGREEMENTS_SHOWN: usize = 20;
/// People of a workspace that forms offer as owners, settlors and trustees.
pub const FUNDING_PEOPLE_SHOWN: usize = 100;
