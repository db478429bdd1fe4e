//! How copies of forms were used, for the entrance that shows forms (`store::form_copies` has the records).

use crate::error::Error;
use crate::service::call_record::CallRecord;
pub use crate::store::form_copies::FormAnswer;
pub(crate) use crate::store::form_copies::{CopyUse, FormCopy, UsedCopy};

impl CallRecord {
    /// How a copy has been used by now.
    pub(crate) async fn used_copy(&self, copy: FormCopy) -> Result<Option<UsedCopy>, Error> {
        Ok(self.store().used_copy(copy.id, self.now()).await?)
    }

    /// Keeps the answer to a copy for repeats, best effort.
    pub(crate) async fn keep_answer(&self, copy: FormCopy, answer: &FormAnswer) {
        let _ = self.store().keep_answer(copy.id, answer).await;
    }
}
