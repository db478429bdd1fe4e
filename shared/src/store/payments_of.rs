//! What the rows of payments say for their agreements: where each is, and its amount.

use std::collections::{BTreeSet, HashMap};

use super::keys::Rows;
use super::movement_row::MovementRow;
use super::{OrgStore, StoreError};
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, MovementId};
use crate::domain::ledger::LedgerPayment;
use crate::domain::movement::state::MovementState;

/// What the rows of payments say for their agreements.
#[derive(Debug, Default)]
pub struct PaymentsOf {
    states: HashMap<MovementId, MovementState>,
    amounts: HashMap<AgreementId, Vec<LedgerPayment>>,
    /// When the first payment is due that is yet to be made.
    due: HashMap<AgreementId, Day>,
}

impl PaymentsOf {
    pub(super) fn add(&mut self, row: &MovementRow) {
        self.states.insert(row.id, row.state);
        if let Some(payment) = row.payment() {
            self.amounts.entry(row.agreement_id).or_default().push(payment);
        }
        if let Some(day) = row.due_on.filter(|_| !row.state.is_done()) {
            let first = self.due.entry(row.agreement_id).or_insert(day);
            *first = day.min(*first);
        }
    }

    /// Where each payment is.
    #[must_use]
    pub fn states(&self) -> &HashMap<MovementId, MovementState> {
        &self.states
    }

    /// When the first of an agreement's payments is due that is yet to be made.
    #[must_use]
    pub fn due_of(&self, agreement: AgreementId) -> Option<Day> {
        self.due.get(&agreement).copied()
    }

    /// An agreement's payments that have an amount, as if nobody had agreed to them: the agreement knows that.
    #[must_use]
    pub fn amounts_of(&self, agreement: AgreementId) -> &[LedgerPayment] {
        self.amounts.get(&agreement).map_or(&[], Vec::as_slice)
    }
}

impl OrgStore {
    /// The payments of agreements, as their rows have them.
    pub(crate) async fn payments_of(&self, agreements: &BTreeSet<AgreementId>) -> Result<PaymentsOf, StoreError> {
        self.payments_that(|row| agreements.contains(&row.agreement_id)).await
    }

    /// The payments of all agreements.
    pub(super) async fn all_payments(&self) -> Result<PaymentsOf, StoreError> {
        self.payments_that(|_| true).await
    }

    async fn payments_that(&self, is_wanted: impl Fn(&MovementRow) -> bool) -> Result<PaymentsOf, StoreError> {
        let mut found = PaymentsOf::default();
        self.each_row(Rows::Movements, |row| {
            if let Some(row) = MovementRow::read(row).filter(&is_wanted) {
                found.add(&row);
            }
        })
        .await?;
        Ok(found)
    }
}
