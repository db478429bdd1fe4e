//! The paths of a bundle's files. People chose the names: each gets a number, and loses forbidden characters.

/// The maximum size of a name in a path, which keeps paths far below the bundle's limit.
const NAME_BYTES_MAX: usize = 120;

pub(crate) fn numbered(folder: &str, place: usize, name: &str, ending: &str) -> String {
    let name = name.strip_suffix(&format!(".{ending}")).unwrap_or(name);
    let kept: String = name.chars().map(|letter| if is_kept(letter) { letter } else { '_' }).collect();
    let mut end = kept.len().min(NAME_BYTES_MAX);
    while !kept.is_char_boundary(end) {
        end -= 1;
    }
    format!("{folder}/{place:03} {}.{ending}", kept[..end].trim())
}

fn is_kept(letter: char) -> bool {
    letter != '/' && crate::is_safe_path(&format!("a{letter}a"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_safe_paths() {
        let long = "契".repeat(200);
        for (name, path) in [
            ("Lease", "documents/001 Lease.pdf"),
            ("Lease.pdf", "documents/001 Lease.pdf"),
            ("../../etc/passwd", "documents/001 .._.._etc_passwd.pdf"),
            ("a\u{202e}fdp.exe", "documents/001 a_fdp.exe.pdf"),
            ("Übergabe: 1/2?", "documents/001 Übergabe_ 1_2_.pdf"),
            ("合同", "documents/001 合同.pdf"),
            (&long, &format!("documents/001 {}.pdf", "契".repeat(40))),
        ] {
            let found = numbered("documents", 1, name, "pdf");
            assert_eq!(found, path);
            assert!(crate::is_safe_path(&found), "{found}");
        }
        assert!(crate::is_safe_path(&numbered("documents", 1, "", "pdf")));
    }
}
