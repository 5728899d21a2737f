//! Frames that are no request: one error, and nothing of them is done.

use super::*;
use crate::{Flaw, limits::ATTRIBUTE_BYTES_MAX};

/// An item that would be done if nothing were wrong.
const GOOD: &str = r#"<account id="1" balance="1"/>"#;

fn check(xml: &[u8], flaw: Flaw) {
    let shown = String::from_utf8_lossy(xml);
    let mut requests = Requests::new(Options::default());
    let found = requests.read(xml).map(|_| ()).map_err(|found| found.flaw);
    assert_eq!(found, Err(flaw), "{shown}");
    let mut stream = format!("{}\n", xml.len()).into_bytes();
    stream.extend_from_slice(xml);
    stream.extend_from_slice(framed("<create/>").as_bytes());
    let (answer, asked) = serve(Options::default(), &stream);
    assert_eq!(asked, [], "{shown}");
    let (error, next) = answer.split_once("</error></results>").unwrap();
    assert!(
        error.starts_with(&format!("<results><error>{flaw} (near byte ")),
        "{error}"
    );
    assert_eq!(next, "<results></results>", "the connection goes on");
}

#[test]
fn what_is_not_well_formed_is_not_begun() {
    let rows: &[(&str, Flaw)] = &[
        ("", Flaw::Empty),
        (" \n", Flaw::Empty),
        ("<!-- only -->", Flaw::Empty),
        ("hello", Flaw::OutsideRoot),
        ("<create>GOOD", Flaw::Unclosed),
        ("<create>GOOD</create", Flaw::Unclosed),
        ("<create>GOOD<account id=\"1", Flaw::Unclosed),
        ("<create>GOOD<!-- </create>", Flaw::Unclosed),
        ("<create>GOOD</transactions>", Flaw::EndTag),
        ("<create>GOOD<symbol></create></symbol>", Flaw::EndTag),
        ("<create>GOOD</create></create>", Flaw::EndTag),
        ("<create>GOOD</create>1", Flaw::OutsideRoot),
        ("<create>GOOD</create>&lt;", Flaw::OutsideRoot),
        ("<create>GOOD</create><![CDATA[]]>", Flaw::OutsideRoot),
        ("<create>GOOD</create><create/>", Flaw::OutsideRoot),
        ("x<create>GOOD</create>", Flaw::OutsideRoot),
        ("\u{feff}\u{feff}<create>GOOD</create>", Flaw::OutsideRoot),
        (
            "\u{feff}\u{feff}<create><account id='1\u{e9}11'/></create>",
            Flaw::OutsideRoot,
        ),
        ("<orders>GOOD</orders>", Flaw::Root),
        ("<Create>GOOD</Create>", Flaw::Root),
        ("<results/>", Flaw::Root),
        ("<create>GOOD<></></create>", Flaw::Name),
        ("<create>GOOD< account/></create>", Flaw::Name),
        ("<create>GOOD<1/></create>", Flaw::Name),
        ("<create>GOOD<a$/></create>", Flaw::Name),
        ("<create>GOOD<account / ></account></create>", Flaw::Name),
        (
            "<create>GOOD<account id></account></create>",
            Flaw::Attribute,
        ),
        ("<create>GOOD<account id=1/></create>", Flaw::Attribute),
        (
            "<create>GOOD<account id='1'balance='2'/></create>",
            Flaw::Attribute,
        ),
        ("<create>GOOD<account id='<'/></create>", Flaw::Attribute),
        ("<create>GOOD<account =''/></create>", Flaw::Name),
        (
            "<create>GOOD<account id='1' id='2'/></create>",
            Flaw::AttributeTwice,
        ),
        (
            "<create>GOOD<other x='1' x='1'/></create>",
            Flaw::AttributeTwice,
        ),
        ("<create a='1' a='1'>GOOD</create>", Flaw::AttributeTwice),
        ("<create>GOOD<!account></create>", Flaw::Syntax),
        ("<create>GOOD<!-- a -- b --></create>", Flaw::Syntax),
        ("<create>GOOD ]]> </create>", Flaw::Syntax),
    ];
    for (xml, flaw) in rows {
        check(xml.replace("GOOD", GOOD).as_bytes(), *flaw);
    }
}

