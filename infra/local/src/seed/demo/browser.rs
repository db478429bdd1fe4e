//! A member with a browser, in process: signs in, confirms proposals and signs out through the app's forms, so that the
//! demo's decisions are checked and audited like any member's.

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::data::Member;
use crate::error::in_one_line;

/// A browser with a signed-in member.
pub(crate) struct Browser<'a> {
    app: &'a Router,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    /// Signs a member in.
    pub(crate) async fn sign_in(app: &'a Router, member: &Member) -> Result<Self, String> {
        let mut browser = Self { app, cookies: Vec::new() };
        let page = browser.open("/app/sign-in").await?;
        let (form_token, next) = (hidden(&page, "form_token")?, hidden(&page, "next")?);
        let fields = [
            ("form_token", form_token.as_str()),
            ("next", &next),
            ("email", &member.email),
            ("password", &member.password),
        ];
        browser.submit("/app/sign-in", &fields).await?;
        Ok(browser)
    }

    /// Reviews a proposal and confirms it.
    pub(crate) async fn confirm(&mut self, proposal: &str, note: &str) -> Result<(), String> {
        let path = format!("/app/proposals/{proposal}");
        let page = self.open(&path).await?;
        let (form_token, version) = (hidden(&page, "form_token")?, hidden(&page, "version")?);
        let decision = ("decision", "confirm");
        self.submit(&path, &[("form_token", &form_token), ("version", &version), ("note", note), decision]).await
    }

    /// Signs out, which ends the session.
    pub(crate) async fn sign_out(mut self) -> Result<(), String> {
        let page = self.open("/app").await?;
        self.submit("/app/sign-out", &[("form_token", &hidden(&page, "form_token")?)]).await
    }

    async fn open(&mut self, path: &str) -> Result<String, String> {
        let (status, page) = self.request(Request::get(path), Body::empty()).await?;
        if status == StatusCode::OK { Ok(page) } else { Err(format!("GET {path} answered {status}")) }
    }

    /// Submits a form, which must answer with a redirect.
    async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let (status, _) = self.request(request, Body::from(form)).await?;
        if status == StatusCode::SEE_OTHER { Ok(()) } else { Err(format!("POST {path} answered {status}")) }
    }

    async fn request(&mut self, request: http::request::Builder, body: Body) -> Result<(StatusCode, String), String> {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header(header::COOKIE, cookies.join("; ")).body(body);
        let response = match self.app.clone().oneshot(request.map_err(|error| in_one_line(&error))?).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        for cookie in response.headers().get_all(header::SET_COOKIE) {
            let pair = cookie.to_str().ok().and_then(|text| text.split(';').next()?.split_once('='));
            if let Some((name, value)) = pair {
                self.cookies.retain(|(kept, _)| kept != name);
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        let status = response.status();
        let page = response.into_body().collect().await.map_err(|error| in_one_line(&error))?.to_bytes();
        Ok((status, String::from_utf8_lossy(&page).into_owned()))
    }
}

/// The value of the first hidden field of a page with this name: a token, a number or a path, none of which is escaped.
fn hidden(page: &str, name: &str) -> Result<String, String> {
    let start = format!("type=\"hidden\" name=\"{name}\" value=\"");
    let value = page.split_once(&start).and_then(|(_, rest)| rest.split('"').next());
    value.map(str::to_owned).ok_or_else(|| format!("a page without {name}"))
}
