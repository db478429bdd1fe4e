//! The types of uploaded files, detected by content.

use serde::{Deserialize, Serialize};

/// A type of file that participants may upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileType {
    /// A PDF.
    Pdf,
    /// A JPEG picture.
    Jpeg,
    /// A PNG picture.
    Png,
}

impl FileType {
    /// Detects the type by content, ignoring name and media type. None if not accepted, or if another type fits too.
    #[must_use]
    pub fn of(content: &[u8]) -> Option<Self> {
        let tail = &content[content.len().saturating_sub(PDF_END_BYTES)..];
        let found = if content.starts_with(b"%PDF-") && contains(tail, b"%%EOF") {
            Self::Pdf
        } else if content.starts_with(b"\xff\xd8\xff") && contains(content, b"\xff\xd9") {
            // Phones append data to pictures, so the end marker may be anywhere.
            Self::Jpeg
        } else if content.starts_with(b"\x89PNG\r\n\x1a\n") && contains(content, b"IEND\xaeB`\x82") {
            Self::Png
        } else {
            return None;
        };
        (!is_archive(content) && (found == Self::Pdf || !is_page(content))).then_some(found)
    }

    /// The media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }

    /// The file name's extension.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }
}

const PDF_END_BYTES: usize = 1024;

/// Whether a file ends like a zip archive: readers accept one after any prefix.
fn is_archive(content: &[u8]) -> bool {
    const COMMENT_AND_END_BYTES: usize = 65_557;
    contains(&content[content.len().saturating_sub(COMMENT_AND_END_BYTES)..], b"PK\x05\x06")
}

fn is_page(content: &[u8]) -> bool {
    const HEAD_BYTES: usize = 1024;
    let lower = content.to_ascii_lowercase();
    let marks: [&[u8]; 3] = [b"<script", b"<html", b"<!doctype"];
    contains(&content[..content.len().min(HEAD_BYTES)], b"%PDF-") || marks.iter().any(|mark| contains(&lower, mark))
}

fn contains(content: &[u8], part: &[u8]) -> bool {
    content.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_of_a_type_by_its_content_alone() {
        for (content, file_type) in [
            (&b"%PDF-1.7\nx\n%%EOF\r\n"[..], Some(FileType::Pdf)),
            (b"\xff\xd8\xff\xe0x\xff\xd9", Some(FileType::Jpeg)),
            (b"\xff\xd8\xff\xe0x\xff\xd9SEFH a phone's own data SEFT", Some(FileType::Jpeg)),
            (b"\x89PNG\r\n\x1a\nx\0\0\0\0IEND\xaeB`\x82", Some(FileType::Png)),
            (b"", None),
            (b"MZ\x90\0", None),
            (b"<svg onload=alert(1)>", None),
            (b"\xff\xd8\xff\xe0 cut off", None),
            (b"\xff\xd8\xff\xe0x\xff\xd9PK\x03\x04an archivePK\x05\x06 behind a picture", None),
            (b"%PDF-1.7\n%%EOFPK\x05\x06\0\0", None),
            (b"PK\x03\x04%PDF-1.7\n%%EOF", None),
            (b"\xff\xd8\xff\xfe<ScRiPt>alert(1)</script>\xff\xd9", None),
            (b"\xff\xd8\xff\xfe%PDF-1.7\xff\xd9", None),
            (b"GIF89a/*%PDF-*/%%EOF", None),
        ] {
            assert_eq!(FileType::of(content), file_type, "{}", String::from_utf8_lossy(content));
        }
    }
}
