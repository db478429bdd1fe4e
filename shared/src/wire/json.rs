//! Parses JSON strictly: UTF-8, bounded depth, and no duplicate keys, which two readers may understand differently.

use std::fmt;

use deserr::ValuePointerRef;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::wire::fields::{FieldCode, FieldErrors};

/// Parses one JSON value. The error is `malformed_json` at the body, or at a duplicate key.
pub fn parse(bytes: &[u8]) -> Result<Value, FieldErrors> {
    let mut duplicates = FieldErrors::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let seed = StrictValue { path: ValuePointerRef::Origin, duplicates: &mut duplicates };
    let value = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(value) if duplicates.is_empty() => Ok(value),
        Ok(_) => Err(duplicates),
        Err(error) => Err(FieldErrors::one(
            "body",
            FieldCode::MalformedJson,
            // serde_json's own message may quote the input.
            format!(
                "must be well-formed JSON in UTF-8, at most 128 levels deep; see line {} column {}",
                error.line(),
                error.column()
            ),
        )),
    }
}

struct StrictValue<'a> {
    /// Formatted only for a duplicate key.
    path: ValuePointerRef<'a>,
    duplicates: &'a mut FieldErrors,
}

impl<'de> DeserializeSeed<'de> for StrictValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = self.path.push_index(list.len());
            let seed = StrictValue { path, duplicates: self.duplicates };
            match elements.next_element_seed(seed)? {
                Some(element) => list.push(element),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = self.path.push_key(&key);
            let value = entries.next_value_seed(StrictValue { path, duplicates: self.duplicates })?;
            if object.contains_key(&key) {
                self.duplicates.add_at(path, FieldCode::MalformedJson, "may be given only once");
            } else {
                object.insert(key, value);
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Vec<String> {
        parse(bytes).unwrap_err().into_list().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn well_formed_json_is_read_as_it_is() {
        let text = r#"{"a": [1, -2, 3.5, null, true, "é\u00e9"], "b": {"a": {}}}"#;
        assert_eq!(parse(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_doubled_key_is_named() {
        assert_eq!(fields(br#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": 2}"#), ["b[0].c", "a"]);
    }

    #[test]
    fn what_is_no_json_is_refused_as_a_whole() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for bytes in [
            &b"{"[..],
            b"{}{}",
            b"\xff",
            b"{\"a\": \"\xc3\"}",
            br#"{"a": "\ud800"}"#,
            b"NaN",
            b"1e999",
            deep.as_bytes(),
        ] {
            assert_eq!(fields(bytes), ["body"], "{}", String::from_utf8_lossy(bytes));
        }
    }
}
