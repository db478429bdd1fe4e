//! The page of the organization's access tokens, on which admins create and revoke them.

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice, shown_once};
use pages::fields::{Choice, Fields};
use pages::form;
use pages::form::FormFields;
use pages::labels::{Badge, DisplayTime, actor_label, scope_label, token_badge};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use shared::domain::ids::TokenId;
use shared::domain::member::Admin;
use shared::domain::time::Timestamp;
use shared::domain::token::{NewToken, Scope, Token};
use shared::error::Error;
use shared::limits;
use shared::service::tokens::{self, GeneratedToken};
use shared::web::{Flash, Redirect, Request, SubmittedForm};
use shared::wire::fields::FieldErrors;
use shared::wire::page::Filter;

const PATH: &str = pages::urls::TOKENS;

#[derive(Template)]
#[template(path = "tokens.html")]
struct TokensPage {
    layout: Layout,
    notice: Option<Notice>,
    base_url: String,
    new_token: Option<NewTokenCard>,
    tokens: Vec<TokenRow>,
    ended: Vec<TokenRow>,
    has_more_ended: bool,
    scopes: Vec<Choice>,
    fields: Fields,
}

struct NewTokenCard {
    name: String,
    /// The value. `None` if its keys can't be read now; the page can be reloaded.
    value: Option<String>,
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    created: Filter<TokenId>,
}

async fn new_token_card(request: &Request, valid: &[&Token]) -> Result<Option<NewTokenCard>, Error> {
    let query: Query = request.read_query()?;
    let Some(token) = query.created.get().and_then(|id| valid.iter().find(|token| token.id == id)) else {
        return Ok(None);
    };
    let value = match Flash::TokenValue(token.id).read(request).await {
        Ok(None) => return Ok(None),
        Ok(value) => value,
        Err(Error::Unavailable(_)) => None,
        Err(error) => return Err(error),
    };
    Ok(Some(NewTokenCard { name: token.name.clone(), value }))
}

struct TokenRow {
    id: String,
    name: String,
    scope: &'static str,
    badge: Option<Badge>,
    created_by: String,
    created_at: DisplayTime,
    end: DisplayTime,
    /// The beginning of the hour of its last use.
    last_used_at: Option<DisplayTime>,
}

impl TokenRow {
    fn new(token: &Token, now: Timestamp) -> Self {
        let end = token.revoked_at.map_or(token.expires_at, |at| at.min(token.expires_at));
        Self {
            id: token.id.to_string(),
            name: token.name.clone(),
            scope: scope_label(token.scope),
            badge: (!token.is_valid_at(now) || token.ends_soon(now)).then(|| token_badge(token, now)),
            created_by: token.created_by.as_ref().map_or_else(|| "The operator".to_owned(), actor_label),
            created_at: token.created_at.into(),
            end: end.into(),
            last_used_at: token.last_used_at.map(DisplayTime::hour_of),
        }
    }
}

form! {
    /// A new token.
    pub(crate) TOKEN: TokenForm {
        name: Field::line("name", "Token name", 200)
            .called("The name")
            .hint("The program that uses it, such as CRM sync. Records show it as their author.")
            .required(),
        scope: Field::choice("scope", "Scope").called("The scope").required(),
    }
}

fn no_token() -> Fields {
    Fields::of([(TOKEN.scope, Scope::Read.as_str())])
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let (notice, cookie) = notice_of_act(request).await;
    Ok(tokens_page(request, no_token(), notice).await?.with_cookie(cookie))
}

async fn tokens_page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let now = request.now();
    let all = tokens::list(request.signed_in()?.scope()).await?;
    let (valid, mut ended): (Vec<_>, Vec<_>) = all.iter().partition(|token| token.is_valid_at(now));
    let has_more_ended = ended.len() > limits::ENDED_TOKENS_SHOWN_MAX;
    ended.truncate(limits::ENDED_TOKENS_SHOWN_MAX);
    let shown: Vec<_> = valid.iter().chain(&ended).map(|token| token.id.uuid()).collect();
    let page = TokensPage {
        layout: Layout::new(request),
        notice,
        base_url: request.app().base_url.to_string(),
        new_token: new_token_card(request, &valid).await?,
        tokens: valid.into_iter().map(|token| TokenRow::new(token, now)).collect(),
        ended: ended.into_iter().map(|token| TokenRow::new(token, now)).collect(),
        has_more_ended,
        scopes: Scope::ALL.iter().map(|&scope| Choice::new(scope.as_str(), scope_label(scope))).collect(),
        fields,
    };
    Ok(PageResponse::render(&page)?.showing(shown))
}

pub(crate) async fn create(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let new: NewToken = match submitted.form().read_new(&TOKEN.names()) {
        Ok(new) => new,
        Err(errors) => {
            let fields = Fields::submitted(submitted.form(), errors);
            return Ok(tokens_page(request, fields, None).await?.unprocessable());
        }
    };
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let token = GeneratedToken::generate(scope, admin, &new)?;
    let redirect = match value_redirect(&submitted, &token).await {
        Ok(redirect) => redirect,
        Err(Error::Unavailable(cause)) => {
            let line = "Its value can’t be encrypted at the moment. Try again in a minute.";
            let notice = Notice::bad("The token was not created", line);
            let fields = Fields::of(submitted.form().typed());
            return Ok(tokens_page(request, fields, Some(notice)).await?.unavailable(cause));
        }
        Err(error) => return Err(error),
    };
    submitted.redirect_if_committed(&redirect);
    if submitted.run(|| tokens::create(scope, admin, &token)).await?.is_ok() {
        return Ok(shown_once(&submitted, redirect, "Token created", "Copy its value below.").await);
    }
    let line = format!(
        "{} tokens are valid, the most that an organization can have. Revoke one that is no longer needed.",
        limits::VALID_TOKENS_MAX
    );
    let fields = Fields::of(submitted.form().typed());
    Ok(tokens_page(request, fields, Some(Notice::bad("The token was not created", line))).await?.unprocessable())
}

async fn value_redirect(submitted: &SubmittedForm<'_, Admin<'_>>, token: &GeneratedToken) -> Result<Redirect, Error> {
    let id = token.id();
    let cookie = Flash::TokenValue(id).set(submitted, token.value()).await?;
    Ok(Redirect { location: format!("{PATH}?created={id}"), cookie })
}

pub(crate) async fn revoke(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let id: TokenId = request.path_id("id")?;
    let line = "It stopped working immediately.";
    let redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Token revoked", line).await;
    submitted.run(|| tokens::revoke(submitted.scope(), submitted.submitter(), id)).await?;
    Ok(redirect.into())
}
