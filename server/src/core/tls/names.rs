//! The names in a certificate: the common name of its subject, and the alternative names.

use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

/// The attribute `commonName`, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// Tags of DER: what a name is made of, and the kinds of text that are ASCII or UTF-8.
pub(super) const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const IDENTIFIER: u8 = 0x06;
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];

/// The common name and the DNS and URI names of a certificate that was verified, the common name first.
pub(crate) fn names_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    let Ok(certificate) = EndEntityCert::try_from(certificate) else {
        return Vec::new();
    };
    let mut names: Vec<String> = common_name(certificate.subject()).into_iter().collect();
    let others = certificate.valid_dns_names();
    for name in others.chain(certificate.valid_uri_names()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The DNS names of a certificate; one may begin with a wildcard.
pub(crate) fn dns_names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let Ok(certificate) = EndEntityCert::try_from(certificate) else {
        return Vec::new();
    };
    certificate.valid_dns_names().map(str::to_owned).collect()
}

/// The name of a process of an installation: the first DNS name of its certificate that has no wildcard.
/// A common name is free text, which an authority may leave to whoever asks for the certificate.
pub(crate) fn process_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let mut names = dns_names(certificate).into_iter();
    names.find(|name| !name.contains('*'))
}

/// The last common name in the parts of a subject: the most specific.
fn common_name(mut parts: &[u8]) -> Option<String> {
    let mut found = None;
    while let Some((SET, mut attributes, rest)) = element(parts) {
        parts = rest;
        while let Some((SEQUENCE, attribute, others)) = element(attributes) {
            attributes = others;
            if let Some((IDENTIFIER, COMMON_NAME, value)) = element(attribute)
                && let Some((tag, text, [])) = element(value)
                && TEXTS.contains(&tag)
            {
                found = std::str::from_utf8(text).ok().map(str::to_owned);
            }
        }
    }
    found
}

/// The first element of DER: its tag, its content, and what follows.
pub(super) fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), rest)
        }
        0x82 => {
            let (&length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(length)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn certificate(common: Option<&str>, others: &[SanType]) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::OrganizationName, "Example");
        if let Some(common) = common {
            params.distinguished_name.push(DnType::CommonName, common);
        }
        params.subject_alt_names = others.to_vec();
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn dns(name: &str) -> SanType {
        SanType::DnsName(name.try_into().unwrap())
    }

    #[test]
    fn a_certificate_has_its_common_name_and_its_other_names() {
        let uri = SanType::URI("spiffe://example/desk".try_into().unwrap());
        let address = SanType::IpAddress([127, 0, 0, 1].into());
        let long = "l".repeat(300);
        let rows = [
            (Some("front desk"), vec![], vec!["front desk"]),
            (None, vec![dns("a.example")], vec!["a.example"]),
            (
                Some("a.example"),
                vec![dns("a.example"), dns("b.example"), uri, address],
                vec!["a.example", "b.example", "spiffe://example/desk"],
            ),
            (
                Some("Zo\u{eb}"),
                vec![dns("*.a.example")],
                vec!["Zo\u{eb}", "*.a.example"],
            ),
            (Some(&long), vec![], vec![&long]),
            (None, vec![], vec![]),
        ];
        for (common, others, names) in rows {
            assert_eq!(names_of(&certificate(common, &others)), names, "{common:?}");
        }
    }

    #[test]
    fn a_process_has_the_name_of_a_host_and_no_free_text() {
        let names = ["*.a.example", "a.example", "b.example"];
        let of_host = certificate(Some("c.example"), &names.map(dns));
        assert_eq!(dns_names(&of_host), names);
        let name = process_name(&of_host);
        assert_eq!(name.as_deref(), Some("a.example"));
        let uri = SanType::URI("spiffe://a.example".try_into().unwrap());
        for others in [&[][..], &[uri], &[dns("*.a.example")]] {
            assert_eq!(process_name(&certificate(Some("a.example"), others)), None);
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_names() {
        let broken = CertificateDer::from(b"no certificate".to_vec());
        assert_eq!(names_of(&broken), Vec::<String>::new());
        assert_eq!(dns_names(&broken), Vec::<String>::new());
        assert_eq!(process_name(&broken), None);
        for cut in [&[SET][..], &[SET, 0x05, SEQUENCE], &[SET, 0x83, 0, 0, 0]] {
            assert_eq!(common_name(cut), None);
        }
    }
}
