//! The tools in `tools.json`, each with its operation.

use std::sync::OnceLock;

use http::Method;
use serde_json::Value;

/// The output of [`crate::catalog`].
const TOOLS: &str = include_str!("../tools.json");

#[derive(Debug)]
pub(crate) struct Tool {
    pub name: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub shown: Value,
}

impl Tool {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        all().iter().find(|tool| tool.name == name)
    }

    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.shown["inputSchema"]["properties"].get(argument).is_some()
    }
}

pub(crate) fn all() -> &'static [Tool] {
    static ALL: OnceLock<Vec<Tool>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read: Vec<Value> = serde_json::from_str(TOOLS).unwrap_or_default();
        read.iter().filter_map(tool).collect()
    })
}

fn tool(entry: &Value) -> Option<Tool> {
    let text = |value: &Value| value.as_str().map(|text| &*String::from(text).leak());
    let method = entry["method"].as_str()?.parse().ok()?;
    Some(Tool {
        name: text(&entry["tool"]["name"])?,
        method,
        path: text(&entry["path"])?,
        shown: entry["tool"].clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_read() {
        let entries: Vec<Value> = serde_json::from_str(TOOLS).unwrap();
        assert_eq!(all().len(), entries.len());
        for tool in all() {
            let mut parameters =
                tool.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
            assert!(parameters.all(|name| tool.takes(name)), "{}", tool.name);
        }
    }
}
