//! The use cases. Each exists once, for all entrances: operations, forms, the clock, operators, the demo.
//!
//! A use case takes the proof of the right to it, loads what the rules need, calls the pure rule, and returns a plan
//! ([`scope::Plan`]), which the entrance commits. It gives `Error::NotFound` for what the organization lacks, and to
//! participants `Error::Unauthenticated` once their link was reissued. A form's copy acts once (`web::SubmittedForm`).
//!
//! - Decision: a repeated create with an `external_reference` reads the reference first. That costs one more read on
//!   creates with a reference, but saves a failed transaction (10 units) on every repeat of a synchronization.
//! - Decision: a decision's form carries a fingerprint of all that its page showed: the versions of the agreement and
//!   its participants' contacts, and the workspace's name and activation. The transaction checks as many contacts as
//!   fit (about 85); strongly consistent reads just before it cover the rest: later renames don't matter.
//! - Decision: each attempt at a decision has its own time, and only the audit row keeps that of the call. A race that
//!   takes seconds doesn't carry a decision past its end, and every attempt finds the audit row of the call.
//! - Decision: declining doesn't require the agreement to be as shown: it changes only the proposal.
//! - Decision: members can't remove themselves. Each act of a member, signing in included, checks in its transaction
//!   that they still are a member, and an admin's that they still are one (an `Admin`, or a `SubmittedForm<Admin>`).
//!   The admin who removes someone stays, so one is always left, and a person who was removed finishes nothing.

pub mod agreements;
pub mod archive;
pub mod audit;
pub mod bundle;
pub mod call_record;
pub mod contact_import;
pub mod contacts;
pub mod deliveries;
pub mod drafts;
pub mod due;
pub mod endings;
pub mod endpoints;
pub mod file_reviews;
pub mod form_copies;
pub mod funding_confirmations;
pub mod funding_import;
pub mod funding_items;
pub mod funding_review;
pub mod funding_shown;
pub mod home;
pub mod identity;
pub mod information;
pub mod ledger;
pub mod loaded_agreement;
pub mod members;
pub mod movement_review;
pub mod movements;
pub mod obligations;
pub mod organizations;
pub mod own_accounts;
pub mod own_movements;
pub mod own_templates;
pub mod paper_signatures;
pub mod papering;
pub mod participants;
pub mod parties;
pub mod payments;
pub mod precondition;
pub mod proposals;
pub mod scope;
pub mod search;
pub mod second_members;
pub mod shown;
pub mod statements;
pub mod submitter;
pub mod suspension;
pub mod system;
pub mod tokens;
pub mod trusts;
pub mod verifications;
pub mod workspaces;

pub use scope::{Plan, Scope, Writer};
