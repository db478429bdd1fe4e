//! Parses XML into a tree of known elements: no DTD, only XML's own entities, bounded depth and size.
//!
//! - Decision: elements outside [`KNOWN`] are dropped: the tree is small, and extensions can't look like an amount.
//! - Decision: the root's prefix tells the namespace; `NsReader` takes quadratic time on a hostile file.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::limits;
use crate::problem::Problem;
use crate::refusal::{Refusal, XmlProblem};
use crate::text::{quoted, shortened};

/// Elements that are read, sorted.
const KNOWN: &[&str] = &[
    "Acct",
    "AcctOwnrTxId",
    "AcctSvcrRef",
    "AcctSvcrTxId",
    "AddtlNtryInf",
    "AddtlTxInf",
    "Amt",
    "AmtDtls",
    "BIC",
    "BICFI",
    "Bal",
    "BkToCstmrAcctRpt",
    "BkToCstmrDbtCdtNtfctn",
    "BkToCstmrStmt",
    "BookgDt",
    "Cd",
    "CdOrPrtry",
    "CdtDbtInd",
    "Cdtr",
    "CdtrRefInf",
    "ChqNb",
    "ClrSysMmbId",
    "ClrSysRef",
    "Dbtr",
    "Dt",
    "DtTm",
    "EndToEndId",
    "FinInstnId",
    "IBAN",
    "Id",
    "InstrId",
    "LastPgInd",
    "MktInfrstrctrTxId",
    "MmbId",
    "MndtId",
    "MsgId",
    "Nm",
    "Ntfctn",
    "Ntry",
    "NtryDtls",
    "NtryRef",
    "Othr",
    "PgNb",
    "PmtInfId",
    "Prtry",
    "Pty",
    "Ref",
    "Refs",
    "RltdPties",
    "RmtInf",
    "Rpt",
    "RtrInf",
    "RvslInd",
    "Stmt",
    "StmtPgntn",
    "Strd",
    "Sts",
    "Svcr",
    "Tp",
    "TxAmt",
    "TxDtls",
    "TxId",
    "UETR",
    "UltmtCdtr",
    "UltmtDbtr",
    "Ustrd",
    "ValDt",
];

#[derive(Debug)]
pub(crate) struct Element {
    pub name: &'static str,
    pub line: usize,
    pub currency: Option<String>,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    pub fn all<'a>(&'a self, name: &'static str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub fn one(&self, name: &'static str) -> Result<Option<&Self>, Refusal> {
        let mut found = self.all(name);
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some(second) => Err(Refusal::Field { line: second.line, field: name, problem: Problem::Repeated }),
        }
    }

    pub fn needed(&self, name: &'static str) -> Result<&Self, Refusal> {
        self.one(name)?.ok_or(Refusal::Field { line: self.line, field: name, problem: Problem::Missing })
    }

    pub fn first(&self, path: &[&'static str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| element.all(name).next())
    }

    pub fn value(&self) -> &str {
        self.text.trim()
    }

    pub fn refused(&self, problem: Problem) -> Refusal {
        Refusal::Field { line: self.line, field: self.name, problem }
    }
}

pub(crate) struct Document {
    pub name: String,
    pub namespace: String,
    pub children: Vec<Element>,
}

pub(crate) fn parse(text: &str) -> Result<Document, Refusal> {
    let mut parser =
        Parser { text, line: 1, counted: 0, elements: 0, depth: 0, skipping: 0, root: None, open: Vec::new() };
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        parser.count_lines(start);
        let event = reader.read_event().map_err(|error| parser.broken(&error))?;
        match event {
            Event::Eof => return parser.finish(),
            Event::Start(tag) => parser.start(&tag)?,
            Event::Empty(tag) => {
                parser.start(&tag)?;
                parser.end();
            }
            Event::End(_) => parser.end(),
            Event::Text(text) => parser.text(&text)?,
            Event::CData(text) => parser.text(&text)?,
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().map_err(|error| parser.broken(&error))?;
                let letter = match (letter, &*reference) {
                    (Some(letter), _) => letter,
                    (None, "amp") => '&',
                    (None, "lt") => '<',
                    (None, "gt") => '>',
                    (None, "quot") => '"',
                    (None, "apos") => '\'',
                    (None, name) => {
                        return Err(
                            parser.refused(XmlProblem::Entity { name: shortened(name, limits::QUOTE_CHARS_MAX) })
                        );
                    }
                };
                parser.text(letter.encode_utf8(&mut [0; 4]))?;
            }
            Event::DocType(_) => return Err(parser.refused(XmlProblem::Doctype)),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
    }
}

