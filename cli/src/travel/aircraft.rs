//! Seats by type of aircraft.

/// Seats where nobody knows the aircraft.
const UNKNOWN: u32 = 100;

/// Seats of a usual cabin, and the IATA codes of the aircraft that have about so many.
const SEATS: [(u32, &str); 22] = [
    (9, "CNA CNC CNT CN1 CN2 BN2 BNI PA1 PA2 PAG PL2 BE9 NDE"),
    (
        19,
        "BEH BE1 BET BES BEC DHT DHP SWM L4T BH2 J31 J32 D28 T20 SH6",
    ),
    (30, "EM2 EMB J41 S20 D38 FRJ DH7"),
    (37, "DH1 DH2 ER3"),
    (44, "ERD SF3 YK4"),
    (50, "ERJ ER4 CRJ CR1 CR2 CNJ DH3 DH8 AT4 AT5 AN4 F50 A40"),
    (70, "AT7 ATR CR7 E70 F70 DH4 ATP"),
    (78, "E75 EMJ AR1 AR8 141 142 143 146"),
    (90, "CR9 CRK E90 SU9 100 F28"),
    (108, "E95 717 735 736 732 318 A81"),
    (126, "319 733 73C 73G 73W 737 73N 73R 73Q 73M DC9 D93 D95"),
    (150, "320 32S 32A 734 M80 M81 M82 M83 M87 M88 M90 TU5"),
    (162, "738 73H"),
    (185, "321 32B 739 73J 75M"),
    (200, "752 757 75W 75T TU3 762 310 313"),
    (230, "753 763 764 767 76W AB4 AB6 D1C IL9"),
    (245, "332 330 787 788 M11 M1F"),
    (280, "333 33X 340 342 343 772 77L 77X"),
    (313, "345 346 777"),
    (360, "773 77W"),
    (410, "744 747 743 74E 74H 74M 74L 74N 74Y"),
    (525, "380 388"),
];

/// The seats of the first aircraft, of those between blanks, that is known; and whether one is.
pub(super) fn seats(codes: &str) -> (u32, bool) {
    let of = |code: &str| {
        let mut kinds = SEATS.iter();
        let kind = kinds.find(|(_, codes)| codes.split(' ').any(|known| known == code));
        kind.map(|(seats, _)| *seats)
    };
    let known = codes.split_ascii_whitespace().find_map(of);
    known.map_or((UNKNOWN, false), |seats| (seats, true))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_aircraft_that_is_known_counts() {
        for (codes, expected) in [
            ("320", (150, true)),
            ("738 320", (162, true)),
            ("XYZ 388", (525, true)),
            ("  CR2 ", (50, true)),
            ("XYZ", (100, false)),
            ("", (100, false)),
        ] {
            assert_eq!(seats(codes), expected, "{codes}");
        }
    }

    #[test]
    fn a_code_stands_once_and_more_seats_come_later() {
        let codes: Vec<&str> = SEATS
            .iter()
            .flat_map(|(_, codes)| codes.split(' '))
            .collect();
        let different: BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(different.len(), codes.len());
        assert!(SEATS.is_sorted_by_key(|(seats, _)| *seats));
    }
}
