//! Which function answers what, derived from operations and pages; `make generate` writes it into the template.
//!
//! Decision: one route per method and group of the API, such as `GET /api/v1/contacts/{proxy+}`, and per folder of the
//! app. Routes per path would come near an API's limit of 300; a single one would show no figures per group. What fits
//! none goes to `read-api`: a 404, a 405 with `Allow`, or, from `/` and `/app/`, a redirect to the app.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use http::Method;
use pages::routes::Pages;
use shared::api::operation::{ReadOperation, Register, WriteOperation};
use shared::api::{openapi, page};

/// Answers requests that fit no route.
pub const DEFAULT: &str = "read-api";

/// Has all app pages that no other function has.
const APP: &str = "member-app";

/// Ends a path that stands for all paths below it.
const BELOW: &str = "/{proxy+}";

/// A route of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The path; `{proxy+}` at its end stands for all paths below.
    pub path: String,
    /// The method, or `ANY`.
    pub method: String,
    /// The answering function.
    pub function: String,
}

impl fmt::Display for Route {
    /// The route's key: `GET /api/v1/contacts`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Route {
    /// Fit by the gateway's rules: exact paths before `{proxy+}`, longer before shorter, a method before `ANY`.
    fn fit(&self, method: &str, path: &str) -> Option<(bool, usize, bool)> {
        let has_method = self.method == method;
        if !has_method && self.method != "ANY" {
            return None;
        }
        let fits = match self.path.strip_suffix(BELOW) {
            Some(folder) => path.strip_prefix(folder)?.strip_prefix('/').is_some_and(|rest| !rest.is_empty()),
            None => self.path == path,
        };
        fits.then_some((!self.path.ends_with(BELOW), self.path.len(), has_method))
    }
}

/// Collects the operations that a function registers.
#[derive(Debug, Default)]
struct Operations(Vec<(Method, String)>);

impl Register for Operations {
    fn read<O: ReadOperation>(&mut self) {
        self.0.push((O::SPEC.method.clone(), O::SPEC.path.to_owned()));
    }

    fn write<O: WriteOperation>(&mut self) {
        self.0.push((O::SPEC.method.clone(), O::SPEC.path.to_owned()));
    }
}

/// What each function answers: a method (`ANY` for pages) and a path with parameters in braces.
#[must_use]
pub fn answers() -> Vec<Route> {
    let mut all: BTreeMap<&str, Operations> = BTreeMap::new();
    read_api::operations(all.entry("read-api").or_default());
    write_api::operations(all.entry("write-api").or_default());
    proposals::operations(all.entry("proposals").or_default());
    documents::operations(all.entry("documents").or_default());
    let public = [openapi::PATH, page::DOCS].map(|path| (Method::GET, path.to_owned()));
    all.entry("read-api").or_default().0.extend(public);
    let route = |method: &str, path: String, function: &str| Route {
        path,
        method: method.to_owned(),
        function: function.to_owned(),
    };
    let agents = route("ANY", mcp::PATH.to_owned(), "mcp");
    let api = all.into_iter().flat_map(|(function, operations)| {
        operations.0.into_iter().map(move |(method, path)| route(method.as_str(), path, function))
    });
    let pages = app_pages().into_iter();
    let app = pages
        .flat_map(|(function, pages)| pages.paths().to_vec().into_iter().map(move |path| route("ANY", path, function)));
    api.chain([agents]).chain(app).collect()
}

/// All routes but the default one.
#[must_use]
pub fn routes() -> Vec<Route> {
    let answers = answers();
    let mut routes = BTreeSet::new();
    for ((method, folder), answered) in groups(&answers) {
        let counted = |function: &str| answered.iter().filter(|answer| answer.function == function).count();
        // The app's own function owns all folders that no other has; the most frequent function owns an API group.
        let owner = match answered.iter().find(|answer| answer.method == "ANY" && answer.function != APP) {
            Some(answer) => answer.function.clone(),
            None if method == "ANY" => APP.to_owned(),
            None => {
                let most = answered.iter().max_by_key(|answer| counted(&answer.function));
                most.map_or_else(String::new, |answer| answer.function.clone())
            }
        };
        for answer in answered {
            let route =
                |path: String, function: &str| Route { path, method: method.clone(), function: function.to_owned() };
            if answer.function != owner {
                routes.insert(route(answer.path.clone(), &answer.function));
            } else if owner == APP {
                routes.insert(route("/app".to_owned(), APP));
                routes.insert(route(format!("/app{BELOW}"), APP));
            } else if answer.path == folder {
                routes.insert(route(folder.clone(), &owner));
            } else {
                routes.insert(route(format!("{folder}{BELOW}"), &owner));
            }
        }
    }
    routes.into_iter().collect()
}

/// Groups by method and the beginning of the path: `/api/v1/contacts`, `/app/agreements`.
fn groups(answers: &[Route]) -> BTreeMap<(String, String), Vec<&Route>> {
    let mut groups: BTreeMap<_, Vec<&Route>> = BTreeMap::new();
    for answer in answers {
        let segments = if answer.path.starts_with("/api/") { 4 } else { 3 };
        let folder = answer.path.split('/').take(segments).collect::<Vec<_>>().join("/");
        groups.entry((answer.method.clone(), folder)).or_default().push(answer);
    }
    groups
}

