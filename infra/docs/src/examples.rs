//! Examples that call each operation: for a shell, in Python and in TypeScript.
//!
//! Decision: address, token and ids come from the environment, so tests and readers run exactly what the page shows.

use std::fmt::Write;

use crate::api_description::Operation;

use serde_json::{Map, Value};

/// The variable with the API's address, without a final slash.
const URL: &str = "COUNTERSIGN_URL";
const TOKEN: &str = "COUNTERSIGN_TOKEN";
const ROWS: u32 = 10;
const LINE_CHARS_MAX: usize = 60;

#[derive(Debug)]
pub struct Example {
    pub language: &'static str,
    pub name: &'static str,
    pub code: String,
}

pub(crate) fn of(operation: Operation<'_>) -> Vec<Example> {
    let call = Call::of(operation);
    vec![
        Example { language: "sh", name: "curl", code: call.in_shell() },
        Example { language: "python", name: "Python", code: call.in_python() },
        Example { language: "typescript", name: "TypeScript", code: call.in_typescript() },
    ]
}

/// The variables that the examples read besides address and token, each with the name of its id.
pub(crate) fn variables(operation: Operation<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let _ = path_with(operation.path, |name| {
        found.push(variable(name));
        String::new()
    });
    if let Some(body) = operation.body_example() {
        variables_in(body, &mut found);
    }
    found
}

fn variables_in(value: &Value, found: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            _ if is_id(name) => found.push(variable(name)),
            other => variables_in(other, found),
        }
    }
}

fn is_id(name: &str) -> bool {
    name.ends_with("_id") || name.ends_with("_ids")
}

/// The variable with an id: `CONTACT_ID` for `contact_id` and `owner_contact_ids`.
fn variable(name: &str) -> String {
    match name.trim_end_matches('s') {
        // Papering needs ready items.
        "item_id" if name.ends_with('s') => "READY_ITEM_ID".to_owned(),
        one if one.ends_with("contact_id") => "CONTACT_ID".to_owned(),
        one => one.to_uppercase(),
    }
}

fn path_with(path: &str, mut of: impl FnMut(&str) -> String) -> String {
    let parts = path.split(['{', '}']).enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { of(part) } else { part.to_owned() }).collect()
}

struct Call<'a> {
    method: String,
    path: String,
    query: String,
    headers: Vec<(&'static str, String)>,
    body: Option<&'a Value>,
    is_public: bool,
}

struct Syntax {
    null: &'static str,
    flags: [&'static str; 2],
    has_plain_names: bool,
    ends_with_comma: bool,
    step: &'static str,
    variable: fn(&str) -> String,
}

const SHELL: Syntax = Syntax {
    null: "null",
    flags: ["false", "true"],
    has_plain_names: false,
    ends_with_comma: false,
    step: "  ",
    variable: |name| format!("\"${name}\""),
};

const PYTHON: Syntax = Syntax {
    null: "None",
    flags: ["False", "True"],
    has_plain_names: false,
    ends_with_comma: true,
    step: "    ",
    variable: |name| format!("os.environ[\"{name}\"]"),
};

const TYPESCRIPT: Syntax = Syntax {
    null: "null",
    flags: ["false", "true"],
    has_plain_names: true,
    ends_with_comma: true,
    step: "  ",
    variable: |name| format!("process.env.{name}"),
};

impl<'a> Call<'a> {
    fn of(operation: Operation<'a>) -> Self {
        let body = operation.body_example();
        let mut headers = Vec::new();
        if body.is_some() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        if operation.takes("header", "Idempotency-Key") {
            headers.push(("Idempotency-Key", format!("{}-1", operation.id().replace('_', "-"))));
        }
        Self {
            method: operation.method.to_uppercase(),
            path: operation.path.to_owned(),
            query: if operation.takes("query", "limit") { format!("?limit={ROWS}") } else { String::new() },
            headers,
            body,
            is_public: operation.is_public(),
        }
    }

    /// The path and query, with ids as the language writes them into a text.
    fn target(&self, of: impl Fn(&str) -> String) -> String {
        path_with(&self.path, |name| of(&variable(name))) + &self.query
    }