struct Root {
    name: String,
    prefix: Option<String>,
    namespace: String,
    children: Vec<Element>,
    is_closed: bool,
}

struct Parser<'a> {
    text: &'a str,
    /// The line that the first [`Parser::counted`] bytes reach.
    line: usize,
    counted: usize,
    elements: usize,
    depth: usize,
    skipping: usize,
    root: Option<Root>,
    open: Vec<Element>,
}

impl Parser<'_> {
    fn count_lines(&mut self, to: usize) {
        let passed = self.text.get(self.counted..to).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.counted = self.counted.max(to);
    }

    fn refused(&self, problem: XmlProblem) -> Refusal {
        Refusal::Xml { line: self.line, problem }
    }

    fn broken(&self, error: &quick_xml::Error) -> Refusal {
        let detail = error.to_string();
        self.refused(XmlProblem::Broken { detail: quoted(&detail) })
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Refusal> {
        self.elements += 1;
        self.depth += 1;
        if self.elements > limits::XML_ELEMENTS_MAX {
            return Err(self.refused(XmlProblem::TooManyElements));
        }
        if self.depth > limits::XML_DEPTH_MAX {
            return Err(self.refused(XmlProblem::TooDeep));
        }
        if tag.attributes_raw().len() > limits::XML_ATTRIBUTES_BYTES_MAX {
            return Err(self.refused(XmlProblem::TooManyAttributes));
        }
        let (mut currency, mut namespaces) = (None, Vec::new());
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| self.broken(&error.into()))?;
            let name: &str = attribute.key.as_ref();
            let declares = name == "xmlns" || name.starts_with("xmlns:");
            if declares || name == "Ccy" {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| self.broken(&error))?;
                if declares {
                    namespaces.push((name.to_owned(), value.into_owned()));
                } else {
                    currency = Some(value.into_owned());
                }
            }
        }
        let name: &str = tag.name().0;
        let (prefix, name) = name.split_once(':').map_or((None, name), |(prefix, name)| (Some(prefix), name));
        let declared = prefix.map_or("xmlns".to_owned(), |prefix| format!("xmlns:{prefix}"));
        let namespace = namespaces.into_iter().find(|(name, _)| *name == declared).map(|(_, namespace)| namespace);
        self.enter(prefix, name, namespace, currency)
    }

    fn enter(
        &mut self,
        prefix: Option<&str>,
        name: &str,
        namespace: Option<String>,
        currency: Option<String>,
    ) -> Result<(), Refusal> {
        let Some(root) = &self.root else {
            self.root = Some(Root {
                name: name.to_owned(),
                prefix: prefix.map(str::to_owned),
                namespace: namespace.unwrap_or_default(),
                children: Vec::new(),
                is_closed: false,
            });
            return Ok(());
        };
        if root.is_closed {
            return Err(self.refused(XmlProblem::Broken { detail: "a second root".to_owned() }));
        }
        let is_ours = prefix == root.prefix.as_deref() && namespace.is_none_or(|namespace| namespace == root.namespace);
        let known = KNOWN.binary_search(&name).ok().and_then(|at| KNOWN.get(at)).filter(|_| is_ours);
        match known {
            Some(name) if self.skipping == 0 => {
                self.open.push(Element { name, line: self.line, currency, text: String::new(), children: Vec::new() });
            }
            _ => self.skipping += 1,
        }
        Ok(())
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.skipping > 0 {
            self.skipping -= 1;
        } else if let Some(element) = self.open.pop() {
            let parent = match (self.open.last_mut(), &mut self.root) {
                (Some(parent), _) => &mut parent.children,
                (None, Some(root)) => &mut root.children,
                (None, None) => return,
            };
            parent.push(element);
        } else if let Some(root) = &mut self.root {
            root.is_closed = true;
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Refusal> {
        if self.depth == 0 && !text.trim().is_empty() {
            return Err(self.refused(XmlProblem::Broken { detail: "text outside the root".to_owned() }));
        }
        if self.skipping == 0
            && let Some(element) = self.open.last_mut()
        {
            element.text.push_str(text);
        }
        Ok(())
    }

    fn finish(self) -> Result<Document, Refusal> {
        let cut_off = Refusal::Xml { line: self.line, problem: XmlProblem::CutOff };
        match self.root {
            Some(Root { name, namespace, children, is_closed: true, .. }) => Ok(Document { name, namespace, children }),
            _ => Err(cut_off),
        }
    }
}
