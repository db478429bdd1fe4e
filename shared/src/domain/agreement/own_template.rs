//! The templates that members keep: an organization's list of them. What each says is an [`Outline`](super::outline).

use serde::{Deserialize, Serialize};

use super::keeping::TooLarge;
use crate::domain::actor::Actor;
use crate::domain::ids::TemplateId;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::input::texts;
use crate::wire::text::Folded;

texts! {
    /// The name of a template.
    TemplateName: max limits::NAME_CHARS_MAX, example "Purchase with escrow";
}

/// A template that a member kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTemplate {
    /// Its id.
    pub id: TemplateId,
    /// Its name.
    pub name: TemplateName,
    /// Who kept it.
    pub kept_by: Actor,
    /// When.
    pub kept_at: Timestamp,
}

/// The templates of an organization, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTemplates {
    templates: Vec<OwnTemplate>,
}

/// Why a template was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotKept {
    /// The organization has as many as it may have.
    Full,
    /// Another template has the name.
    NameTaken,
    /// The agreement is too large.
    TooLarge(TooLarge),
}

/// Why a template was not renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRenamed {
    /// Another template has the name.
    NameTaken,
    /// It no longer has the name that the form showed, but this one.
    Changed(TemplateName),
}

impl OwnTemplates {
    /// The templates, by name.
    pub fn iter(&self) -> impl Iterator<Item = &OwnTemplate> {
        self.templates.iter()
    }

    /// The template with an id.
    #[must_use]
    pub fn get(&self, id: TemplateId) -> Option<&OwnTemplate> {
        self.iter().find(|template| template.id == id)
    }

    /// Whether no further one can be kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.templates.len() >= limits::TEMPLATES_MAX
    }

    /// With one more.
    pub fn keep(&self, new: OwnTemplate) -> Result<Self, NotKept> {
        if self.is_full() {
            return Err(NotKept::Full);
        }
        if self.is_taken(&new.name, new.id) {
            return Err(NotKept::NameTaken);
        }
        Ok(Self::sorted(self.iter().cloned().chain([new])))
    }

    /// With another name of one, unless it no longer has the name that was shown.
    pub fn rename(&self, id: TemplateId, shown: &str, name: &TemplateName) -> Result<Self, NotRenamed> {
        let now = self.get(id).map(|template| &template.name);
        if let Some(now) = now.filter(|now| now.as_str() != shown && *now != name) {
            return Err(NotRenamed::Changed(now.clone()));
        }
        if self.is_taken(name, id) {
            return Err(NotRenamed::NameTaken);
        }
        let renamed = |template: &OwnTemplate| {
            let name = if template.id == id { name.clone() } else { template.name.clone() };
            OwnTemplate { name, ..template.clone() }
        };
        Ok(Self::sorted(self.iter().map(renamed)))
    }

    /// Without one.
    #[must_use]
    pub fn without(&self, id: TemplateId) -> Self {
        Self { templates: self.iter().filter(|template| template.id != id).cloned().collect() }
    }

    fn is_taken(&self, name: &TemplateName, by_others_than: TemplateId) -> bool {
        let folded = Folded::new(name.as_str());
        let is_same = |template: &OwnTemplate| Folded::new(template.name.as_str()).as_str() == folded.as_str();
        self.iter().any(|template| template.id != by_others_than && is_same(template))
    }

    fn sorted(templates: impl IntoIterator<Item = OwnTemplate>) -> Self {
        let mut templates: Vec<OwnTemplate> = templates.into_iter().collect();
        templates.sort_by_cached_key(|template| Folded::new(template.name.as_str()).as_str().to_owned());
        Self { templates }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::noon;
    use super::*;

    fn name(text: &str) -> TemplateName {
        TemplateName::parse(text).unwrap()
    }

    fn template(text: &str) -> OwnTemplate {
        OwnTemplate { id: TemplateId::new(), name: name(text), kept_by: Actor::system(), kept_at: noon() }
    }

    fn names(of: &OwnTemplates) -> Vec<&str> {
        of.iter().map(|template| template.name.as_str()).collect()
    }

    #[test]
    fn templates_are_sorted_by_name_and_no_two_have_the_same() {
        let (lease, bond) = (template("Lease"), template("bond"));
        let kept = OwnTemplates::default().keep(lease.clone()).unwrap().keep(bond.clone()).unwrap();
        assert_eq!(names(&kept), ["bond", "Lease"]);
        assert_eq!(kept.keep(template("LEASE")), Err(NotKept::NameTaken));
        assert_eq!(kept.rename(bond.id, "bond", &name("lease")), Err(NotRenamed::NameTaken));
        let renamed = kept.rename(bond.id, "bond", &name("Surety")).unwrap();
        assert_eq!(names(&renamed), ["Lease", "Surety"]);
        let late = renamed.rename(bond.id, "bond", &name("Pledge"));
        assert_eq!(late, Err(NotRenamed::Changed(name("Surety"))));
        assert_eq!(renamed.rename(bond.id, "bond", &name("Surety")).as_ref(), Ok(&renamed), "sent twice");
        assert_eq!(
            renamed.rename(lease.id, "Lease", &name("LEASE")).map(|after| names(&after)[0] == "LEASE"),
            Ok(true)
        );
        assert_eq!(names(&renamed.without(bond.id)), ["Lease"]);
    }

    #[test]
    fn the_last_place_is_the_last() {
        let mut kept = OwnTemplates::default();
        for n in 0..limits::TEMPLATES_MAX {
            kept = kept.keep(template(&format!("{n}"))).unwrap();
        }
        assert_eq!((kept.is_full(), kept.keep(template("more"))), (true, Err(NotKept::Full)));
    }
}
