//! The binary as people and scripts use it: processes, files and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod book;
mod calibrate;
mod call;
mod canaries;
mod check;
mod config;
mod connect;
mod copy;
mod demo;
mod dev;
mod exchange;
mod games;
mod hidden;
mod import;
mod init;
mod interrupted;
mod journal_audit;
mod keys;
mod lab;
mod limits;
mod process;
mod reload;
mod report;
mod reproduce;
mod roles;
mod routes;
mod secured;
mod shortage;
mod trace;
mod tx;
mod verify;
mod version;
