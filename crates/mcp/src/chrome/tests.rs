use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use crate::{ContentBlock, ErrorKind, Protocol, ServerError, ServerSpec, Session, TransportSpec};

const LONG: Duration = Duration::from_secs(600);

/// The extension's end of a socket.
struct Bridge {
    stream: UnixStream,
}

impl Bridge {
    async fn request(&mut self) -> Value {
        let length = self.stream.read_u32_le().await.expect("a length");
        let mut frame = vec![0; length as usize];
        self.stream.read_exact(&mut frame).await.expect("a frame");
        serde_json::from_slice(&frame).expect("JSON")
    }

    async fn raw(&mut self, frame: &[u8]) {
        let length = u32::try_from(frame.len()).expect("short");
        self.stream.write_u32_le(length).await.expect("written");
        self.stream.write_all(frame).await.expect("written");
    }

    async fn answer(&mut self, answer: &Value) {
        self.raw(answer.to_string().as_bytes()).await;
    }

    /// Says that tab 7 is open.
    async fn tab(&mut self) {
        let request = self.request().await;
        assert_eq!(
            request,
            json!({"jsonrpc": "2.0", "id": 1, "method": "execute_tool",
                   "params": {"tool": "tabs_context_mcp", "args": {"createIfEmpty": false}}})
        );
        let tabs = json!({"availableTabs": [{"tabId": 7, "url": "about:blank"}, {"tabId": 8}]});
        self.answer(
            &json!({"id": 1, "result": {"content": [{"type": "text", "text": tabs.to_string()}]}}),
        )
        .await;
    }
}

/// A temp folder with the folder of the sockets in it.
fn temp() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().expect("a folder");
    let folder = temp.path().join("claude-mcp-browser-bridge-ada");
    std::fs::create_dir(&folder).expect("it can be made");
    (temp, folder)
}

fn spec() -> ServerSpec {
    ServerSpec {
        name: "claude-in-chrome".to_owned(),
        transport: TransportSpec::Chrome,
        protocol: Protocol::Auto,
        start_timeout: LONG,
        allowed_tools: None,
        source: "built in".to_owned(),
    }
}

fn environment(temp: &Path) -> [(OsString, OsString); 2] {
    [
        ("USER".into(), "ada".into()),
        ("TMPDIR".into(), temp.as_os_str().to_owned()),
    ]
}

async fn start(temp: &Path) -> Result<Session, ServerError> {
    Session::start(&spec(), &environment(temp)).await
}

/// A session, and what the other end of its socket does.
async fn session<F: Future<Output = Bridge>>(setup: impl FnOnce(Bridge) -> F) -> (Session, Bridge) {
    let (temp, folder) = temp();
    let listener = UnixListener::bind(folder.join("1.sock")).expect("a socket");
    let other_end = async {
        let (stream, _) = listener.accept().await.expect("a connection");
        setup(Bridge { stream }).await
    };
    let (session, bridge) = tokio::join!(start(temp.path()), other_end);
    (session.expect("it starts"), bridge)
}

async fn with_tab() -> (Session, Bridge) {
    session(|mut bridge| async {
        bridge.tab().await;
        bridge
    })
    .await
}

async fn call(session: &Session, arguments: Value) -> Result<(bool, String), ErrorKind> {
    let Value::Object(arguments) = arguments else {
        panic!("no object")
    };
    let reply = session
        .call("navigate", arguments, LONG)
        .await
        .map_err(|error| error.kind)?;
    let texts: Vec<String> = reply
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::Text(text) => text.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    Ok((reply.is_error, texts.join("|")))
}

/// What a call gives that is answered with `answer`, whose id is filled in where it says `ID`.
async fn answered(answer: Value) -> Result<(bool, String), ErrorKind> {
    let (session, mut bridge) = with_tab().await;
    let other_end = async {
        let request = bridge.request().await;
        let mut answer = answer;
        if answer["id"] == "ID" {
            answer["id"] = request["id"].clone();
        }
        bridge.answer(&answer).await;
    };
    let (result, ()) = tokio::join!(call(&session, json!({})), other_end);
    result
}

