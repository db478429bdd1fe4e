//! Templates that members keep: a list with their names, and what each says beside it.

use super::change::{Change, Changes};
use super::item::{from_item, from_versioned_item, to_item, to_versioned_item};
use super::{OrgStore, StoreError, Versioned, keys};
use crate::domain::agreement::outline::Outline;
use crate::domain::agreement::own_template::OwnTemplates;
use crate::domain::call_context::CallContext;
use crate::domain::ids::TemplateId;

impl OrgStore {
    /// None before the first was kept.
    pub(crate) async fn own_templates(&self) -> Result<Option<Versioned<OwnTemplates>>, StoreError> {
        self.store.get(keys::own_templates(self.org)).await?.map(from_versioned_item).transpose()
    }

    pub(crate) async fn outline(&self, id: TemplateId) -> Result<Option<Outline>, StoreError> {
        self.store.get(keys::outline(self.org, id)).await?.map(from_item).transpose()
    }
}

/// Gives the list its next state.
pub(crate) fn list(
    call: &CallContext,
    before: Option<&Versioned<OwnTemplates>>,
    after: &OwnTemplates,
) -> Result<Changes, StoreError> {
    let version = before.map_or(0, Versioned::version);
    let item = to_versioned_item(keys::own_templates(call.org()), after, version + 1)?;
    let change = if before.is_some() { Change::Replace(item, version) } else { Change::Create(item) };
    Ok(Changes::of(call, [change]))
}

/// Adds what a template says. The list must name it.
pub(crate) fn add(call: &CallContext, id: TemplateId, outline: &Outline) -> Result<Changes, StoreError> {
    Ok(Changes::of(call, [Change::Create(to_item(keys::outline(call.org(), id), outline)?)]))
}

/// Deletes what a template says. The list must no longer name it.
pub(crate) fn delete(call: &CallContext, id: TemplateId) -> Changes {
    Changes::of(call, [Change::Delete(keys::outline(call.org(), id))])
}
