//! The fast doors over real sockets.

#[cfg(test)]
mod server {
    mod access;
    mod access_log;
    mod backups;
    mod beyond;
    pub(crate) mod certificates;
    pub(crate) mod client;
    mod conversation;
    mod cuts;
    mod desk;
    mod endings;
    mod exchange;
    mod floods;
    pub(crate) mod games;
    mod games_resp;
    mod hoarding;
    mod holders;
    mod hostile;
    mod hostile_xml;
    mod keys;
    mod overlap;
    mod quotas;
    pub(crate) mod quotas_at_doors;
    mod quotas_of_games;
    mod quotas_of_sockets;
    mod rights;
    mod seats;
    mod tls;
    mod tls_lines;
    mod traces;
    mod travel;
    mod travel_lines;
    mod travel_resp;
}
