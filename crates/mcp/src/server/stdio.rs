//! Lines between a server and its one client. The end of the input is reported once every request is answered, because
//! the protocol's library sends no notifications after it, and a handler that waits to send one never answers.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::Sleep;

/// The longest line of a client, in bytes. What a recorder takes, a server of its recording takes too.
pub(super) const LONGEST_LINE: usize = 64 << 20;

/// The ids of the requests that wait for their answers. Clones are the same ones.
#[derive(Debug, Clone)]
pub(super) struct OpenRequests(Arc<watch::Sender<HashSet<RequestId>>>);

impl OpenRequests {
    /// The request waits no longer.
    pub(super) fn close(&self, id: &RequestId) {
        self.0.send_modify(|open| {
            open.remove(id);
        });
    }

    fn open(&self, id: RequestId) {
        self.0.send_modify(|open| {
            open.insert(id);
        });
    }

    async fn all_closed(&self) {
        // The sender is ours, so it is not gone.
        let _ = self.0.subscribe().wait_for(HashSet::is_empty).await;
    }
}

/// A transport of lines.
pub(super) struct Lines<R: AsyncRead, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, R, W>,
    open: OpenRequests,
    grace: Duration,
    /// The time that is left since the input ended.
    left: Option<Pin<Box<Sleep>>>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// After the end of the input, answers may take up to `grace`.
    pub(super) fn new(reading: R, writing: W, grace: Duration) -> Self {
        let inner = AsyncRwTransport::new_server(reading, writing);
        Self {
            inner: inner.with_max_line_length(LONGEST_LINE),
            open: OpenRequests(Arc::default()),
            grace,
            left: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = <AsyncRwTransport<RoleServer, R, W> as Transport<RoleServer>>::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => self.open.close(&response.id),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.open.close(id);
                }
            }
            _ => {}
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // The library drops this future when something else happens, and calls again.
        if self.left.is_none()
            && let Some(mut message) = self.inner.receive().await
        {
            match &mut message {
                JsonRpcMessage::Request(asked) => {
                    self.open.open(asked.id.clone());
                    asked.request.extensions_mut().insert(self.open.clone());
                }
                JsonRpcMessage::Notification(told) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.open.close(id);
                    }
                }
                _ => {}
            }
            return Some(message);
        }
        let sleep = || Box::pin(tokio::time::sleep(self.grace));
        let left = self.left.get_or_insert_with(sleep);
        tokio::select! {
            () = self.open.all_closed() => {}
            () = left => {}
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
