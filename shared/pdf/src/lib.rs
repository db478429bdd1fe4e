//! PDFs: `pages` renders the pages of one, `certificate` writes certificates of completed agreements and letters to be
//! signed, `reading` extracts text. Each has a feature of its name, so that a function carries only what it needs.

#[cfg(feature = "certificate")]
pub mod certificate;
#[cfg(feature = "fonts")]
pub mod fonts;
#[cfg(feature = "pages")]
pub mod pages;
#[cfg(feature = "reading")]
pub mod reading;
