//! The JSON shapes of the services and their problem details.
