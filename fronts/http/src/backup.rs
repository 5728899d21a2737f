//! What backups and standbys ask for.

use turnstile_chassis::{Source as _, whole};

use crate::{given::Given, problem::Problem};

/// A request for what follows a place in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiecesRequest {
    pub segment: u32,
    /// The byte in it behind the last group of the copy.
    pub offset: u32,
    /// The last position of the copy.
    pub after: u64,
}

/// A request for bytes of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotRequest {
    pub position: u64,
    pub offset: u64,
}

/// Reads a request for pieces.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_pieces<'a>(given: &'a Given<'a>) -> Result<PiecesRequest, Problem> {
    given.read_with(|reader| {
        let segment = reader.required("segment", |text| whole(text, 1, u32::MAX.into()));
        let offset = reader.required("offset", |text| whole(text, 0, u32::MAX.into()));
        let after = reader.required("after", |text| whole(text, 0, u64::MAX));
        Some(PiecesRequest {
            segment: segment?,
            offset: offset?,
            after: after?,
        })
    })
}

/// Reads a request for bytes of a snapshot.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_snapshot<'a>(given: &'a Given<'a>) -> Result<SnapshotRequest, Problem> {
    given.read_with(|reader| {
        let position = reader.required("position", |text| whole(text, 0, u64::MAX));
        let offset = reader.required("offset", |text| whole(text, 0, u64::MAX));
        Some(SnapshotRequest {
            position: position?,
            offset: offset?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::operation_at;

    #[test]
    fn a_request_names_a_place_or_everything_that_is_wrong_with_it() {
        let read = |query: &'static str| {
            let parameters = &operation_at("GET", "/v1/backup/pieces").unwrap().parameters;
            let mut given = Given::new(parameters);
            given.add_query(query);
            read_pieces(&given).map_err(|problem| problem.errors.len())
        };
        let place = PiecesRequest {
            segment: 3,
            offset: 4_096,
            after: 17,
        };
        assert_eq!(read("segment=3&offset=4096&after=17"), Ok(place));
        assert_eq!(read(""), Err(3));
        assert_eq!(read("segment=0&offset=4294967296&after=-1"), Err(3));
        assert_eq!(read("segment=3&offset=4096&after=17&follow=true"), Err(1));
        let parameters = &operation_at("GET", "/v1/backup/snapshot")
            .unwrap()
            .parameters;
        let mut given = Given::new(parameters);
        given.add_query("position=7&offset=0");
        let wanted = SnapshotRequest {
            position: 7,
            offset: 0,
        };
        assert_eq!(read_snapshot(&given), Ok(wanted));
    }
}
