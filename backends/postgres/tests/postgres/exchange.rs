//! The exchange: held to the machine, through whatever happens to the database.

use std::cell::RefCell;

use turnstile_contract::{
    Backend, Request,
    conformance::{Stand, check_crowds, check_disturbed, check_histories, check_keys_in_a_crowd},
};
use turnstile_exchange::{
    AccountId, Answer, ClientId, Command, Decimal, Done, Exchange, Order, OrderRef, Outcome, Query,
    Refusal, SelfTrade, Side, Symbol, TimeInForce, limits,
};
use turnstile_postgres::Postgres;
use turnstile_trial::PostgresServer;
use turnstile_types::{Principal, Timestamp};

/// A server, and the address of its last database.
struct Market {
    server: RefCell<PostgresServer>,
    last: RefCell<String>,
}

impl Market {
    fn open() -> Self {
        Self {
            server: RefCell::new(PostgresServer::start().without_syncs()),
            last: RefCell::default(),
        }
    }
}

impl Stand<Exchange> for Market {
    type Backend = Postgres<Exchange>;

    async fn fresh(&self) -> Postgres<Exchange> {
        let database = self.server.borrow().database();
        self.last.replace(database);
        self.another().await
    }

    async fn another(&self) -> Postgres<Exchange> {
        let url = self.last.borrow().clone();
        Postgres::open(&url).await.unwrap()
    }
}

#[tokio::test]
async fn histories_are_those_of_the_machine() {
    let market = Market::open();
    check_histories(&market, 0..12, 60).await.unwrap();
}

#[tokio::test]
async fn crowds_could_have_come_one_by_one() {
    check_crowds(&Market::open(), 0..4).await.unwrap();
}

#[tokio::test]
async fn an_order_under_a_key_is_decided_once_in_a_crowd() {
    let market = Market::open();
    check_keys_in_a_crowd(&market, 5).await.unwrap();
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_when_the_database_is_killed() {
    let market = Market::open();
    let kill = || market.server.borrow_mut().restart();
    let killed = check_disturbed(&market, 1, (40, &kill));
    killed.await.unwrap();
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_when_connections_are_cut() {
    let market = Market::open();
    let cut = || {
        let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name LIKE 'turnstile%'";
        market.server.borrow().sql("postgres", all);
    };
    let interrupted = check_disturbed(&market, 2, (5, &cut));
    interrupted.await.unwrap();
}

fn account(text: &str) -> AccountId {
    AccountId::parse(text.as_bytes()).unwrap()
}

fn buy(client: &str) -> Command {
    Command::Order(Order {
        account: account("a"),
        symbol: Symbol::parse(b"X").unwrap(),
        side: Side::Buy,
        quantity: Decimal::new(1, 0),
        limit: Some(Decimal::new(1, 0)),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::Skip,
        client_id: Some(ClientId::parse(client.as_bytes()).unwrap()),
    })
}

/// Has one command decided.
async fn decide(backend: &Postgres<Exchange>, now: u64, command: &Command) -> Outcome {
    let request = [Request::new::<Exchange>(Principal::local(), None, command)];
    let mut results = backend.execute(Timestamp(now), &request).await;
    results.remove(0).unwrap().outcome
}

#[tokio::test]
async fn an_order_is_forgotten_a_week_after_its_end() {
    let market = Market::open();
    let backend = market.fresh().await;
    let (account, cash) = (account("a"), Decimal::new(9, 0));
    decide(&backend, 0, &Command::CreateAccount { account, cash }).await;
    let Outcome::Done(Done::Accepted { ticket, .. }) = decide(&backend, 0, &buy("one")).await
    else {
        panic!("the order was paid for");
    };
    let order = OrderRef::Id(ticket.order);
    decide(&backend, 5, &Command::Cancel { account, order }).await;

    let query = Query::Order {
        account: None,
        order,
    };
    let (late, too_late) = (4 + limits::ENDED_MS, 5 + limits::ENDED_MS);
    let again = Outcome::Done(Done::Accepted {
        ticket,
        again: true,
    });
    assert_eq!(decide(&backend, late, &buy("one")).await, again);
    let local = Principal::local();
    let known = backend.query(Timestamp(late), &local, &query).await;
    assert!(matches!(known, Ok(Answer::Order(_))), "{known:?}");

    let forgotten = backend.query(Timestamp(too_late), &local, &query).await;
    assert_eq!(forgotten, Ok(Answer::Refused(Refusal::NotFound)));
    let cancelled = decide(&backend, too_late, &Command::Cancel { account, order }).await;
    assert_eq!(cancelled, Outcome::Refused(Refusal::NotFound));
    let anew = decide(&backend, too_late, &buy("one")).await;
    let is_new = matches!(anew, Outcome::Done(Done::Accepted { again: false, .. }));
    assert!(is_new, "{anew:?}");
}

/// Once every order walked through the whole book of its symbol to see what was due: the planner
/// took another index for that, since it cannot know that few orders are due.
#[tokio::test]
async fn what_is_due_is_found_by_its_date_and_not_in_the_book() {
    let market = Market::open();
    let _tables = market.fresh().await;
    let database = market.last.borrow().rsplit('/').next().unwrap().to_owned();
    let plan = market.server.borrow().sql(
        &database,
        "INSERT INTO exchange.account VALUES (1, 'a', 0);
         INSERT INTO exchange.symbol VALUES (1, 'X', 4, 4, 1);
         INSERT INTO exchange.open_order (id, account, symbol, side, price, quantity, open,
             patience, self_trade, since, arrival, ended)
         SELECT n, 1, 1, 'buy', n, 1, (n % 3 > 0)::integer, 'gtc', 'skip', 0, n,
             CASE n % 3 WHEN 0 THEN 1 END
         FROM generate_series(1, 30000) n;
         ANALYZE exchange.open_order;
         SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
         SET plan_cache_mode = force_generic_plan;
         PREPARE due (bigint) AS SELECT FROM exchange.due($1) WHERE symbol = 1;
         EXPLAIN (COSTS OFF) EXECUTE due (5)",
    );
    assert!(plan.contains("Index Scan using due"), "{plan}");
}
