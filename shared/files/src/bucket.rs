//! Stores files in an S3 bucket, for functions.
//!
//! Decision: three signed calls and a signed link, with the signer and HTTP client that functions have for `DynamoDB`.
//! `aws-sdk-s3` would save some 50 lines for 16 more crates, which take two minutes of a processor to compile, and
//! `object_store`'s client brings 31, with a second HTTP client and a second provider of TLS.

use std::time::SystemTime;

use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation, SigningInstructions,
    SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_http_client::Connector;
use aws_smithy_runtime_api::client::http::HttpConnector;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use shared::limits;
use shared::platform::aws::{self, AwsSettings};
use shared::platform::files::FilesError;

use crate::{Files, Place};

#[derive(Debug)]
struct Bucket {
    url: String,
    settings: AwsSettings,
    connector: Connector,
}

impl Files {
    /// Opens the store in a bucket. The bucket's own settings keep it private; writes request nothing else.
    #[must_use]
    pub fn in_bucket(name: &str, settings: AwsSettings) -> Self {
        let url = if let Some(endpoint) = &settings.endpoint_url {
            // Emulators have no names for buckets.
            format!("{}/{name}", endpoint.trim_end_matches('/'))
        } else {
            let region = &settings.region;
            let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
            format!("https://{name}.s3.{region}.amazonaws.com{suffix}")
        };
        Self::at(Bucket { url, settings, connector: aws::connector() })
    }
}

impl Place for Bucket {
    fn put<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let response = self.call(&Method::PUT, path, file).await?;
            if response.status().is_success() { Ok(()) } else { Err(refused(&response)) }
        })
    }

    fn get<'a>(&'a self, path: &'a str, size: u64) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        Box::pin(async move {
            const NOT_FOUND: u16 = 404;
            let response = self.call(&Method::GET, path, Bytes::new()).await?;
            if response.status().as_u16() == NOT_FOUND {
                return Err(FilesError::NotThere);
            }
            if !response.status().is_success() {
                return Err(refused(&response));
            }
            // Check the size before reading the content, so that no file can exhaust memory.
            let length = response.headers().get("content-length").and_then(|length| length.parse::<u64>().ok());
            if length != Some(size) {
                return Err(FilesError::Damaged);
            }
            let content = ByteStream::new(response.into_body()).collect();
            let content = tokio::time::timeout(limits::AWS_CALL_TIMEOUT, content).await.map_err(failed)?;
            Ok(content.map_err(failed)?.into_bytes())
        })
    }

    /// S3 answers 204 whether or not the file exists.
    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let response = self.call(&Method::DELETE, path, Bytes::new()).await?;
            if response.status().is_success() { Ok(()) } else { Err(refused(&response)) }
        })
    }

    /// The template's rule for what is below `lists/` does.
    fn remove_old<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn hand_out(
        &self,
        path: String,
        file: Bytes,
        disposition: String,
    ) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(async move {
            // Once: a second attempt at so much would outlast the call.
            let put = self.attempt(&Method::PUT, &path, file);
            let response = tokio::time::timeout(limits::EXPORT_WRITE_TIMEOUT, put).await;
            let response =
                response.map_err(|_| FilesError::Store("S3 did not take an export in time".to_owned()))??;
            if !response.status().is_success() {
                return Err(refused(&response));
            }
            Ok(Some(self.link(&path, &disposition).await?))
        })
    }
}

impl Bucket {
    /// Calls S3, and retries transient failures: each call is idempotent.
    async fn call(&self, method: &Method, path: &str, body: Bytes) -> Result<HttpResponse, FilesError> {
        let mut pause = limits::AWS_BACKOFF_FIRST;
        let mut attempt = 1;
        loop {
            let result =
                tokio::time::timeout(limits::FILE_CALL_TIMEOUT, self.attempt(method, path, body.clone())).await;
            let result = result.unwrap_or_else(|_| Err(FilesError::Store("S3 did not answer in time".to_owned())));
            let may_pass = match &result {
                Ok(response) => response.status().is_server_error() || response.status().as_u16() == SLOW_DOWN,
                Err(_) => true,
            };
            if !may_pass || attempt >= limits::FILE_CALL_ATTEMPTS_MAX {
                return result;
            }
            tokio::time::sleep(pause.mul_f64(fastrand::f64())).await;
            pause *= 2;
            attempt += 1;
        }
    }

