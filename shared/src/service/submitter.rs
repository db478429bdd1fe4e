//! The role in which someone submits a form.

use crate::domain::call_context::CallContext;
use crate::domain::member::{Admin, Member};
use crate::domain::participant::ActingParticipant;
use crate::error::Error;
use crate::store::change::Changes;
use crate::store::members;

/// The role in which a form was submitted. Its changes take effect only while the person still has that role.
pub trait Submitter: Copy {
    /// The check of the person's record in each transaction. None for participants, whose acts check it themselves.
    fn role_check(self, call: &CallContext) -> Option<Changes>;

    /// Checks the role again after the transaction's check may have failed.
    fn check_role(self, current: &Member) -> Result<(), Error>;
}

impl Submitter for &ActingParticipant {
    fn role_check(self, _: &CallContext) -> Option<Changes> {
        None
    }

    fn check_role(self, _: &Member) -> Result<(), Error> {
        Ok(())
    }
}

impl Submitter for &Member {
    fn role_check(self, call: &CallContext) -> Option<Changes> {
        Some(members::check_member(call, self.id()))
    }

    fn check_role(self, _: &Member) -> Result<(), Error> {
        Ok(())
    }
}

impl Submitter for Admin<'_> {
    fn role_check(self, call: &CallContext) -> Option<Changes> {
        Some(members::check_admin(call, self.member().id()))
    }

    fn check_role(self, current: &Member) -> Result<(), Error> {
        if current.is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
    }
}
