//! PDFs: `pages` renders pages, `certificate` writes certificates of completed agreements and letters to sign,
//! `reading` extracts text. Each is a feature, so that a function carries only what it needs.

#[cfg(feature = "certificate")]
pub mod certificate;
#[cfg(feature = "fonts")]
pub mod fonts;
#[cfg(feature = "pages")]
pub mod pages;
#[cfg(feature = "reading")]
pub mod reading;
