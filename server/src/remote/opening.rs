//! Opening the databases that can be back ends.

use std::sync::Arc;

use turnstile_contract::Backend;
use turnstile_postgres::Postgres;
use turnstile_rooms::{IdKey, Rooms};

use super::{DatabaseUrl, Opening, url::Kind};

/// Opens the database of rooms, which keeps the key that seals id numbers.
pub(crate) fn rooms(url: DatabaseUrl) -> Opening<Rooms, IdKey> {
    Box::pin(async move {
        let (backend, key): (Arc<dyn Backend<Rooms>>, IdKey) = match url.kind() {
            Kind::Postgres => {
                let opened = Postgres::<Rooms>::open(url.text()).await;
                let opened = opened.map_err(|error| error.to_string())?;
                let key = opened.id_key();
                (Arc::new(opened), key)
            }
            Kind::MySql | Kind::Redis => return Err("not yet".to_owned()),
        };
        Ok((backend, key))
    })
}