    async fn attempt(&self, method: &Method, path: &str, body: Bytes) -> Result<HttpResponse, FilesError> {
        let request = self.signed(method, path, body).await?;
        self.connector.call(request).await.map_err(failed)
    }

    async fn signed(&self, method: &Method, path: &str, body: Bytes) -> Result<HttpRequest, FilesError> {
        let mut settings = settings();
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        let url = format!("{}/{path}", self.url);
        let instructions = self.instructions(method, &url, SignableBody::Bytes(&body), settings).await?;
        let mut request = http::Request::builder().method(method).uri(&url);
        if *method == Method::PUT {
            request = request.header(http::header::CONTENT_LENGTH, body.len());
        }
        let mut request = request.body(SdkBody::from(body)).map_err(failed)?;
        instructions.apply_to_request_http1x(&mut request);
        HttpRequest::try_from(request).map_err(failed)
    }

    /// Signs a download link for a minute, or for as long as the function's credentials are valid if that is shorter.
    async fn link(&self, path: &str, disposition: &str) -> Result<String, FilesError> {
        let mut settings = settings();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(limits::EXPORT_LINK_LIFETIME);
        let disposition = utf8_percent_encode(disposition, NON_ALPHANUMERIC);
        let url = format!("{}/{path}?response-content-disposition={disposition}", self.url);
        let instructions = self.instructions(&Method::GET, &url, SignableBody::UnsignedPayload, settings).await?;
        let mut request = http::Request::builder().uri(&url).body(()).map_err(failed)?;
        instructions.apply_to_request_http1x(&mut request);
        Ok(request.uri().to_string())
    }

    async fn instructions(
        &self,
        method: &Method,
        url: &str,
        body: SignableBody<'_>,
        settings: SigningSettings,
    ) -> Result<SigningInstructions, FilesError> {
        let identity = self.settings.credentials.provide_credentials().await.map_err(failed)?.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.settings.region)
            .name("s3")
            .time(SystemTime::now())
            .settings(settings)
            .build()
            .map_err(failed)?
            .into();
        let signable = SignableRequest::new(method.as_str(), url, std::iter::empty(), body).map_err(failed)?;
        Ok(sign(signable, &params).map_err(failed)?.into_parts().0)
    }
}

fn settings() -> SigningSettings {
    let mut settings = SigningSettings::default();
    // S3 signs paths unchanged.
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings
}

const SLOW_DOWN: u16 = 429;

fn refused(response: &HttpResponse) -> FilesError {
    // The body adds only bucket and path, no more help than the status.
    FilesError::Store(format!("S3 answered {}", response.status().as_u16()))
}

