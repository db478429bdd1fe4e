use std::collections::BTreeSet;

use super::{Edited, check_limit, unknown};
use crate::domain::agreement::gate::GateRule;
use crate::domain::agreement::{Agreement, Document, DocumentContent, DocumentState, Label, SignatureBlock};
use crate::domain::ids::{DocumentId, ParticipantId, SignatureBlockId};
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::FieldErrors;

impl Agreement {
    /// Adds a document; its file may follow later.
    pub fn add_document(&self, name: Label, content: Option<DocumentContent>, now: Timestamp) -> Edited<DocumentId> {
        let id = DocumentId::new();
        Ok((self.put_document(id, name, content, now)?, id))
    }

    /// Adds a document with the id from its form; no change if it exists.
    pub fn put_document(
        &self,
        id: DocumentId,
        name: Label,
        content: Option<DocumentContent>,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.document(id).is_some() {
            return Ok(self.clone());
        }
        check_limit("documents", draft.documents.len(), limits::AGREEMENT_DOCUMENTS_MAX)?;
        draft.documents.push(Document {
            id,
            name,
            content,
            state: DocumentState::Draft,
            blocks: Vec::new(),
            is_for_reading: false,
        });
        Ok(draft)
    }

    /// Renames a document.
    pub fn rename_document(&self, document: DocumentId, name: Label, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.document_mut(document)?.name = name;
        Ok(draft)
    }

    /// Sets whether a document is only for reading.
    pub fn set_for_reading(&self, document: DocumentId, is_so: bool, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.document_mut(document)?.is_for_reading = is_so;
        Ok(draft)
    }

    /// Sets or replaces a document's file. Signature blocks stay.
    pub fn set_file(
        &self,
        document: DocumentId,
        content: DocumentContent,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.document_mut(document)?.content = Some(content);
        Ok(draft)
    }

    /// Removes a document and its signature blocks.
    pub fn remove_document(&self, document: DocumentId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        let blocks: BTreeSet<SignatureBlockId> =
            draft.document_mut(document)?.blocks.iter().map(|block| block.id).collect();
        self.check_unnamed("document_id", |rule| match rule {
            GateRule::DocumentSigned { document_id } => *document_id == Some(document),
            GateRule::SignatureBlocks { block_ids } => !block_ids.is_disjoint(&blocks),
            _ => false,
        })?;
        draft.documents.retain(|kept| kept.id != document);
        Ok(draft)
    }

    /// Renames a signature block.
    pub fn rename_signature_block(
        &self,
        block: SignatureBlockId,
        label: Label,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.block_mut(block)?.label = label;
        Ok(draft)
    }

    /// Removes a signature block.
    pub fn remove_signature_block(&self, block: SignatureBlockId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        draft.block_mut(block)?;
        self.check_unnamed(
            "block_id",
            |rule| matches!(rule, GateRule::SignatureBlocks { block_ids } if block_ids.contains(&block)),
        )?;
        for document in &mut draft.documents {
            document.blocks.retain(|kept| kept.id != block);
        }
        Ok(draft)
    }

    /// Adds a place for a participant to sign.
    pub fn add_signature_block(
        &self,
        document: DocumentId,
        participant: ParticipantId,
        label: Label,
        now: Timestamp,
    ) -> Edited<SignatureBlockId> {
        let id = SignatureBlockId::new();
        Ok((self.put_signature_block(document, id, participant, label, now)?, id))
    }

    /// Adds a signature block with the id from its form; no change if it exists.
    pub fn put_signature_block(
        &self,
        document: DocumentId,
        id: SignatureBlockId,
        participant: ParticipantId,
        label: Label,
        now: Timestamp,
    ) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.documents.iter().flat_map(|document| &document.blocks).any(|block| block.id == id) {
            return Ok(self.clone());
        }
        self.check_participants(&BTreeSet::from([participant]))?;
        let blocks = draft.documents.iter().map(|document| document.blocks.len()).sum();
        check_limit("signature_blocks", blocks, limits::AGREEMENT_BLOCKS_MAX)?;
        draft.document_mut(document)?.blocks.push(SignatureBlock { id, participant_id: participant, label });
        Ok(draft)
    }

    fn document_mut(&mut self, id: DocumentId) -> Result<&mut Document, FieldErrors> {
        self.documents.iter_mut().find(|document| document.id == id).ok_or_else(|| unknown("document_id", "document"))
    }

    fn block_mut(&mut self, id: SignatureBlockId) -> Result<&mut SignatureBlock, FieldErrors> {
        let mut blocks = self.documents.iter_mut().flat_map(|document| &mut document.blocks);
        blocks.find(|block| block.id == id).ok_or_else(|| unknown("block_id", "signature block"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::AgreementKind;
    use super::super::super::fixtures::{draft, label, noon};
    use super::*;

    #[test]
    fn a_document_may_come_without_its_file() {
        let content = Some(DocumentContent { sha256: "0".repeat(64), size_bytes: 9 });
        let (draft, document) = draft(AgreementKind::General).add_document(label("Deed"), None, noon()).unwrap();
        assert_eq!(
            draft.document(document).map(|document| (&document.content, document.state)),
            Some((&None, DocumentState::Draft))
        );
        let (draft, document) = draft.add_document(label("Plan"), content.clone(), noon()).unwrap();
        assert_eq!(draft.document(document).map(|document| &document.content), Some(&content));
    }
}
