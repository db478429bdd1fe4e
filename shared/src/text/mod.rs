//! Display texts in API responses, and the app's about agreements. They may change; clients branch on enums.

mod changes;
mod funding;
pub mod funding_words;
mod ledger;
pub mod movements;
mod names;
mod obligations;
mod operations;
pub mod reader;
mod review;
pub mod statements;
mod status;
mod terms;

pub use changes::{changes_since, payment_changes};
pub use funding::next_step_of_item;
pub use ledger::{
    declined_by, ledger_direction, ledger_product, ledger_row_type, ledger_rows, payment_rest, payment_title,
    payment_wait, payment_with_amount,
};
pub use names::{condition, counted};
pub use obligations::{NOTHING_DUE, obligation_state, obligation_wait, promise, promise_parties, promise_terms};
pub use operations::{OperationWords, act, changes_a_record, is_about_proof, operation, operations, sentence};
pub use review::{
    Named, effects, proposal_summary, requirement, size, stage_action, stage_action_done, stuck, time_left,
};
pub use status::{
    CurrentWait, PROPOSAL_WAIT, PaymentAct, PressingPayment, WaitContext, agreement_status, awaited, current_wait,
    draft_wait, wait_for_others, waiting_on, waits,
};
pub use terms::{INVESTMENT, PARTIES, agreement_amount, role, role_about, terms};
