//! The suite of all back ends.

use turnstile_contract::conformance::{
    check_crowds, check_guesses, check_histories, check_keys_in_a_crowd, check_keys_of_failures,
};
use turnstile_trial::RedisServer;

use crate::stand::Shelf;

fn shelf() -> Shelf {
    Shelf(RedisServer::start().without_syncs())
}

#[tokio::test]
async fn histories_are_those_of_the_machine() {
    check_histories(&shelf(), 0..60, 120).await.unwrap();
}

#[tokio::test]
async fn crowds_are_decided_in_the_order_of_positions() {
    check_crowds(&shelf(), 0..20).await.unwrap();
}

#[tokio::test]
async fn a_key_is_decided_once_through_two_servers() {
    check_keys_in_a_crowd(&shelf(), 20).await.unwrap();
}

#[tokio::test]
async fn keys_remember_refusals_and_batches_go_on() {
    check_keys_of_failures(&shelf()).await.unwrap();
}

#[tokio::test]
async fn what_another_holds_is_released_by_no_guess() {
    check_guesses(&shelf(), 20).await.unwrap();
}
