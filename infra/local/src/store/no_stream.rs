//! Replaces `stream` without the feature `stream`.

use shared::platform::aws::AwsSettings;
use shared::store::due::DueEntry;
use tokio::sync::mpsc::UnboundedSender;

#[derive(Debug)]
pub(crate) enum StreamReader {}

#[expect(clippy::unused_async, reason = "the same signatures as in `stream`")]
impl StreamReader {
    /// Always fails.
    pub(crate) async fn open(_: &AwsSettings, _: String, _: UnboundedSender<DueEntry>) -> Result<Self, String> {
        Err("reading a stream takes the feature `stream` of the crate `local`".to_owned())
    }

    /// Never called.
    pub(crate) async fn run(self) {
        match self {}
    }
}
