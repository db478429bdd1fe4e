//! The lines of funding items with proof to review.

use pages::labels::actor_label;
use pages::urls::item_url;
use shared::domain::funding::proof::Proof;
use shared::service::home::ItemToReview;
use shared::text::funding_words as words;

use crate::home::{Item, Urgency};

impl Item {
    pub(super) fn of_proof(ItemToReview { item, workspace }: &ItemToReview) -> Self {
        let waiting: Vec<&Proof> = item.proofs().iter().filter(|proof| proof.is_undecided()).collect();
        let what = match waiting.as_slice() {
            [proof] => format!("{}, filed by {}", words::source(proof.source()), actor_label(proof.filed_by())),
            many => format!("{} proofs", many.len()),
        };
        let since = waiting.iter().map(|proof| proof.filed_at()).min();
        let url = format!("{}#next", item_url(item.id()));
        Self {
            at: since,
            what: "Proof of a transfer",
            when: since.map(|since| ("since", since)),
            badge: Some(("To review".to_owned(), "blue")),
            ..Self::new(Urgency::Asked, url, item.label().as_str(), format!("{} · {what}", workspace.name.as_str()))
        }
    }
}
