use std::collections::HashMap;

use shared::domain::contact::Email;
use shared::error::Error;
use shared::platform::files::FileStore;
use shared::service::identity::demo_call::MemberCall;
use shared::store::Store;

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
        let time_scale = self.functions.app.time_scale;
        let call = MemberCall::begin(self.store, time_scale, operation, &email, &member.password).await?;
        call.ok_or(Error::Unauthenticated)
    }
}
