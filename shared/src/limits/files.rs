//! Files: what is uploaded, read and drawn, and bundles.

use std::time::Duration;

/// Acts in a bundle: read within seconds by some queries and a hundred batches.
pub const BUNDLE_ACTS_MAX: usize = 10_000;
/// Bytes of the files in a bundle: all documents it can have (200 MiB), uploads, and the
/// evidence of payments. They are in memory twice while the bundle is made. A bundle has at most 300 MiB: the rest
/// suffices for 200 drawn signatures of 12,000 points (22 MB) and [`BUNDLE_ACTS_MAX`] acts (45 MB).
pub const BUNDLE_FILE_BYTES_MAX: u64 = 224 * 1024 * 1024;
/// The part of [`BUNDLE_FILE_BYTES_MAX`] that only members may fill: three files of [`FILE_BYTES_MAX`], half of what
/// an agreement with the most and largest documents leaves. So no participant can keep out the proof of a payment.
pub const BUNDLE_FILE_BYTES_OF_MEMBERS: u64 = 12 * 1024 * 1024;
/// Files read from the file store together: enough to hide its latency.
pub const BUNDLE_FILES_AT_ONCE: usize = 8;
/// Payments whose evidence is read together, a query each. Most agreements have fewer.
pub const BUNDLE_PAYMENTS_AT_ONCE: usize = 25;
/// Attempts at reading the contents of a bundle while its agreement changes.
pub const BUNDLE_ATTEMPTS_MAX: u32 = 5;
/// Bytes to which a document's streams unpack, without pictures: ordinarily a third of this; a hostile file, 4 GB.
pub const DOCUMENT_UNPACKED_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Objects of a document, including those in object streams. The tags of a long text come to half.
pub const DOCUMENT_OBJECTS_MAX: usize = 300_000;
/// Streams of a document: a thousand pages have some thousand.
pub const DOCUMENT_STREAMS_MAX: usize = 50_000;
/// Pages of a document that a signer's page shows at once as pictures, with links to the others.
pub const DOCUMENT_PAGES_AT_ONCE: usize = 50;
/// Width of the picture of a page, in pixels.
pub const PAGE_PICTURE_WIDTH: u16 = 1200;
/// The time, also of the processor, for opening or drawing a PDF. The picture of a large scan takes a second.
pub const PDF_READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a file waits while others are opened or drawn. With [`PDF_READ_TIMEOUT`] it ends by
/// [`READING_DEADLINE`](super::READING_DEADLINE).
pub const PDF_TURN_TIMEOUT: Duration = Duration::from_secs(6);
/// Bytes of memory of the process that draws a PDF, without its code. A page in color at 600 dpi took 118 MB.
pub const PDF_READ_MEMORY_BYTES: u64 = 300_000_000;
/// Bytes of stack, as part of it: `hayro` follows lists 512 levels deep and forms 50.
pub const PDF_READ_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of such a process's answer: a picture of 4 MB, or the page sizes of a document.
pub const PDF_ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of a stored file: it passes through a function, and Lambda's bodies end at 6 MB, encoded.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A day in seconds, after which the clock removes an uploaded file that nothing names.
pub const UPLOAD_LIFETIME_S: i64 = 24 * 3600;
/// Calls that uploaded a file and may yet take effect: more wait until earlier ones have ended.
pub const UPLOADS_OF_FILE_MAX: usize = 25;
/// When a call without an audit row counts as killed, in seconds: calls end at [`CALL_DEADLINE`](super::CALL_DEADLINE).
/// Never scaled.
pub const CALL_OVER_AFTER_S: i64 = 300;
/// How long a clock that removes a file has it for itself, in seconds: longer than a tick. Never scaled.
pub const FILE_REMOVAL_S: i64 = 300;
/// Attempts at noting an upload while the clock removes the same file, or others upload it.
pub const UPLOAD_ATTEMPTS_MAX: u32 = 8;
/// How long a link to an exported file works: a redirect follows it at once.
pub const EXPORT_LINK_LIFETIME: Duration = Duration::from_mins(1);
/// The time-out of writing an exported file, in one attempt: some hundred megabytes take seconds.
pub const EXPORT_WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time-out of one attempt at writing or reading a file: 4 MB on a busy host's slow network.
pub const FILE_CALL_TIMEOUT: Duration = Duration::from_millis(3500);
/// Attempts at writing or reading a file. Together they end before [`CALL_DEADLINE`](super::CALL_DEADLINE).
pub const FILE_CALL_ATTEMPTS_MAX: u32 = 3;
