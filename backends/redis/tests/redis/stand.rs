//! A server, emptied for each history.

use turnstile_contract::conformance::Stand;
use turnstile_redis::Redis;
use turnstile_trial::RedisServer;

pub(crate) struct Shelf(pub(crate) RedisServer);

pub(crate) async fn open(url: &str) -> Redis {
    Redis::open(url).await.expect("the server opens")
}

impl Stand for Shelf {
    type Backend = Redis;

    async fn fresh(&self) -> Redis {
        self.0.cli(&["FLUSHALL"]);
        self.another().await
    }

    async fn another(&self) -> Redis {
        open(&self.0.url()).await
    }
}
