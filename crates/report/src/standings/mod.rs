//! Standings of a tournament as text, JSON, CSV and Markdown.

pub mod export;
pub mod json;
pub mod text;
