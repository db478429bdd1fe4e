use std::collections::HashMap;

use shared::domain::contact::Email;
use shared::error::Error;
use shared::platform::files::FileStore;
use shared::store::Store;
use shared::web::member_call::MemberCall;

use crate::data::{Member, OrganizationCredentials};
use crate::functions::Functions;

/// By external reference.
pub(crate) type ContactIds = HashMap<&'static str, String>;

pub(crate) struct Demo<'a> {
    pub(crate) functions: &'a Functions,
    pub(crate) store: &'a Store,
    pub(crate) files: &'a dyn FileStore,
    pub(crate) organization: &'a OrganizationCredentials,
}

impl Demo<'_> {
    pub(crate) async fn call(&self, member: &Member, operation: &'static str) -> Result<MemberCall, Error> {
        let email = Email::parse(&member.email).map_err(|(_, why)| Error::Internal(why))?;
        let call = MemberCall::begin(&self.functions.app, operation, &email, &member.password).await?;
        call.ok_or(Error::Unauthenticated)
    }
}
