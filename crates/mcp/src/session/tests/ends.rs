//! How a server ends, and the SDK's own server in this process.

use super::*;

// How a server ends.

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_at_once() {
    let session = start(&scripted(
        r#"*tools/call*) echo 'panicked: out of cheese' >&2; exit 7 ;;"#,
    ))
    .await;
    let error = call(&session, "die").await.expect_err("it died");
    assert!(
        matches!(
            error.kind,
            ErrorKind::Exited {
                exit: Exit::Code(7),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.last_words(), ["panicked: out of cheese"]);
    assert!(session.is_over());
    let again = call(&session, "die").await.expect_err("it is still dead");
    assert_eq!(again.kind, error.kind);
    session.stop().await;
}

#[tokio::test]
async fn an_answer_before_the_end_still_counts() {
    let session = start(&scripted(r#"*tools/call*) text 'last will'; exit 0 ;;"#)).await;
    assert_eq!(
        call(&session, "die").await.expect("a reply"),
        text("last will")
    );
    session.stop().await;
}

#[tokio::test]
async fn a_last_answer_may_lack_its_line_end() {
    let session = start(&scripted(
        r#"*tools/call*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' "$id"; exit 0 ;;"#,
    ))
    .await;
    assert_eq!(
        call(&session, "die").await.expect("a reply"),
        ToolReply::default()
    );
    session.stop().await;
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_does_not_hide_the_end_and_is_killed() {
    let session = start(&scripted(
        r#"*tools/call*) sleep 600 & echo "child $!" >&2; kill -9 $$ ;;"#,
    ))
    .await;
    let error = call(&session, "die").await.expect_err("it died");
    assert!(
        matches!(
            error.kind,
            ErrorKind::Exited {
                exit: Exit::Signal(9),
                ..
            }
        ),
        "{error}"
    );
    let child = error.last_words()[0]
        .strip_prefix("child ")
        .expect("its words")
        .to_owned();
    // Init reaps it; it is dead or a zombie once the signal is delivered.
    while alive(&child) {
        tokio::task::yield_now().await;
    }
    session.stop().await;
}

#[tokio::test]
async fn a_frame_over_the_bound_ends_the_session() {
    let session = start(&scripted(
        r#"*tools/call*) head -c 67108865 /dev/zero | tr '\0' x; echo ;;"#,
    ))
    .await;
    let error = call(&session, "big").await.expect_err("too large");
    assert_eq!(
        error.kind,
        ErrorKind::TooLarge {
            bound: 64 * 1024 * 1024
        }
    );
    let again = call(&session, "small")
        .await
        .expect_err("the session is over");
    assert_eq!(again.kind, error.kind);
    session.stop().await;
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_is_not_signalled() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("end");
    let mut spec = scripted("");
    let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
        unreachable!()
    };
    args[1] = format!(
        "trap 'echo signalled > {file}; exit' TERM; {}; echo politely > {file}",
        args[1].trim_end(),
        file = file.display()
    );
    start(&spec).await.stop().await;
    assert_eq!(
        std::fs::read_to_string(file).expect("it was written"),
        "politely\n"
    );
}

#[tokio::test]
async fn a_server_that_ignores_everything_is_killed() {
    let mut spec = scripted("");
    let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
        unreachable!()
    };
    args[1] = format!(
        "trap '' TERM HUP; echo $$ >&2; {}; while :; do sleep 1; done",
        args[1].trim_end()
    );
    let session = start(&spec).await;
    let pid = session.last_words().pop().expect("its pid");
    assert!(alive(&pid));
    session.stop().await;
    assert!(!alive(&pid));
}

#[tokio::test]
async fn a_server_that_closes_its_input_and_lives_fails_a_call_at_once() {
    let session = start(&scripted(
        r#"*'"name":"close"'*) exec <&-; text closed; while :; do sleep 1; done ;;"#,
    ))
    .await;
    assert_eq!(
        call(&session, "close").await.expect("a reply"),
        text("closed")
    );
    // A process that another test starts at this moment holds a copy of the pipe until it executes its program: what is
    // written then gets lost.
    let error = loop {
        let call = session.call("x", Map::new(), Duration::from_millis(200));
        let error = call.await.expect_err("nobody answers it");
        if !matches!(error.kind, ErrorKind::NoAnswer { .. }) {
            break error;
        }
    };
    assert_eq!(error.kind, ErrorKind::Closed);
    session.stop().await;
}

#[tokio::test]
async fn a_server_that_no_longer_reads_holds_up_nothing() {
    let session = start(&scripted(
        "*'\"name\":\"deaf\"'*) while :; do sleep 1; done ;;",
    ))
    .await;
    let short = Duration::from_millis(50);
    session
        .call("deaf", Map::new(), short)
        .await
        .expect_err("no answer");
    // More than a pipe holds.
    let mut large = Map::new();
    large.insert("data".to_owned(), Value::String("x".repeat(1 << 20)));
    for _ in 0..2 {
        let error = session
            .call("large", large.clone(), short)
            .await
            .expect_err("no answer");
        assert!(
            matches!(error.kind, ErrorKind::NoAnswer { .. }),
            "{error:?}"
        );
    }
    session.stop().await;
}

#[tokio::test]
async fn a_dropped_session_leaves_no_process() {
    let mut spec = scripted("");
    let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
        unreachable!()
    };
    args[1] = format!(
        "trap '' TERM; echo $$ >&2; {}; while :; do sleep 1; done",
        args[1].trim_end()
    );
    let session = start(&spec).await;
    let pid = session.last_words().pop().expect("its pid");
    drop(session);
    while alive(&pid) {
        tokio::task::yield_now().await;
    }
}

// The SDK's own server, in this process.

fn in_process(protocol: Protocol) -> (ServerSpec, Arc<AtomicUsize>) {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let maker = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(async move {
            if let Ok(running) = Echo.serve(theirs).await {
                let _ = running.waiting().await;
            }
        });
        ours
    });
    let mut spec = shell("");
    spec.transport = TransportSpec::InProcess(maker);
    spec.protocol = protocol;
    (spec, starts)
}

