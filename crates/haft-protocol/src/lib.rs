//! Words every part of haft shares: names, calls, outcomes, capabilities, limits.
