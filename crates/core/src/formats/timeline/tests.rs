//! What is read from each form, and what is said about it.
