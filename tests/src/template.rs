//! `infra/template.yaml` with short intrinsic functions written out (`!Ref X` is `{"Ref": "X"}`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use local::gateway::Route;
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value, json};

/// The template's text.
pub const TEXT: &str = include_str!("../../infra/template.yaml");

/// The stack's name in the template's texts.
pub const STACK_NAME: &str = "countersign-test";

/// The whole template.
#[must_use]
pub fn template() -> &'static Value {
    static TEMPLATE: OnceLock<Value> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let documents = Yaml::load_from_str(TEXT).expect("the template is YAML");
        value(documents.first().expect("a document"))
    })
}

/// The properties of a resource.
#[must_use]
pub fn properties(resource: &str) -> &'static Value {
    let resource = &template()["Resources"][resource];
    assert!(resource.is_object(), "the template has no such resource");
    &resource["Properties"]
}

/// The resources of a type, with their properties.
pub fn resources(of_type: &str) -> impl Iterator<Item = (&'static str, &'static Value)> {
    let all = template()["Resources"].as_object().into_iter().flatten();
    all.filter(move |(_, resource)| resource["Type"] == of_type)
        .map(|(id, resource)| (id.as_str(), &resource["Properties"]))
}

/// A function in the template.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name without the stack's: that of its crate.
    pub name: String,
    /// Its logical id.
    pub id: &'static str,
    /// Its properties.
    pub properties: &'static Value,
}

/// The functions by name.
#[must_use]
pub fn functions() -> BTreeMap<String, Function> {
    let function = |(id, properties): (&'static str, &'static Value)| {
        let name = text(&properties["FunctionName"]);
        let name =
            name.strip_prefix(&format!("{STACK_NAME}-")).expect("a name that begins with the stack's").to_owned();
        (name.clone(), Function { name, id, properties })
    };
    resources("AWS::Serverless::Function").map(function).collect()
}

impl Function {
    /// Its environment in the template. Each variable names its parts.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, Value> {
        let of = |place: &'static Value| place["Environment"]["Variables"].as_object().into_iter().flatten();
        let all = of(&template()["Globals"]["Function"]).chain(of(self.properties));
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The actions that its role allows.
    #[must_use]
    pub fn actions(&self) -> BTreeSet<String> {
        let role = self.properties["Role"]["Fn::GetAtt"][0].as_str().expect("a role of the template");
        assert_eq!(role, format!("{}Role", self.id), "a role of its own");
        let policies = properties(role)["Policies"].as_array().into_iter().flatten();
        let statements =
            policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().into_iter().flatten());
        let actions = statements.flat_map(|statement| {
            let actions = &statement["Action"];
            actions.as_array().map_or(std::slice::from_ref(actions), Vec::as_slice)
        });
        actions.map(|action| action.as_str().expect("an action").to_owned()).collect()
    }
}

/// The API's routes.
#[must_use]
pub fn routes() -> Vec<Route> {
    let names: BTreeMap<&str, String> =
        functions().into_values().map(|function| (function.id, function.name)).collect();
    let route = |(_, properties): (&str, &Value)| {
        let key = properties["RouteKey"].as_str().expect("a key");
        let target = properties["Target"]["Fn::Sub"].as_str().expect("a target");
        let integration = target.strip_prefix("integrations/${").and_then(|rest| rest.strip_suffix('}'));
        let integration = self::properties(integration.expect("an integration"));
        let function = integration["IntegrationUri"]["Fn::GetAtt"][0].as_str().expect("a function");
        let (method, path) = key.split_once(' ').unwrap_or(("ANY", key));
        Route { path: path.to_owned(), method: method.to_owned(), function: names[function].clone() }
    };
    resources("AWS::ApiGatewayV2::Route").map(route).collect()
}

/// A part of the template if exactly these conditions hold.
#[must_use]
pub fn with_conditions(value: &Value, hold: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            if let Some([condition, then, otherwise]) =
                members.get("Fn::If").and_then(Value::as_array).map(Vec::as_slice)
            {
                let holds = condition.as_str().is_some_and(|condition| hold.contains(&condition));
                return with_conditions(if holds { then } else { otherwise }, hold);
            }
            let members = members.iter().map(|(name, value)| (name.clone(), with_conditions(value, hold)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(|item| with_conditions(item, hold)).collect(),
        other => other.clone(),
    }
}

/// Names of parameters and resources that a part of the template refers to, with repetitions.
#[must_use]
pub fn mentions(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_mentions(value, &mut found);
    found
}

fn collect_mentions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                match (name.as_str(), inner) {
                    ("Ref" | "DependsOn", Value::String(of)) => found.push(of.clone()),
                    ("Fn::GetAtt", Value::Array(path)) => found.extend(path[0].as_str().map(str::to_owned)),
                    ("Fn::Sub", Value::String(text)) => found.extend(substituted(text)),
                    ("Fn::Sub", Value::Array(parts)) => {
                        found.extend(substituted(parts[0].as_str().unwrap_or_default()));
                        collect_mentions(&parts[1], found);
                    }
                    _ => collect_mentions(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_mentions(item, found)),
        _ => {}
    }
}

fn substituted(text: &str) -> impl Iterator<Item = String> {
    let names = text.split("${").skip(1).filter_map(|rest| rest.split(['}', '.']).next());
    names.map(str::to_owned)
}

/// A text with the stack's name filled in.
#[must_use]
pub fn text(value: &Value) -> String {
    let text = value.as_str().or_else(|| value["Fn::Sub"].as_str()).expect("a text");
    let text = text.replace("${AWS::StackName}", STACK_NAME);
    assert!(!text.contains("${"), "{text}");
    text
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(is)) => json!(is),
        Yaml::Value(Scalar::Integer(number)) => json!(number),
        Yaml::Value(Scalar::FloatingPoint(number)) => json!(number.into_inner()),
        Yaml::Value(Scalar::String(text)) => json!(text),
        Yaml::Sequence(items) => items.iter().map(value).collect(),
        Yaml::Mapping(members) => {
            let member =
                |(name, it): (&Yaml<'_>, &Yaml<'_>)| (name.as_str().expect("a name is a text").to_owned(), value(it));
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Yaml::Tagged(tag, it) => match (tag.suffix.as_str(), value(it)) {
            (name @ ("Ref" | "Condition"), it) => json!({name: it}),
            ("GetAtt", it) => json!({"Fn::GetAtt": it.as_str().unwrap_or_default().split('.').collect::<Vec<_>>()}),
            (name, it) => json!({format!("Fn::{name}"): it}),
        },
        other => panic!("the template has what this reader does not know: {other:?}"),
    }
}