#[tokio::test]
async fn the_first_tab_is_the_tab_of_calls_that_name_none() {
    let (session, mut bridge) = with_tab().await;
    let info = session.info();
    assert_eq!((info.transport, &*info.protocol_version), ("chrome", ""));
    assert!(session.tools().await.expect("no error").is_none());
    for (given, sent) in [
        (json!({"url": "u"}), json!({"url": "u", "tabId": 7})),
        (json!({"tabId": 9}), json!({"tabId": 9})),
    ] {
        let other_end = async {
            let request = bridge.request().await;
            assert_eq!(request["method"], "execute_tool");
            assert_eq!(request["params"], json!({"tool": "navigate", "args": sent}));
            let content = json!([{"type": "text", "text": "there"}]);
            let answer = json!({"id": request["id"], "result": {"content": content}});
            bridge.answer(&answer).await;
        };
        let (result, ()) = tokio::join!(call(&session, given), other_end);
        assert_eq!(result, Ok((false, "there".to_owned())));
    }
}

#[tokio::test]
async fn without_a_tab_one_is_opened() {
    for created in [
        json!({"content": [{"type": "text", "text": "{\"tabId\": 12}"}]}),
        json!({"content": [{"type": "text", "text": "Created a tab. Tab ID: 12, in group 3"}]}),
    ] {
        let (session, mut bridge) = session(|mut bridge| async {
            let request = bridge.request().await;
            assert_eq!(request["params"]["tool"], "tabs_context_mcp");
            // In another form, and after what is no answer.
            bridge.answer(&json!({"method": "hello"})).await;
            bridge
                .answer(&json!({"id": "1", "error": {"message": "no tab group"}}))
                .await;
            let request = bridge.request().await;
            let wanted = json!({"tool": "tabs_create_mcp", "args": {}});
            assert_eq!(request["params"], wanted);
            bridge.answer(&json!({"result": created})).await;
            bridge
        })
        .await;
        let other_end = async {
            let request = bridge.request().await;
            assert_eq!(request["params"]["args"], json!({"tabId": 12}));
            bridge
                .answer(&json!({"result": null, "error": "enough"}))
                .await;
        };
        let (result, ()) = tokio::join!(call(&session, json!({})), other_end);
        assert_eq!(result, Ok((true, "enough".to_owned())));
    }
}

#[tokio::test]
async fn no_tab_at_all_is_an_error_with_its_words() {
    let (temp, folder) = temp();
    let listener = UnixListener::bind(folder.join("1.sock")).expect("a socket");
    let other_end = async {
        let (stream, _) = listener.accept().await.expect("a connection");
        let mut bridge = Bridge { stream };
        for id in [1, 2] {
            bridge.request().await;
            bridge
                .answer(&json!({"id": id, "error": {"content": [{"type": "text", "text": "not connected"}]}}))
                .await;
        }
    };
    let (session, ()) = tokio::join!(start(temp.path()), other_end);
    assert_eq!(
        session.expect_err("no tab").to_string(),
        "server `claude-in-chrome` has no tab to work in, and did not open one: not connected"
    );
}

#[tokio::test]
async fn errors_are_results_that_say_so() {
    let failed = |text: &str| Ok((true, text.to_owned()));
    for error in [
        json!({"message": "no such page"}),
        json!({"content": [{"type": "text", "text": "no such page"}]}),
        json!({"content": "no such page", "message": "less"}),
        json!("no such page"),
    ] {
        let result = answered(json!({"id": "ID", "error": error})).await;
        assert_eq!(result, failed("no such page"), "{error}");
    }
    let plain = answered(json!({"id": "ID", "result": "done"})).await;
    assert_eq!(plain, Ok((false, "done".to_owned())));
}