    fn in_shell(&self) -> String {
        // With a body, the method is POST unless stated.
        let method = if self.method == "PATCH" { " -X PATCH" } else { "" };
        let target = self.target(|name| format!("${name}"));
        let mut lines = vec![format!("curl -sS{method} \"${URL}{target}\"")];
        if !self.is_public {
            lines.push(format!("  -H \"Authorization: Bearer ${TOKEN}\""));
        }
        lines.extend(self.headers.iter().map(|(name, value)| format!("  -H \"{name}: {value}\"")));
        match self.body {
            Some(body) => {
                lines.push("  -d @- <<JSON".to_owned());
                format!("{}\n{}\nJSON\n", lines.join(" \\\n"), SHELL.write(body, 0))
            }
            None => lines.join(" \\\n") + "\n",
        }
    }

    fn in_python(&self) -> String {
        let target = self.target(|name| format!("{{os.environ['{name}']}}"));
        let mut code = if self.body.is_some() { "import json\n" } else { "" }.to_owned();
        code += "import os\nimport urllib.request\n\n";
        let _ = write!(code, "request = urllib.request.Request(\n    f\"{{os.environ['{URL}']}}{target}\",\n");
        if self.method != "GET" {
            let _ = writeln!(code, "    method=\"{}\",", self.method);
        }
        let token =
            (!self.is_public).then(|| format!("        \"Authorization\": f\"Bearer {{os.environ['{TOKEN}']}}\",\n"));
        let headers = self.headers.iter().map(|(name, value)| format!("        \"{name}\": \"{value}\",\n"));
        let headers: String = token.into_iter().chain(headers).collect();
        if !headers.is_empty() {
            let _ = write!(code, "    headers={{\n{headers}    }},\n");
        }
        if let Some(body) = self.body {
            let _ = writeln!(code, "    data=json.dumps({}).encode(),", PYTHON.write(body, 1));
        }
        code + ")\nwith urllib.request.urlopen(request) as response:\n    print(response.status, response.read().decode())\n"
    }

    fn in_typescript(&self) -> String {
        let target = self.target(|name| format!("${{process.env.{name}}}"));
        let mut code = format!("const url = `${{process.env.{URL}}}{target}`;\nconst response = await fetch(url");
        let token = (!self.is_public).then(|| format!("    \"Authorization\": `Bearer ${{process.env.{TOKEN}}}`,\n"));
        let headers = self.headers.iter().map(|(name, value)| format!("    \"{name}\": \"{value}\",\n"));
        let headers: String = token.into_iter().chain(headers).collect();
        if !headers.is_empty() {
            code += ", {\n";
            if self.method != "GET" {
                let _ = writeln!(code, "  method: \"{}\",", self.method);
            }
            let _ = write!(code, "  headers: {{\n{headers}  }},\n");
            if let Some(body) = self.body {
                let _ = writeln!(code, "  body: JSON.stringify({}),", TYPESCRIPT.write(body, 1));
            }
            code += "}";
        }
        code + ");\nconsole.log(response.status, await response.json());\n"
    }
}

impl Syntax {
    /// A value whose first line is in place, and whose others are indented by this many steps.
    fn write(&self, value: &Value, depth: usize) -> String {
        match value {
            Value::Null => self.null.to_owned(),
            Value::Bool(flag) => self.flags[usize::from(*flag)].to_owned(),
            Value::Number(number) => number.to_string(),
            // A JSON text is also one in Python and TypeScript.
            Value::String(_) => value.to_string(),
            Value::Array(values) => {
                let items: Vec<String> = values.iter().map(|value| self.write(value, depth + 1)).collect();
                let line = format!("[{}]", items.join(", "));
                if line.len() <= LINE_CHARS_MAX { line } else { self.block(['[', ']'], &items, depth) }
            }
            Value::Object(members) => self.block(['{', '}'], &self.members(members, depth + 1), depth),
        }
    }

    fn members(&self, members: &Map<String, Value>, depth: usize) -> Vec<String> {
        let member = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::Array(_) if is_id(name) => format!("[{}]", (self.variable)(&variable(name))),
                Value::String(_) if is_id(name) => (self.variable)(&variable(name)),
                other => self.write(other, depth),
            };
            let name = if self.has_plain_names { name.clone() } else { format!("\"{name}\"") };
            format!("{name}: {value}")
        };
        members.iter().map(member).collect()
    }

    fn block(&self, [open, close]: [char; 2], lines: &[String], depth: usize) -> String {
        let (inner, outer) = (self.step.repeat(depth + 1), self.step.repeat(depth));
        let end = if self.ends_with_comma { "," } else { "" };
        format!("{open}\n{inner}{}{end}\n{outer}{close}", lines.join(&format!(",\n{inner}")))
    }
}
