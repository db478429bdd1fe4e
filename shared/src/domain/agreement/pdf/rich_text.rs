//! Reads a field's rich text (ISO 32000-1, 12.7.3.4): XHTML of few elements.
//!
//! Decision: what programs could read differently (comments, other elements, unknown entities) is [`UNKNOWN`].

use super::encoding::UNKNOWN;

const ELEMENTS: [&str; 10] = ["html", "body", "p", "span", "b", "i", "u", "br", "sub", "sup"];

pub(super) fn text(marked: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(marked.len()), marked);
    while let Some(at) = rest.find(['<', '&']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let (is_tag, end) = if found.starts_with('<') { (true, '>') } else { (false, ';') };
        let Some((inside, behind)) = found.get(1..).and_then(|behind| behind.split_once(end)) else {
            text.push(UNKNOWN);
            return text;
        };
        if !is_tag {
            text.push(character(inside).unwrap_or(UNKNOWN));
        } else if !is_usual(inside) {
            text.push(UNKNOWN);
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// Whether a tag is whole, and of an element that only formats its text.
fn is_usual(tag: &str) -> bool {
    if let Some(declaration) = tag.strip_prefix("?xml ") {
        return declaration.ends_with('?');
    }
    let name = tag.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '/').next();
    let mut quote = None;
    for mark in tag.chars().filter(|c| matches!(c, '"' | '\'')) {
        match quote {
            None => quote = Some(mark),
            Some(open) if open == mark => quote = None,
            Some(_) => {}
        }
    }
    quote.is_none() && !tag.contains('<') && name.is_some_and(|name| ELEMENTS.contains(&name))
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_is_what_every_program_reads() {
        for (marked, read) in [
            ("plain", "plain"),
            ("<?xml version=\"1.0\"?><body><p style='font-size:9pt'>USD <b>9</b></p></body>", "USD 9"),
            ("<p>1 &lt; 2 &amp;&#32;&#x33;</p>", "1 < 2 & 3"),
            ("a<br/>b", "ab"),
        ] {
            assert_eq!(text(marked), read, "{marked}");
        }
        for marked in [
            "<p>9<!-- 9 --></p>",
            "<![CDATA[9]]>",
            "<script>9</script>",
            "<p title='>'>9</p>",
            "<p title='\"' id='>9</p>'",
            "<?php 9 >",
            "<p <b>9",
            "&nbsp;9",
            "&#xD800;",
            "9 < 10",
            "&amp",
        ] {
            assert!(text(marked).contains(UNKNOWN), "{marked}");
        }
    }
}
