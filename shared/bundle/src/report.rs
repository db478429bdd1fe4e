use std::borrow::Cow;
use std::fmt;

use crate::manifest::Manifest;
use crate::path;

/// What is wrong with a file or with the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The file's content differs from the manifest.
    Changed,
    /// The manifest doesn't name the file.
    Added,
    /// The file or the signature is missing.
    Missing,
    /// The manifest is not what the service signed.
    ManifestChanged,
    /// The key document lacks the manifest's key, or has another under its id.
    UnknownKey,
    /// Others may have had the key that signed the manifest.
    CompromisedKey,
    /// The file is not a bundle, or deviates from a bundle's form.
    NotABundle,
    /// The bundle is what the service signed, but its payment records contradict each other or its files.
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

/// A problem found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The path of the file concerned, chosen by the bundle's maker; none for all. A [`Report`] escapes it.
    pub path: Option<String>,
    /// Details beyond the kind: a sentence without its period, possibly empty.
    pub detail: Cow<'static, str>,
}

/// The result of a verification, with all problems. Displays as a line per file and the verdict.
#[derive(Debug, Default)]
#[must_use]
pub struct Report {
    /// The manifest, if signed by a known, uncompromised key: nobody must rely on unproven content.
    pub manifest: Option<Manifest>,
    /// The paths of the files that match the manifest, in its order. Proves nothing without [`Report::manifest`].
    pub matching: Vec<String>,
    /// The problems: first the zip's, then manifest and signature, then files by path.
    pub problems: Vec<Problem>,
    /// Whether another program packed the zip: the files were compared, the bytes around them were not.
    pub is_repacked: bool,
}

impl Report {
    /// Whether the bundle is, byte by byte, what the service made and signed.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.is_whole() && !self.is_repacked
    }

    /// Whether each file is what the service signed, none is missing and there is no other, whoever packed the zip.
    #[must_use]
    pub fn is_whole(&self) -> bool {
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
            Some(manifest) if self.problems.is_empty() => write_verdict(f, manifest, self.is_repacked),
            _ => write!(f, "NOT VERIFIED: {}", counted(self.problems.len(), "problem")),
        }
    }
}

fn write_verdict(f: &mut fmt::Formatter<'_>, manifest: &Manifest, is_repacked: bool) -> fmt::Result {
    let Manifest { service, organization_id, agreement_id, created_at, signing_key, files, .. } = manifest;
    let files = counted(files.len(), "file");
    let verdict = if is_repacked { "CONTENTS WHOLE, CONTAINER REPACKED" } else { "VERIFIED" };
    writeln!(f, "{verdict}: {files}, signed by {service} with the key {}", signing_key.id())?;
    write!(f, "Organization {organization_id}, agreement {agreement_id}, as of {created_at}")
}

fn visible(path: &str) -> String {
    let shown = |letter: char| {
        if path::is_forbidden(letter) { letter.escape_unicode().to_string() } else { letter.to_string() }
    };
    path.chars().map(shown).collect()
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
