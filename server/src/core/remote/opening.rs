//! Opening the databases that can be back ends.

use std::{fmt::Display, sync::Arc};

use turnstile_contract::Backend;
use turnstile_exchange::Exchange;
use turnstile_mysql::{Address, Mysql};
use turnstile_postgres::Postgres;
use turnstile_redis::Redis;
use turnstile_rooms::{IdKey, Rooms};

use super::{DatabaseUrl, Opening, url::Kind};

/// Opens the database of rooms, which keeps the key that seals id numbers.
pub(crate) fn rooms(url: DatabaseUrl) -> Opening<Rooms, IdKey> {
    Box::pin(async move {
        let (backend, key): (Arc<dyn Backend<Rooms>>, IdKey) = match url.kind() {
            Kind::Postgres => {
                let opened = Postgres::<Rooms>::open(url.text()).await.map_err(told)?;
                let key = opened.id_key();
                (Arc::new(opened), key)
            }
            Kind::MySql => {
                let address = Address::parse(url.text()).map_err(told)?;
                let opened = Mysql::open(&address).await.map_err(told)?;
                let key = opened.id_key().clone();
                (Arc::new(opened), key)
            }
            Kind::Redis => {
                let opened = Redis::open(url.text()).await.map_err(told)?;
                let key = opened.id_key().clone();
                (Arc::new(opened), key)
            }
        };
        Ok((backend, key))
    })
}

/// Opens the database of the exchange.
pub(crate) fn exchange(url: DatabaseUrl) -> Opening<Exchange, ()> {
    Box::pin(async move {
        if !url.keeps_exchange() {
            return Err(format!("{url} keeps no exchange, only PostgreSQL does"));
        }
        let opened = Postgres::<Exchange>::open(url.text()).await;
        let backend: Arc<dyn Backend<Exchange>> = Arc::new(opened.map_err(told)?);
        Ok((backend, ()))
    })
}

/// Only the sentence travels to who started the server.
fn told(error: impl Display) -> String {
    error.to_string()
}
