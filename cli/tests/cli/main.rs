//! The binary as people and scripts use it: processes, files and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access_log;
mod audit;
mod backup;
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
mod doctor;
mod draining;
mod exchange;
mod games;
mod golden;
mod hidden;
mod import;
mod init;
mod interrupted;
mod journal;
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
mod state;
mod supervised;
mod trace;
mod tx;
mod upgrade;
mod verify;
mod version;
