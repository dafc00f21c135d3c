//! How a start fails, and how it succeeds.

use super::*;

// How a start fails.

#[tokio::test]
async fn a_server_that_exits_at_once_tells_how_and_why() {
    let error = fail(&shell("echo 'Error: GITHUB_TOKEN is not set' >&2; exit 3")).await;
    let ErrorKind::Exited { exit, .. } = error.kind else {
        panic!("{error:?}");
    };
    assert_eq!(exit, Exit::Code(3));
    assert_eq!(error.last_words(), ["Error: GITHUB_TOKEN is not set"]);
    let text = error.to_string();
    assert!(
        text.starts_with(
            "server `scripted` exited before it answered initialize (exit code 3, after "
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_missing_command_and_a_missing_directory_are_told_apart() {
    let mut spec = shell("");
    let TransportSpec::Stdio { command, .. } = &mut spec.transport else {
        unreachable!()
    };
    *command = "cuecard-no-such-command".to_owned();
    let error = fail(&spec).await;
    assert_eq!(
        error.to_string(),
        "server `scripted` failed to start: command not found: `cuecard-no-such-command`"
    );
    let TransportSpec::Stdio { command, .. } = &mut spec.transport else {
        unreachable!()
    };
    *command = "/bin/sh".to_owned();
    let TransportSpec::Stdio { cwd, .. } = &mut spec.transport else {
        unreachable!()
    };
    *cwd = Some("/no/such/directory".into());
    assert_eq!(
        fail(&spec).await.to_string(),
        "server `scripted` failed to start: directory not found: `/no/such/directory`"
    );
}

#[tokio::test]
async fn a_file_that_is_no_program_is_not_executed() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut spec = shell("");
    let TransportSpec::Stdio { command, .. } = &mut spec.transport else {
        unreachable!()
    };
    *command = file.path().display().to_string();
    assert!(matches!(fail(&spec).await.kind, ErrorKind::NotRun { .. }));
}

#[tokio::test]
async fn a_silent_server_runs_out_of_time_and_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let pid_file = directory.path().join("pid");
    let mut spec = shell(&format!(
        "echo Listening...; echo $$ > {}; while read -r line; do :; done",
        pid_file.display()
    ));
    spec.start_timeout = Duration::from_millis(100);
    // On a busy machine the server itself may need a while to get that far.
    let error = loop {
        let error = fail(&spec).await;
        assert_eq!(
            error.kind,
            ErrorKind::NoAnswer {
                within: spec.start_timeout
            }
        );
        if pid_file.exists() {
            break error;
        }
        spec.start_timeout *= 2;
    };
    let text = error.to_string();
    assert!(text.ends_with(", but printed `Listening...`"), "{text}");
    let pid = std::fs::read_to_string(pid_file).expect("it got that far");
    assert!(!alive(pid.trim()));
}

#[tokio::test]
async fn what_a_server_printed_before_it_ended_is_in_the_error() {
    let error = fail(&shell("echo 'Usage: server stdio'; exit 2")).await;
    assert_eq!(
        error.facts.stray_output.as_deref(),
        Some("Usage: server stdio")
    );
    assert!(matches!(
        error.kind,
        ErrorKind::Exited {
            exit: Exit::Code(2),
            ..
        }
    ));
}

#[tokio::test]
async fn a_server_that_never_reads_still_tells_why_it_ended() {
    for _ in 0..20 {
        let error = fail(&shell("exec <&-; echo usage; exit 2")).await;
        assert_eq!(error.facts.stray_output.as_deref(), Some("usage"));
        assert!(
            matches!(
                error.kind,
                ErrorKind::Exited {
                    exit: Exit::Code(2),
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_closes_its_output_and_lives_is_not_waited_for() {
    let error = fail(&shell(
        "exec >&-; while read -r line; do :; done; sleep 600",
    ))
    .await;
    assert_eq!(error.kind, ErrorKind::Closed);
}

#[tokio::test]
async fn a_refused_handshake_keeps_the_servers_words() {
    let mut spec = shell(
        r#"read -r line; echo '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"licence expired"}}'; read -r line"#,
    );
    spec.protocol = Protocol::Legacy;
    assert_eq!(
        fail(&spec).await.to_string(),
        "server `scripted` refused initialize (code -32000): licence expired"
    );
}

#[tokio::test]
async fn a_handshake_that_breaks_the_protocol_says_how() {
    let mut spec = shell(r#"read -r line; echo '{"id":0,"result":{}}'; read -r line"#);
    spec.protocol = Protocol::Legacy;
    assert_eq!(
        fail(&spec).await.to_string(),
        "server `scripted` violated the protocol while answering initialize: the response has no `\"jsonrpc\": \"2.0\"`"
    );
    let mut spec = shell(
        r#"read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}'; read -r line"#,
    );
    spec.protocol = Protocol::Legacy;
    assert!(matches!(fail(&spec).await.kind, ErrorKind::Protocol { .. }));
}

#[tokio::test]
async fn an_older_server_is_not_modern() {
    let mut spec = scripted("");
    spec.protocol = Protocol::Modern;
    let error = fail(&spec).await;
    assert!(
        matches!(error.kind, ErrorKind::RpcError { code: -32601, .. }),
        "{error:?}"
    );
    assert!(
        error
            .help()
            .expect("there is help")
            .contains("\"protocol\": \"auto\"")
    );
}

// How a start succeeds.

#[tokio::test]
async fn a_banner_before_the_handshake_is_a_notice() {
    let mut spec = scripted("");
    let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
        unreachable!()
    };
    args[1] = format!(
        "echo '  Server v1 \x1b[32mready'; echo 42; echo; {}",
        args[1]
    );
    let session = start(&spec).await;
    assert_eq!(
        *session.info(),
        SessionInfo {
            server_name: "shell".to_owned(),
            server_version: "1.2".to_owned(),
            protocol_version: "2025-11-25".to_owned(),
            era: Era::Legacy,
            transport: "stdio",
            started_in: session.info().started_in,
        }
    );
    let stray = |text: &str| Notice::StrayOutput {
        text: text.to_owned(),
    };
    assert_eq!(
        session.drain_notices(),
        [stray("Server v1 ready"), stray("42")]
    );
    assert!(session.drain_notices().is_empty());
    session.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_is_started_again_without_it() {
    let mut spec = scripted("");
    let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
        unreachable!()
    };
    args[1] = args[1].replace("refuse -32601 'what?'", "exit 1");
    let session = start(&spec).await;
    assert_eq!(session.info().era, Era::Legacy);
    session.stop().await;
}

#[tokio::test]
async fn an_answer_to_the_probe_may_carry_an_id_of_the_servers_own_or_none() {
    for id in ["\\\"server-error\\\"", "null"] {
        let mut spec = scripted("");
        let TransportSpec::Stdio { args, .. } = &mut spec.transport else {
            unreachable!()
        };
        args[1] = args[1].replace("refuse -32601", &format!("id=\"{id}\"; refuse -32600"));
        let session = start(&spec).await;
        assert_eq!(session.drain_notices(), []);
        session.stop().await;
    }
}
