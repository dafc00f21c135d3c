use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::{Protocol, ServerError, ServerSpec, Session, TransportSpec};

async fn refusal(transport: TransportSpec) -> ServerError {
    let spec = ServerSpec {
        name: "near".to_owned(),
        transport,
        protocol: Protocol::Auto,
        start_timeout: Duration::from_secs(600),
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    };
    Session::start(&spec, &[])
        .await
        .expect_err("it is no server")
}

/// What is said about a socket as such, and of one for HTTP.
async fn both(path: PathBuf) -> [String; 2] {
    let lines = refusal(TransportSpec::Unix { path: path.clone() }).await;
    let http = refusal(TransportSpec::HttpUnix {
        socket: path,
        path: "/mcp".to_owned(),
        headers: Vec::new(),
    })
    .await;
    assert!(lines.help().is_some() && http.help().is_some());
    [lines.to_string(), http.to_string()]
}

#[tokio::test]
async fn each_way_in_which_a_socket_fails_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let told = |what: String| format!("server `near` cannot be reached: {what}");

    let path = at("none");
    let wanted = told(format!(
        "socket `{}`: there is no such file",
        path.display()
    ));
    assert_eq!(both(path).await, [wanted.clone(), wanted]);

    let path = at("file");
    std::fs::write(&path, "").expect("written");
    let wanted = told(format!("socket `{}`: it is not a socket", path.display()));
    assert_eq!(both(path).await, [wanted.clone(), wanted]);

    let path = at("dead");
    drop(tokio::net::UnixListener::bind(&path).expect("a socket"));
    let wanted = told(format!(
        "socket `{}`: nothing is listening on it",
        path.display()
    ));
    assert_eq!(
        both(path).await,
        [wanted, told("connection refused".to_owned())]
    );

    let path = at(&"x".repeat(120));
    let length = path.as_os_str().len();
    let wanted = told(format!(
        "socket `{}`: its path has {length} bytes, and sockets are limited to {LONGEST_PATH}",
        path.display()
    ));
    assert_eq!(both(path).await, [wanted.clone(), wanted]);
}

#[test]
fn the_longest_path_can_be_bound_and_no_longer_one() {
    let name = |length: usize| PathBuf::from("x".repeat(length));
    assert!(SocketAddr::from_pathname(name(LONGEST_PATH)).is_ok());
    assert!(SocketAddr::from_pathname(name(LONGEST_PATH + 1)).is_err());
}
