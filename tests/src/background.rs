//! Runs a server on its own thread and runtime: it outlives its first test and ends before its files go.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

/// Dropping it stops the server and waits for its end.
#[derive(Debug)]
pub struct Background {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a server and waits until `serve` announces itself. The future passed to `serve` ends to stop it.
    pub fn start<Announced, Serve>(name: &str, serve: Serve) -> (Self, Announced)
    where
        Announced: Send + 'static,
        Serve: AsyncFnOnce(mpsc::Sender<Announced>, oneshot::Receiver<()>) + Send + 'static,
    {
        let (announce, announced) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .expect("a runtime for a server of the harness")
                    .block_on(serve(announce, stopped));
            })
            .expect("a thread for a server of the harness");
        let background = Self { stop: Some(stop), thread: Some(thread) };
        let announced = announced.recv().unwrap_or_else(|_| panic!("{name} did not start: see the panic above"));
        (background, announced)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Sending fails if the server has ended by itself, which joining shows.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let ended = self.thread.take().map(JoinHandle::join);
        let has_panicked = matches!(ended, Some(Err(_)));
        assert!(!has_panicked || std::thread::panicking(), "a server of the harness panicked: see above");
    }
}