fn failed(error: impl std::fmt::Display) -> FilesError {
    FilesError::Store(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use shared::domain::agreement::DocumentContent;
    use shared::domain::ids::OrgId;
    use shared::platform::files::FileStore;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn server(responses: Vec<String>) -> (Files, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        tokio::spawn(async move {
            for response in responses {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (mut request, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
                let mut ends_at = None;
                while ends_at.is_none_or(|ends_at| request.len() < ends_at) {
                    let read = stream.read(&mut buffer).await.unwrap();
                    request.extend_from_slice(&buffer[..read]);
                    ends_at = ends_at.or_else(|| end_of(&request));
                    if read == 0 {
                        break;
                    }
                }
                kept.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                stream.write_all(response.as_bytes()).await.unwrap();
            }
        });
        (Files::in_bucket("papers", AwsSettings::emulator(endpoint)), requests)
    }

    /// Where a request ends whose head has arrived.
    fn end_of(request: &[u8]) -> Option<usize> {
        let head = request.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&request[..head]);
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        Some(head + 4 + length.map_or(0, |length| length.parse().unwrap()))
    }

    fn answer(status: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    #[tokio::test]
    async fn a_file_is_put_and_read_by_signed_calls() {
        let (files, requests) = server(vec![answer("200 OK", ""), answer("200 OK", "A deed\n")]).await;
        let org = OrgId::new();
        let content = files.put(org, "A deed\n").await.unwrap();
        assert_eq!(files.get(org, &content).await.unwrap(), "A deed\n");
        let requests = requests.lock().unwrap();
        let path = format!("/papers/{org}/{}", content.sha256);
        assert!(requests[0].starts_with(&format!("PUT {path} HTTP/1.1\r\n")), "{}", requests[0]);
        assert!(requests[1].starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{}", requests[1]);
        assert!(requests[0].contains(&format!("x-amz-content-sha256: {}\r\n", content.sha256)), "{}", requests[0]);
        assert!(requests[0].ends_with("\r\n\r\nA deed\n"), "{}", requests[0]);
        for request in &*requests {
            assert!(request.contains("authorization: AWS4-HMAC-SHA256 Credential=local/"), "{request}");
            assert!(request.contains("/us-east-1/s3/aws4_request"), "{request}");
        }
    }

    #[tokio::test]
    async fn an_export_of_any_size_is_put_and_handed_out_by_a_link_for_a_minute() {
        let (files, requests) = server(vec![answer("200 OK", "")]).await;
        let (org, file) = (OrgId::new(), Bytes::from(vec![b'x'; limits::FILE_BYTES_MAX + 1]));
        let link = files.hand_out(org, file.clone(), "Évidence \"1\"\r\n.zip").await.unwrap().unwrap();
        let path = format!("/papers/exports/{org}/{}", shared::crypto::sha256_hex(&file));
        {
            let requests = requests.lock().unwrap();
            assert!(requests[0].starts_with(&format!("PUT {path} HTTP/1.1\r\n")), "{}", &requests[0][..200]);
        }
        let (at, query) = link.split_once('?').unwrap();
        assert!(at.ends_with(&path), "{link}");
        for part in [
            "response-content-disposition=attachment%3B%20filename%3D%22%5Fvidence%20%5F1%5F%5F%5F%2Ezip%22",
            "X-Amz-Algorithm=AWS4-HMAC-SHA256",
            "X-Amz-Expires=60",
            "X-Amz-SignedHeaders=host",
            "X-Amz-Signature=",
        ] {
            assert!(query.contains(part), "{part}: {query}");
        }
        let (refusing, _) = server(vec![answer("403 Forbidden", "")]).await;
        assert!(matches!(refusing.hand_out(org, file, "x.zip").await, Err(FilesError::Store(_))));
    }

    #[tokio::test]
    async fn a_file_is_removed_by_its_path() {
        let (files, requests) = server(vec![answer("204 No Content", ""), answer("403 Forbidden", "")]).await;
        let (org, sha256) = (OrgId::new(), "0".repeat(64));
        let files: &dyn FileStore = &files;
        files.remove(org, &sha256).await.unwrap();
        assert!(matches!(files.remove(org, &sha256).await, Err(FilesError::Store(_))));
        let requests = requests.lock().unwrap();
        assert!(requests[0].starts_with(&format!("DELETE /papers/{org}/{sha256} HTTP/1.1\r\n")), "{}", requests[0]);
    }

    #[tokio::test]
    async fn what_may_pass_is_tried_again_and_the_rest_is_not() {
        let ok = answer("200 OK", "");
        let (files, requests) = server(vec![answer("503 Slow Down", ""), answer("500 Oops", ""), ok]).await;
        files.put(OrgId::new(), "A deed\n").await.unwrap();
        assert_eq!(requests.lock().unwrap().len(), 3);
        let (files, requests) = server(vec![answer("403 Forbidden", "")]).await;
        assert!(matches!(files.put(OrgId::new(), "A deed\n").await, Err(FilesError::Store(_))));
        assert_eq!(requests.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_file_that_is_missing_or_another_is_not_given_out() {
        let content = DocumentContent { sha256: "0".repeat(64), size_bytes: 7 };
        let (files, _) = server(vec![answer("404 Not Found", "")]).await;
        assert!(matches!(files.get(OrgId::new(), &content).await, Err(FilesError::NotThere)));
        for wrong in ["A deeds\n", "A deed!"] {
            let (files, _) = server(vec![answer("200 OK", wrong)]).await;
            assert!(matches!(files.get(OrgId::new(), &content).await, Err(FilesError::Damaged)), "{wrong}");
        }
    }

    #[test]
    fn a_bucket_of_aws_has_a_name_of_its_own() {
        let at = |region: &str| {
            let settings = AwsSettings { endpoint_url: None, region: region.to_owned(), ..AwsSettings::emulator("") };
            format!("{:?}", Files::in_bucket("papers", settings))
        };
        assert!(at("eu-central-1").contains("\"https://papers.s3.eu-central-1.amazonaws.com\""));
        assert!(at("cn-north-1").contains("\"https://papers.s3.cn-north-1.amazonaws.com.cn\""));
    }
}
