//! Looks over an XML file and what it includes before a parser reads it: sizes, depth, where includes lead, and which
//! elements and attributes nobody here knows. It gives no meaning to any of them.
//!
//! The parsers walk elements by recursion and read includes wherever they lead, so this comes first.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use roxmltree::{Document, Node};

use super::ImportError;
use super::limits::{INCLUDES_MAX, XML_DEPTH_MAX, XML_LEN_MAX};

/// What of a format is known here.
pub(super) struct Format {
    /// Elements, and their attributes that count.
    pub(super) known: &'static [(&'static str, &'static [&'static str])],
    /// Elements that mean nothing to a simulation, with all inside them.
    pub(super) idle: &'static [&'static str],
    /// The element whose attribute `file` is another file of the same format, if there is one.
    pub(super) include: Option<&'static str>,
    /// What no parser may see: says why an element is refused.
    pub(super) refusal: fn(Node<'_, '_>) -> Option<&'static str>,
}

/// What a look over a file has found.
#[derive(Default)]
pub(super) struct Survey {
    unknown: BTreeMap<String, usize>,
    included: usize,
}

/// A file's text, if it is not too large.
pub(super) fn read(path: &Path) -> Result<String, ImportError> {
    let read = |error| ImportError::Read { file: path.to_owned(), error };
    let length = std::fs::metadata(path).map_err(read)?.len();
    if length > XML_LEN_MAX {
        let what = format!("it has {length} bytes; a robot's file has at most {XML_LEN_MAX}");
        return Err(ImportError::wrong(path, what));
    }
    std::fs::read_to_string(path).map_err(read)
}

/// A path that a file names, if it stays in that file's folder.
pub(super) fn inside(folder: &Path, named: &str) -> Result<PathBuf, String> {
    let path = Path::new(named);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if named.is_empty() || !plain {
        return Err(format!("`{named}` leads out of the file's folder; keep all files of a robot below it"));
    }
    Ok(folder.join(path))
}

impl Survey {
    /// Looks over a file's text, and over the files that it includes.
    pub(super) fn look(&mut self, path: &Path, text: &str, format: &Format) -> Result<(), ImportError> {
        check_depth(text).map_err(|what| ImportError::wrong(path, what))?;
        let document = Document::parse(text).map_err(|error| ImportError::wrong(path, error))?;
        let mut stack = vec![document.root_element()];
        while let Some(node) = stack.pop() {
            let tag = node.tag_name().name();
            if let Some(refusal) = (format.refusal)(node) {
                let place = document.text_pos_at(node.range().start);
                return Err(ImportError::wrong(path, format!("{place}: <{tag}>: {refusal}")));
            }
            if format.idle.contains(&tag) {
                continue;
            }
            let Some((_, attributes)) = format.known.iter().find(|(known, _)| *known == tag) else {
                self.count(format!("<{tag}>"));
                continue;
            };
            for attribute in node.attributes().filter(|there| !attributes.contains(&there.name())) {
                self.count(format!("`{}` of <{tag}>", attribute.name()));
            }
            if format.include == Some(tag) {
                self.include(path, node, format)?;
            }
            stack.extend(node.children().filter(Node::is_element));
        }
        Ok(())
    }

    /// What was found that nobody here knows.
    pub(super) fn notes(self) -> impl Iterator<Item = String> {
        self.unknown.into_iter().map(|(what, count)| match count {
            1 => format!("{what} is not supported"),
            count => format!("{what} is not supported ({count} times)"),
        })
    }

    fn count(&mut self, what: String) {
        *self.unknown.entry(what).or_default() += 1;
    }

    fn include(&mut self, path: &Path, node: Node<'_, '_>, format: &Format) -> Result<(), ImportError> {
        let Some(named) = node.attribute("file") else { return Ok(()) };
        // A file counts each time it is included, so neither cycles nor fans of includes go on for long.
        self.included += 1;
        if self.included > INCLUDES_MAX {
            let what = format!("it includes more than {INCLUDES_MAX} files; does one include itself?");
            return Err(ImportError::wrong(path, what));
        }
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let there = inside(folder, named).map_err(|what| ImportError::wrong(path, what))?;
        self.look(&there, &read(&there)?, format)
    }
}

/// Refuses elements that stand too deep, and declarations of entities, which can make a small file a large one.
fn check_depth(text: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let end = match rest.as_bytes().get(1) {
            Some(b'!') if rest.starts_with("<!--") => rest.find("-->"),
            Some(b'!') if rest.starts_with("<![CDATA[") => rest.find("]]>"),
            Some(b'!') => return Err("declarations (<!DOCTYPE …>) are not read; remove them".to_owned()),
            Some(b'?') => rest.find("?>"),
            Some(b'/') => {
                depth = depth.saturating_sub(1);
                rest.find('>')
            }
            _ => {
                let end = tag_end(rest);
                let closed = end.is_some_and(|end| rest[..end].ends_with('/'));
                depth += usize::from(!closed);
                end
            }
        };
        if depth > XML_DEPTH_MAX {
            return Err(format!("its elements stand more than {XML_DEPTH_MAX} deep"));
        }
        // What is cut off in the middle is for the parser to report, with its place.
        let Some(end) = end else { return Ok(()) };
        rest = &rest[end..];
    }
    Ok(())
}

/// Where a tag ends; a `>` in quotes does not end it.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None => {
            if byte == b'"' || byte == b'\'' {
                quote = Some(byte);
            }
            byte == b'>'
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_as_xml_has_it() {
        let nested = |count: usize| format!("{}{}", "<a b='>'>".repeat(count), "</a>".repeat(count));
        check_depth(&nested(XML_DEPTH_MAX)).unwrap();
        assert!(check_depth(&nested(XML_DEPTH_MAX + 1)).is_err());
        check_depth(&"<a x=\"/>\"/><!-- <b> --><![CDATA[<c>]]>".repeat(1000)).unwrap();
        assert!(check_depth("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>").is_err());
    }

    #[test]
    fn paths_stay_in_their_folder() {
        let folder = Path::new("robots");
        assert_eq!(inside(folder, "meshes/leg.stl"), Ok(PathBuf::from("robots/meshes/leg.stl")));
        for out in ["../leg.stl", "/leg.stl", "meshes/../../leg.stl", ""] {
            assert!(inside(folder, out).is_err(), "{out}");
        }
    }
}
