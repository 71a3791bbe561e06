//! Syntax of source code.