#[test]
fn document_types_entities_and_instructions_are_refused() {
    let bomb = r#"<!DOCTYPE create [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><create>&b;</create>"#;
    let outside = r#"<!DOCTYPE create SYSTEM "file:///etc/passwd"><create/>"#;
    let rows: &[(&str, Flaw)] = &[
        (bomb, Flaw::Doctype),
        (outside, Flaw::Doctype),
        ("<!doctype create><create/>", Flaw::Doctype),
        ("<!DOCTYPE create [", Flaw::Doctype),
        ("<!DOCTYPE >", Flaw::Doctype),
        ("<create>&b;</create>", Flaw::Reference),
        ("<create>&nbsp;</create>", Flaw::Reference),
        ("<create>a & b</create>", Flaw::Reference),
        ("<create>&#0;</create>", Flaw::Reference),
        ("<create>&#xD800;</create>", Flaw::Reference),
        (
            "<create><account id='&xxe;' balance='1'/></create>",
            Flaw::Reference,
        ),
        (
            "<create><account id='&' balance='1'/></create>",
            Flaw::Reference,
        ),
        (
            "<create><account id='&#x110000;' balance='1'/></create>",
            Flaw::Reference,
        ),
        (
            "<create><account id='&#+49;' balance='1'/></create>",
            Flaw::Reference,
        ),
        (
            "<create><account other='&amp' balance='1'/></create>",
            Flaw::Reference,
        ),
        ("<?php 1 ?><create/>", Flaw::Instruction),
        ("<create><?run?></create>", Flaw::Instruction),
        ("<create/><?xml-stylesheet href='x'?>", Flaw::Instruction),
        (" <?xml version='1.0'?><create/>", Flaw::Declaration),
        ("<create><?xml version='1.0'?></create>", Flaw::Declaration),
        (
            "<?xml version='1.0' encoding='latin1'?><create/>",
            Flaw::Declaration,
        ),
        ("<?xml encoding='utf-8'?><create/>", Flaw::Declaration),
        (
            "<?xml version='1.0' standalone='yes' encoding='utf-8'?><create/>",
            Flaw::Declaration,
        ),
        ("<?xml version='2.0'?><create/>", Flaw::Declaration),
        ("<?xml version='1.0' more='1'?><create/>", Flaw::Declaration),
        ("<?xml?><create/>", Flaw::Declaration),
    ];
    for (xml, flaw) in rows {
        check(xml.as_bytes(), *flaw);
    }
}

#[test]
fn only_characters_of_xml_in_utf_8_are_read() {
    check(b"<create>\0</create>", Flaw::Characters);
    check(b"<create a='\x1b'/>", Flaw::Characters);
    check("<create>\u{e4}\u{1}</create>".as_bytes(), Flaw::Characters);
    check("<create>\u{ffff}</create>".as_bytes(), Flaw::Characters);
    check(b"<create>\xe4</create>", Flaw::Characters);
    check(b"\xff\xfe<\0c\0r\0e\0a\0t\0e\0/\0>\0", Flaw::Characters);
}

#[test]
fn depth_attributes_and_their_length_are_bounded() {
    let nested = |depth: usize| {
        format!(
            "<create>{}{}</create>",
            "<a>".repeat(depth),
            "</a>".repeat(depth)
        )
    };
    assert_eq!(
        answered(Options::default(), &nested(7))
            .matches("<error>")
            .count(),
        1
    );
    check(nested(8).as_bytes(), Flaw::TooDeep);
    check(nested(200_000).as_bytes(), Flaw::TooDeep);

    let wide = |count: usize| {
        let attributes: String = (0..count).map(|at| format!(" a{at}='1'")).collect();
        format!("<create{attributes}/>")
    };
    assert_eq!(
        answered(Options::default(), &wide(16)),
        "<results></results>"
    );
    check(wide(17).as_bytes(), Flaw::TooManyAttributes);

    let long = |length: usize| format!("<create a='{}'/>", "x".repeat(length));
    assert_eq!(
        answered(Options::default(), &long(ATTRIBUTE_BYTES_MAX)),
        "<results></results>"
    );
    check(
        long(ATTRIBUTE_BYTES_MAX + 1).as_bytes(),
        Flaw::AttributeTooLong,
    );
}

#[test]
fn a_length_that_is_wrong_gives_one_error_and_then_the_frame_is_lost() {
    let xml = format!("<create>{GOOD}</create>");
    let short = format!("{}\n{xml}", xml.len() - 1);
    let (answer, asked) = serve(Options::default(), short.as_bytes());
    let length_line = "a request begins with a line that holds the number of bytes that follow";
    assert_eq!(
        answer,
        format!(
            "<results><error>{} (near byte {})</error></results>\
             <results><error>{length_line}</error></results>",
            Flaw::Unclosed,
            xml.len() - 1
        )
    );
    assert_eq!(asked, []);

    let long = format!("{}\n{xml}{}", xml.len() + 2, framed("<create/>"));
    let (answer, asked) = serve(Options::default(), long.as_bytes());
    assert!(answer.starts_with(&format!("<results><error>{} (", Flaw::OutsideRoot)));
    assert!(answer.ends_with(&format!("<results><error>{length_line}</error></results>")));
    assert_eq!(asked, []);
}