#[tokio::test]
async fn an_answer_without_an_id_is_to_the_oldest_open_call() {
    let (session, mut bridge) = with_tab().await;
    let text = |text: &str| json!({"result": {"content": [{"type": "text", "text": text}]}});
    // One is given up; its answer still comes, and is nobody's.
    let request = tokio::select! {
        result = session.call("slow", serde_json::Map::new(), LONG) => panic!("{result:?}"),
        request = bridge.request() => request,
    };
    assert_eq!(request["params"]["tool"], "slow");
    let other_end = async {
        for _ in 0..2 {
            bridge.request().await;
        }
        for answer in ["late", "first", "second"] {
            bridge.answer(&text(answer)).await;
        }
    };
    let (first, second, ()) = tokio::join!(
        call(&session, json!({})),
        call(&session, json!({})),
        other_end
    );
    assert_eq!(first, Ok((false, "first".to_owned())));
    assert_eq!(second, Ok((false, "second".to_owned())));
}

#[tokio::test]
async fn frames_that_are_wrong_fail_the_call_with_what_is_wrong() {
    let (session, mut bridge) = with_tab().await;
    let other_end = async {
        bridge.request().await;
        bridge.raw(b"{\"jsonrpc\": \"2.0\", oops").await;
    };
    let (result, ()) = tokio::join!(call(&session, json!({})), other_end);
    let Err(ErrorKind::Protocol { text }) = result else {
        panic!("{result:?}")
    };
    assert!(text.contains("it is not valid JSON: "), "{text}");
    // A length over the bound ends the session.
    let other_end = async {
        bridge.request().await;
        bridge.stream.write_u32_le(u32::MAX).await.expect("written");
    };
    let (result, ()) = tokio::join!(call(&session, json!({})), other_end);
    assert_eq!(
        result,
        Err(ErrorKind::TooLarge {
            bound: 64 * 1024 * 1024
        })
    );
    assert!(session.is_over());
}

#[tokio::test]
async fn a_connection_that_breaks_fails_the_call_at_once() {
    let (session, mut bridge) = with_tab().await;
    let other_end = async move {
        bridge.request().await;
        bridge
            .stream
            .write_all(b"\x09\0\0\0half")
            .await
            .expect("written");
        drop(bridge);
    };
    let error = async {
        let result = session.call("x", serde_json::Map::new(), LONG).await;
        result.expect_err("it broke")
    };
    let (error, ()) = tokio::join!(error, other_end);
    assert_eq!(
        error.to_string(),
        "server `claude-in-chrome` closed the connection before it answered `x`: the connection \
         ended in the middle of a message"
    );
}

#[tokio::test]
async fn the_first_socket_that_accepts_is_taken_and_the_others_are_told() {
    let (temp, folder) = temp();
    let refusal = || async {
        let error = start(temp.path()).await.expect_err("nobody accepts");
        assert!(matches!(error.kind, ErrorKind::Unusable { .. }));
        assert!(error.help().expect("help").contains("start Chrome"));
        error.to_string()
    };
    let shown = folder.display();
    assert_eq!(
        refusal().await,
        format!("server `claude-in-chrome` cannot be reached: there is no socket in `{shown}`")
    );
    drop(UnixListener::bind(folder.join("1.sock")).expect("a socket"));
    std::fs::write(folder.join("2.sock"), "").expect("written");
    std::fs::write(folder.join("3.txt"), "").expect("written");
    assert_eq!(
        refusal().await,
        format!(
            "server `claude-in-chrome` cannot be reached: no socket in `{shown}` accepts a \
             connection (`1.sock`: nothing is listening on it; `2.sock`: it is not a socket)"
        )
    );
    let listener = UnixListener::bind(folder.join("4.sock")).expect("a socket");
    let other_end = async {
        let (stream, _) = listener.accept().await.expect("a connection");
        Bridge { stream }.tab().await;
    };
    let (session, ()) = tokio::join!(start(temp.path()), other_end);
    session.expect("it starts");
}

#[tokio::test]
async fn without_a_user_there_is_no_folder() {
    let error = Session::start(&spec(), &[]).await.expect_err("no user");
    assert!(error.to_string().contains("`USER`"), "{error}");
}
