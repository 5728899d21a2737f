//! Whole games on the ancestor's wire, with clients that read one message with one `recv`.

#[cfg(test)]
mod ancestor;
#[cfg(test)]
mod apart;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod partings;
#[cfg(test)]
mod scores;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod table;
