//! The suite of all back ends.

use turnstile_contract::conformance::{
    check_crowds, check_guesses, check_histories, check_keys_in_a_crowd, check_keys_of_failures,
};
use turnstile_trial::PostgresServer;

use crate::stand::Cluster;

fn cluster() -> Cluster {
    Cluster::on(PostgresServer::start().without_syncs())
}

#[tokio::test]
async fn histories_are_those_of_the_machine() {
    check_histories(&cluster(), 0..20, 60).await.unwrap();
}

#[tokio::test]
async fn crowds_are_decided_in_the_order_of_positions() {
    check_crowds(&cluster(), 0..20).await.unwrap();
}

#[tokio::test]
async fn a_key_is_decided_once_through_two_servers() {
    check_keys_in_a_crowd(&cluster(), 20).await.unwrap();
}

#[tokio::test]
async fn keys_remember_refusals_and_batches_go_on() {
    check_keys_of_failures(&cluster()).await.unwrap();
}

#[tokio::test]
async fn what_another_holds_is_released_by_no_guess() {
    check_guesses(&cluster(), 20).await.unwrap();
}
