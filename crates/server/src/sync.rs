//! Mutexes that survive a panic, and the signal to shut down.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Locks a mutex. A panic of another holder is ignored: no critical section leaves its data in an
/// invalid state.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Becomes true when the server shuts down.
pub type Shutdown = watch::Receiver<bool>;

/// Waits until the server shuts down.
pub(crate) async fn shutdown_requested(shutdown: &mut Shutdown) {
    // An error means that the server is gone already.
    let _ = shutdown.wait_for(|is_requested| *is_requested).await;
}
