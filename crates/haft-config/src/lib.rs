//! Configuration layers with provenance, and trust of project files by digest.
