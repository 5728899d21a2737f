//! Histograms, laws and tables.
