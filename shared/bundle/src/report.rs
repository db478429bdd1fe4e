//! What a verification found.

use std::borrow::Cow;
use std::fmt;

use crate::manifest::Manifest;
use crate::path;

/// What is wrong with a file or with the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The file has another content than the manifest says.
    Changed,
    /// The bundle has a file that the manifest does not name.
    Added,
    /// The manifest names a file that the bundle does not have; or the signature is missing.
    Missing,
    /// The manifest is not what the service signed.
    ManifestChanged,
    /// The key document does not have the key that signed the manifest, or has another under its id.
    UnknownKey,
    /// Others than the service may have had the key that signed the manifest.
    CompromisedKey,
    /// The file is no bundle, or something in it is not as it is in every bundle.
    NotABundle,
    /// The bundle is what the service signed, and its records of payments contradict each other or its files.
    Inconsistent,
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Missing => "missing",
            Self::ManifestChanged => "manifest changed",
            Self::UnknownKey => "unknown key",
            Self::CompromisedKey => "compromised key",
            Self::NotABundle => "not a bundle",
            Self::Inconsistent => "inconsistent",
        })
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The path of the file with which it is wrong; none if it is the bundle as a whole. Whoever made the bundle chose it:
    /// it may be anything, and a displayed [`Report`] escapes it.
    pub path: Option<String>,
    /// What was found, where the kind does not say all. A sentence for people, without its period; may be empty.
    pub detail: Cow<'static, str>,
}

/// What a verification found: all problems, not only the first. Displayed, it has a line for each file and the verdict.
#[derive(Debug, Default)]
#[must_use]
pub struct Report {
    /// The manifest, if a key of the key document signed it that nobody else had. None else, so that nobody relies on what is not proven.
    pub manifest: Option<Manifest>,
    /// The paths of the files that are as the manifest says, in its order. Without [`Report::manifest`] that proves nothing.
    pub matching: Vec<String>,
    /// The problems: those of the zip, then those of manifest and signature, then those of files in the order of paths.
    pub problems: Vec<Problem>,
}

impl Report {
    /// Whether the bundle is, byte by byte, what the service made and signed.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.manifest.is_some() && self.problems.is_empty()
    }

    pub(crate) fn add(&mut self, kind: ProblemKind, path: Option<&str>, detail: impl Into<Cow<'static, str>>) {
        self.problems.push(Problem { kind, path: path.map(str::to_owned), detail: detail.into() });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matching = if self.manifest.is_some() { "ok" } else { "not proven" };
        for path in &self.matching {
            writeln!(f, "{matching:<16}  {}", visible(path))?;
        }
        for Problem { kind, path, detail } in &self.problems {
            let path = path.as_deref().map_or("(the whole file)".to_owned(), visible);
            let separator = if detail.is_empty() { "" } else { ": " };
            writeln!(f, "{kind:<16}  {path}{separator}{detail}")?;
        }
        match &self.manifest {
            Some(manifest) if self.problems.is_empty() => write_verdict(f, manifest),
            _ => write!(f, "NOT VERIFIED: {}", counted(self.problems.len(), "problem")),
        }
    }
}

fn write_verdict(f: &mut fmt::Formatter<'_>, manifest: &Manifest) -> fmt::Result {
    let Manifest { service, organization_id, agreement_id, created_at, signing_key, files, .. } = manifest;
    let files = counted(files.len(), "file");
    writeln!(f, "VERIFIED: {files}, signed by {service} with the key {}", signing_key.id())?;
    write!(f, "Organization {organization_id}, agreement {agreement_id}, as of {created_at}")
}

/// A path without letters that show something else than it is, or that a terminal takes for a command.
fn visible(path: &str) -> String {
    let shown = |letter: char| {
        if path::is_forbidden(letter) { letter.escape_unicode().to_string() } else { letter.to_string() }
    };
    path.chars().map(shown).collect()
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
