//! PDFs: `pages` shows the pages of one as images, `certificate` writes the certificate of a completed agreement, and in the same
//! hand letters to be signed; `reading` gives the text of one.
//!
//! Each stands behind a feature of its name, so that a function carries only what it needs.

#[cfg(feature = "certificate")]
pub mod certificate;
#[cfg(feature = "fonts")]
pub mod fonts;
#[cfg(feature = "pages")]
pub mod pages;
#[cfg(feature = "reading")]
pub mod reading;