/// The function to which the gateway routes a request.
#[must_use]
pub fn function<'a>(routes: &'a [Route], method: &str, path: &str) -> &'a str {
    let fitting = routes.iter().filter_map(|route| Some((route.fit(method, path)?, route)));
    fitting.max_by_key(|(fit, _)| *fit).map_or(DEFAULT, |(_, route)| &route.function)
}

/// Delimit the routes in the template.
const MARKS: [&str; 2] = ["  # Begin of the routes\n", "  # End of the routes\n"];

/// Replaces the template's routes. `None` if it has no marks for them.
#[must_use]
pub fn with_routes(template: &str, routes: &[Route]) -> Option<String> {
    let (before, rest) = template.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    let lines: String = routes.iter().map(resource).collect();
    Some([before, MARKS[0], &lines, MARKS[1], after].concat())
}

fn resource(route: &Route) -> String {
    let words = |text: &str| -> String {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
    };
    let (function, method) = (words(&route.function), words(&route.method.to_lowercase()));
    let id = words(&route.path.replace(BELOW, "/below"));
    format!(
        "  Route{method}{id}: {{Type: AWS::ApiGatewayV2::Route, Properties: {{ApiId: !Ref Api, RouteKey: \"{route}\", \
         Target: !Sub \"integrations/${{{function}Integration}}\"}}}}\n"
    )
}

/// The pages of each app function.
#[must_use]
pub fn app_pages() -> Vec<(&'static str, Pages)> {
    vec![
        ("member-app", member_app::routes()),
        ("agreement-app", agreement_app::routes()),
        ("money-app", money_app::routes()),
        ("funding-app", funding_app::routes()),
        ("organization-app", organization_app::routes()),
        ("participant-app", participant_app::routes()),
        ("pictures", pictures::routes()),
        ("documents", documents::routes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_route_with_the_method_is_chosen() {
        let route = |method: &str, path: &str, function: &str| Route {
            path: path.to_owned(),
            method: method.to_owned(),
            function: function.to_owned(),
        };
        let routes = [
            route("ANY", "/app/{proxy+}", "all"),
            route("ANY", "/app/money/{proxy+}", "money"),
            route("GET", "/app/money/export", "export"),
            route("POST", "/app/money/{proxy+}", "posts"),
            route("ANY", "/app", "home"),
        ];
        for (method, path, expected) in [
            ("GET", "/app", "home"),
            ("GET", "/app/", DEFAULT),
            ("GET", "/app/x", "all"),
            ("GET", "/app/money", "all"),
            ("GET", "/app/money/x/y", "money"),
            ("POST", "/app/money/x", "posts"),
            ("GET", "/app/money/export", "export"),
            ("PUT", "/app/money/export", "money"),
            ("GET", "/apps", DEFAULT),
        ] {
            assert_eq!(function(&routes, method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn every_answer_is_reached_by_its_function() {
        let routes = routes();
        let keys: BTreeSet<String> = routes.iter().map(ToString::to_string).collect();
        assert_eq!(keys.len(), routes.len(), "a key has one function");
        for answer in answers() {
            let method = if answer.method == "ANY" { "POST" } else { &answer.method };
            assert_eq!(function(&routes, method, &answer.path), answer.function, "{answer}");
        }
    }

    #[test]
    fn every_act_of_a_page_has_words_in_the_audit_log() {
        let known: BTreeSet<&str> = shared::text::operations().map(|(id, _)| id).collect();
        let named = app_pages().into_iter().flat_map(|(_, pages)| pages.operations().to_vec());
        // The log doesn't have plain page views.
        let acts: BTreeSet<&str> = named.filter(|operation| !operation.starts_with("view_")).collect();
        assert!(acts.contains("add_step"), "{acts:?}");
        let without: Vec<_> = acts.difference(&known).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    /// `cargo lambda watch` routes pages as the gateway does.
    #[test]
    fn pages_are_watched_by_their_function() {
        let routes = include_str!("../../../CargoLambda.toml").lines().filter_map(|line| {
            let (path, function) = line.split_once(" = ")?;
            let function = function.strip_prefix('"')?.strip_suffix('"')?;
            Some(Route {
                path: path.trim_matches('"').replace("/{*path}", BELOW),
                method: "ANY".to_owned(),
                function: function.to_owned(),
            })
        });
        let routes: Vec<Route> = routes.collect();
        for answer in answers().iter().filter(|answer| answer.path.starts_with("/app")) {
            assert_eq!(function(&routes, "POST", &answer.path), answer.function, "{answer}");
        }
    }

    #[test]
    fn only_what_is_between_the_marks_is_written() {
        let route = Route {
            path: "/app/money/{proxy+}".to_owned(),
            method: "ANY".to_owned(),
            function: "money-app".to_owned(),
        };
        let template = format!("a\n{}old\n{}b\n", MARKS[0], MARKS[1]);
        let expected = format!(
            "a\n{}  RouteAnyAppMoneyBelow: {{Type: AWS::ApiGatewayV2::Route, Properties: {{ApiId: !Ref Api, RouteKey: \
             \"ANY /app/money/{{proxy+}}\", Target: !Sub \"integrations/${{MoneyAppIntegration}}\"}}}}\n{}b\n",
            MARKS[0], MARKS[1]
        );
        assert_eq!(with_routes(&template, &[route]), Some(expected));
        assert_eq!(with_routes("no marks", &[]), None);
    }
}
