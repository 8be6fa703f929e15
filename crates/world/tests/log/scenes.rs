//! Scenes with logs.