#[tokio::test]
async fn the_sdks_server_is_modern_unless_the_older_protocol_is_asked_for() {
    for (protocol, era, version) in [
        (Protocol::Auto, Era::Modern, "2026-07-28"),
        (Protocol::Modern, Era::Modern, "2026-07-28"),
        (Protocol::Legacy, Era::Legacy, "2025-11-25"),
    ] {
        let (spec, starts) = in_process(protocol);
        let session = start(&spec).await;
        assert_eq!(
            (
                session.info().era,
                &*session.info().protocol_version,
                session.info().transport
            ),
            (era, version, "built in")
        );
        let arguments = json!({ "a": [1, null] })
            .as_object()
            .expect("an object")
            .clone();
        let reply = session
            .call("echo", arguments, LONG)
            .await
            .expect("a reply");
        assert_eq!(reply, text(r#"{"a":[1,null]}"#));
        assert_eq!(
            session.tools().await.expect("tools").expect("a list")[0].name,
            "echo"
        );
        session.stop().await;
        assert_eq!(starts.load(Ordering::Relaxed), 1, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_server_in_this_process_that_ends_in_a_call_fails_it_at_once() {
    let maker = Arc::new(|| {
        let (ours, theirs) = tokio::io::duplex(64);
        tokio::spawn(async move {
            use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
            let (read, mut write) = tokio::io::split(theirs);
            let mut lines = tokio::io::BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let answer = match line.as_str() {
                    line if line.contains("\"initialize\"") => {
                        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2024-11-05\",\
                         \"capabilities\":{},\"serverInfo\":{\"name\":\"a\",\"version\":\"b\"}}}\n"
                    }
                    line if line.contains("tools/call") => return,
                    _ => continue,
                };
                write
                    .write_all(answer.as_bytes())
                    .await
                    .expect("the client reads");
            }
        });
        ours
    });
    let mut spec = shell("");
    spec.transport = TransportSpec::InProcess(maker);
    spec.protocol = Protocol::Legacy;
    let session = start(&spec).await;
    assert_eq!(session.info().protocol_version, "2024-11-05");
    let error = call(&session, "x").await.expect_err("it is gone");
    assert_eq!(error.kind, ErrorKind::Closed);
    session.stop().await;
}
