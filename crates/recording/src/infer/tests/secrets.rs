//! Secrets.

use serde_json::{Value, json};

use super::{call, failed, findings, of_one, param, questions, recording};
use crate::Call;
use crate::infer::infer;

#[test]
fn secrets_are_variables_without_a_value_wherever_they_stand() {
    let key = "sk-proj-abcdefghijklmnopqrstuv1234";
    let recording = recording(
        &format!("Use the key {key} to log in"),
        vec![
            call(
                "login",
                json!({"api_key": key, "headers": {"Authorization": format!("Bearer {key}")}}),
                json!({"session": "s-9918273"}),
            ),
            call(
                "list",
                json!({"session": "s-9918273", "password": "[redacted]"}),
                json!([]),
            ),
        ],
    );
    let inferred = of_one(&recording);
    let text = inferred.scenario.to_text();
    assert!(
        !text.contains(key) && !format!("{:?}", inferred.questions).contains(key),
        "{text}"
    );
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"API_KEY": "", "PASSWORD": ""})
    );
    assert_eq!(
        json!(inferred.scenario.steps[0].params),
        json!({"api_key": "{{API_KEY}}", "headers": {"Authorization": "Bearer {{API_KEY}}"}})
    );
    assert_eq!(
        json!(inferred.scenario.steps[1].params),
        json!({"session": "{{login.session}}", "password": "{{PASSWORD}}"})
    );
}

/// A text that differs keeps its secret apart: no mark is a value.
#[test]
fn a_secret_in_a_text_that_differs_must_be_given() {
    for (one, other, expected) in [
        (
            "postgres://u:[redacted]@h1/db",
            "postgres://u:[redacted]@h2/db",
            "postgres://u:{{DSN_SECRET}}@h1/db",
        ),
        (
            "pw [redacted-00000001]",
            "pw [redacted-0000000a] for bob",
            "pw {{DSN_SECRET}}",
        ),
    ] {
        let of = |dsn: &str| recording("", vec![call("t", json!({ "dsn": dsn }), json!("ok"))]);
        let both = infer(&of(one), Some(&of(other)), "test").expect("a scenario");
        assert_eq!(param(&both.scenario.steps[0], "dsn"), expected);
        assert_eq!(json!(both.scenario.variables), json!({"DSN_SECRET": ""}));
        assert_eq!(
            questions(&both),
            ["`dsn` differs between the recordings: what in it is a variable?"]
        );
    }
}

/// A list or an object stays one, whatever its key is.
#[test]
fn parts_of_an_object_with_secrets_are_variables() {
    for (secret, expected) in [
        (
            json!({"user": "ann", "value": "[redacted]"}),
            json!({"user": "ann", "value": "{{VALUE_SECRET}}"}),
        ),
        (
            json!(["[redacted-00000001]", "[redacted-00000002]", "x"]),
            json!(["{{SECRET}}", "{{SECRET_2}}", "x"]),
        ),
        (
            json!({"data": {"k": "vvvvvv1111"}}),
            json!({"data": {"k": "{{K_SECRET}}"}}),
        ),
        (json!({"n": 12}), json!({"n": 12})),
        (
            json!({"[redacted-00000001]": {"n": 1}}),
            json!({"{{SECRET}}": {"n": 1}}),
        ),
    ] {
        let calls = vec![call("t", json!({ "secret": secret }), json!("ok"))];
        let inferred = of_one(&recording("Go", calls));
        assert_eq!(*param(&inferred.scenario.steps[0], "secret"), expected);
    }
}

#[test]
fn no_secret_is_left_where_recordings_differ_or_a_result_shows_one() {
    let one = |key: &str, number: &str| {
        recording(
            "Go",
            vec![
                call(
                    "read",
                    json!({"path": "a.env"}),
                    json!(format!("API_KEY={key} ticket {number}")),
                ),
                call(
                    "send",
                    json!({"header": format!("Authorization: Bearer {key}"), "ticket": number}),
                    json!("ok"),
                ),
                call(
                    "log",
                    json!({"header": format!("Authorization: Bearer {}", key.to_uppercase())}),
                    json!("ok"),
                ),
            ],
        )
    };
    let keys = [
        "sk-proj-abcdefghijklmnopqrstuv1234",
        "sk-proj-zyxwvutsrqponmlkjihgfe9876",
    ];
    let inferred = infer(
        &one(keys[0], "ENG-142"),
        Some(&one(keys[1], "ENG-977")),
        "test",
    )
    .expect("a scenario");
    let shown = format!("{}{inferred:?}", inferred.scenario.to_text()).to_lowercase();
    for key in keys {
        assert!(!shown.contains(&key[8..]), "{shown}");
    }
    let steps = &inferred.scenario.steps;
    assert_eq!(
        param(&steps[1], "header"),
        "Authorization: Bearer {{read.header}}"
    );
    assert_eq!(param(&steps[1], "ticket"), "{{read.ticket}}");
    assert_eq!(
        param(&steps[2], "header"),
        "Authorization: Bearer {{HEADER_SECRET}}"
    );
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"HEADER_SECRET": ""})
    );
}

#[test]
fn a_password_in_quotes_is_a_secret_wherever_it_stands() {
    let shell = Call {
        server: None,
        result: Some(json!({"stdout": "", "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": "curl -u ann:hunter2hunter http://x.ex"}),
            json!(null),
        )
    };
    let prompt = "Log in as ann with the password \"hunter2hunter\"";
    let text = of_one(&recording(prompt, vec![shell])).scenario.to_text();
    assert!(!text.contains("hunter2"), "{text}");
}

/// The password of a form is known by the name of its field.
#[test]
fn what_is_typed_into_a_field_for_a_password_is_a_secret() {
    let fields = json!([
        {"name": "User", "type": "textbox", "value": "ann-lee-77"},
        {"name": "Password", "type": "textbox", "value": "Winter2026Zr"},
        {"name": "API token", "type": "textbox", "value": "[redacted]"},
    ]);
    let calls = vec![
        call(
            "browser_type",
            json!({"element": "Password textbox", "text": "Winter2026Zq"}),
            json!("typed"),
        ),
        call(
            "browser_fill_form",
            json!({ "fields": fields }),
            json!("filled"),
        ),
    ];
    let inferred = of_one(&recording("Log in", calls));
    let text = inferred.scenario.to_text();
    assert!(!text.contains("Winter"), "{text}");
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"PASSWORD": "", "PASSWORD_2": "", "API_TOKEN": ""})
    );
    let written = &inferred.scenario.steps[1].params["fields"];
    assert_eq!(written[0]["value"], "ann-lee-77");
    assert_eq!(written[2]["value"], "{{API_TOKEN}}");
}

#[test]
fn a_password_without_quotes_is_a_secret_wherever_it_stands() {
    let calls = vec![
        call("type_text", json!({"text": "hunter2-blue"}), json!("ok")),
        call(
            "login",
            json!({"form": "user=ann&p=hunter2-blue"}),
            json!("ok"),
        ),
    ];
    let inferred = of_one(&recording(
        "Log in as ann, the password is hunter2-blue.",
        calls,
    ));
    let text = inferred.scenario.to_text();
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"TEXT_SECRET": ""})
    );
    let form = param(&inferred.scenario.steps[1], "form");
    assert_eq!(form, "user=ann&p={{TEXT_SECRET}}");
}

#[test]
fn a_secret_that_the_user_names_is_a_variable_of_this_name_and_in_nothing_else() {
    let calls = vec![
        call(
            "open",
            json!({"url": "https://x.example/?k=blue-moon-77"}),
            json!({"user": "blue-moon-77", "id": "n-47110"}),
        ),
        failed(
            "enter",
            json!({"code": 773311}),
            "773311 is wrong: blue-moon-77",
        ),
        call(
            "get",
            json!({"id": "n-47110", "user": "blue-moon-77", "codes": [773311, "773311"], "blue-moon-77": 1}),
            json!("ok"),
        ),
    ];
    let mut one = recording("Open it with blue-moon-77", calls);
    let secrets = [("DOOR", "blue-moon-77"), ("PIN_CODE", "773311")];
    one.hide(&secrets.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert!(one.hides("DOOR") && one.hides("PIN_CODE") && !one.hides("PIN"));
    for inferred in [
        of_one(&one),
        infer(&one, Some(&one), "x").expect("a scenario"),
    ] {
        let all = format!("{inferred:?}");
        assert!(
            !all.contains("blue-moon") && !all.contains("773311"),
            "{all}"
        );
        assert_eq!(
            json!(inferred.scenario.variables),
            json!({"DOOR": "", "PIN_CODE": ""})
        );
        let steps = &inferred.scenario.steps;
        assert_eq!(param(&steps[0], "url"), "https://x.example/?k={{DOOR}}");
        assert_eq!(param(&steps[1], "code"), "{{PIN_CODE}}");
        assert_eq!(param(&steps[2], "user"), "{{DOOR}}");
        assert_eq!(
            *param(&steps[2], "codes"),
            json!(["{{PIN_CODE}}", "{{PIN_CODE}}"])
        );
    }
}

/// A call may name a field only by what the server knows it by: the snapshot before it tells what it is for.
#[test]
fn what_is_typed_into_a_field_that_a_snapshot_shows_for_a_secret_is_one() {
    let session = |ending: &str| {
        let page = "uid=1_0 RootWebArea \"Sign in\"\n  uid=1_1 textbox \"E-mail\"\n  uid=1_2 textbox \"Password\" required\n  \
            uid=1_3 textbox \"PIN code\"\n  uid=1_4 textbox \"API key\"\n  uid=1_5 combobox \"Token type\"";
        let fill = |uid: &str, value: &str| {
            let value = format!("{value}{ending}");
            call("fill", json!({"uid": uid, "value": value}), json!("ok"))
        };
        let form = json!([{"uid": "1_1", "value": "bob-7"}, {"uid": "1_4", "value": format!("kopen-{ending}")}]);
        let calls = vec![
            call("take_snapshot", json!({}), json!(page)),
            fill("1_1", "ann-7"),
            fill("1_2", "open sesame"),
            fill("1_3", "47"),
            call("fill_form", json!({ "elements": form }), json!("ok")),
            call(
                "fill",
                json!({"uid": "1_5", "value": "Bearer"}),
                json!("ok"),
            ),
            call(
                "say",
                json!({"text": format!("it is open sesame{ending}!")}),
                json!("ok"),
            ),
        ];
        recording("Log in", calls)
    };
    let (one, other) = (session("11"), session("22"));
    for inferred in [
        of_one(&one),
        infer(&one, Some(&other), "test").expect("a scenario"),
    ] {
        let shown = format!("{inferred:?}");
        assert!(
            !shown.contains("sesame") && !shown.contains("4711") && !shown.contains("kopen"),
            "{shown}"
        );
        let secrets = inferred
            .scenario
            .variables
            .iter()
            .filter(|(_, default)| **default == "");
        let names: Vec<&String> = secrets.map(|(name, _)| name).collect();
        assert_eq!(names, ["PASSWORD", "PIN", "API_KEY"]);
        let steps = &inferred.scenario.steps;
        assert_eq!(param(&steps[1], "value"), "{{PASSWORD}}");
        assert_eq!(steps[3].params["elements"][1]["value"], "{{API_KEY}}");
        assert_eq!(param(&steps[4], "value"), "Bearer");
        assert_eq!(param(&steps[5], "text"), "it is {{PASSWORD}}!");
    }
}

#[test]
fn what_stands_around_a_secret_tells_it() {
    let secret = "correcthorse";
    let forms = [
        "docker login -u bot -p X reg.example",
        "twine upload -u __token__ -p X dist/a",
        "redis-cli -h h -a X ping",
        "keytool -list -keystore k.jks -storepass X",
        "keytool -genkey -keypass 'X' -alias a",
        "openssl enc -aes-256-cbc -k X -in f",
        "7z a -pX a.7z f",
        "sqlcmd -U sa -P X",
        "ipmitool -U a -P X lan",
        "ssh-keygen -N X -f k",
        "lftp -u a,X ftp://h",
        "xfreerdp /u:a /p:X /v:h",
        "nmcli dev wifi connect net password X",
        "mysqladmin -u root password X",
        "sqlplus ann/X@db",
        "snmpwalk -v3 -A X h",
        "useradd -p X ann",
        "az keyvault secret set --name x --value X",
        "aws secretsmanager create-secret --name x --secret-string X",
        "psql -c \"ALTER USER ann WITH PASSWORD 'X'\"",
        "mysql -e \"CREATE USER a IDENTIFIED BY 'X'\"",
        "kubectl create secret generic x --from-literal=k=X",
        "cat > ~/.pgpass <<E\nh:5432:db:ann:X\nE",
        "zip -P X a.zip a",
        "ldapsearch -D cn=bot -w X -b dc=x",
        "smbclient //h/s -U bot%X -c ls",
        "echo X | docker login -u bot --password-stdin reg.example",
        "echo \"X\" | gh auth login --with-token",
        "printf %s X | gh secret set TOKEN",
        "gh secret set API_TOKEN --body X",
        "echo X | sudo -S apt install jq",
        "printf '%s\\n' \"X\" | sudo -k -S -- sh -c 'id; ls'",
        "sudo -S id <<< X",
        "sudo -S id <<EOF\nX\nEOF\nls",
        "echo 'bot:X' | sudo chpasswd",
        "chpasswd <<< \"bot:X\"",
        "cat <<'END' | chpasswd -e\nann:X\nEND",
        "cat <<A > a\nsome text\nA\nchpasswd <<B\nann:X\nB",
        "echo X | passwd --stdin bot",
        "printf 'X\\nX\\n' | passwd bot",
        "yes X | passwd bot",
        "docker login -u bot -pX reg.example",
        "docker login -u bot --password-stdin reg.example <<<'X'",
        "docker login --password-stdin reg.example <<EOF\nX\nEOF",
        "echo X | tr -d '\\r' | podman login -u bot --password-stdin reg.example",
        "echo -n X | gpg --batch --passphrase-fd 0 -c a.txt",
        "echo X | openssl enc -aes-256-cbc -pass stdin -in a -out b",
        "echo X | cryptsetup open /dev/sdb1 data -",
        "echo -n \"X\" | gcloud secrets create db --data-file=-",
        "echo X | npx wrangler secret put DB",
        "sshpass -pX ssh h",
        "mysql -pX -e 'select 1'",
        "kinit bot@EXAMPLE <<< X",
        "npm config set //registry.npmjs.org/:_authToken X",
        "aws configure set aws_secret_access_key X",
        "cargo login X",
        "openssl rsa -passin pass:X -in k.pem",
        "htpasswd -bc f bot X",
        "curl --data-urlencode \"pass=X\" https://a.example",
        "curl -b \"session=X; lang=en-US\" https://a.example",
        "curl -H \"Authorization: Bearer X\" https://a.example",
        "curl -H 'X-Api-Key: X' https://a.example",
        "wget --header=\"Cookie: sid=X\" https://a.example",
        "python -c \"u.set_password('X')\"",
        "restic --password-command \"echo X\" backup",
        "machine h login bot password X",
        "<password>X</password>",
        "db:\n  password: X\n",
        "aws_secret_access_key = X\n",
        "await page.getByLabel('Password').fill('X');",
    ];
    let of = |arguments: Value| of_one(&recording("Go", vec![call("t", arguments, json!("ok"))]));
    for form in forms {
        let text = of(json!({ "command": form.replace('X', secret) }))
            .scenario
            .to_text();
        assert!(!text.contains(secret), "{form}: {text}");
    }
    for arguments in [
        json!({"auth": {"user": "bot", "pass": secret}}),
        json!({"field": "password", "text": secret}),
        json!({"placeholder": "Your password", "text": secret}),
        json!({"locator": "getByLabel('Password')", "value": secret}),
        json!({"pin": secret}),
    ] {
        let text = of(arguments.clone()).scenario.to_text();
        assert!(!text.contains(secret), "{arguments}: {text}");
    }
    let cookie = vec![
        call(
            "login",
            json!({}),
            json!({"cookie": "sid=hunter2-Blue77; Path=/"}),
        ),
        call("use", json!({"c": "sid=hunter2-Blue77"}), json!("ok")),
    ];
    let text = of_one(&recording("Go", cookie)).scenario.to_text();
    assert!(!text.contains("hunter2"), "{text}");
    for plain in [
        "docker run -p correcthorse:80 x",
        "git config set user.name correcthorse",
        "password: Correcthorse",
        "password: generated",
        "curl -b \"lang=correcthorse\" https://a.example",
        "echo correcthorse | docker load",
        "echo correcthorse | sudo tee /etc/motd",
        "echo correcthorse || docker login reg.example",
        "echo correcthorse; docker login reg.example",
        "echo $PW | docker login --password-stdin",
        "cat <<EOF > a.txt\ncorrecthorse\nEOF",
        "sudo -S id <<< $PW\nlsblk\ncorrecthorse",
        "grep -c password <<< \"a correcthorse\"",
        "echo correcthorse | tee passwords.txt",
        "getByLabel('Name').fill('correcthorse')",
    ] {
        let inferred = of(json!({ "command": plain }));
        assert_eq!(json!(inferred.scenario.variables), json!({}), "{plain}");
    }
}

#[test]
fn a_secret_inside_of_a_word_is_the_variable_and_no_part_of_it_is_shown() {
    const SECRET: &str = "kX9qLm72vB";
    let shell = |command: &str, stdout: &str| Call {
        server: None,
        result: Some(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call("claude__bash", json!({ "command": command }), json!(null))
    };
    let glued = || shell("mysql -pkX9qLm72vB -e 'select 1'", "");
    let prompt = "Log in with password kX9qLm72vB and then upload";
    for (prompt, calls) in [
        (prompt, vec![glued()]),
        (
            prompt,
            vec![shell("curl -u ann:'kX9qLm72vB' https://x", ""), glued()],
        ),
        (
            prompt,
            vec![
                call("type", json!({"text": "akX9qLm72vBb"}), json!("ok")),
                call("run", json!({"code": "fill('xkX9qLm72vB')"}), json!("ok")),
            ],
        ),
        (
            "the password is correcthorse",
            vec![shell("mysql -pcorrecthorse -e 1", "")],
        ),
        (
            "Do it",
            vec![shell("cat .env", "DB_PASSWORD=kX9qLm72vB\n"), glued()],
        ),
        // The shell took the rest of it for another command.
        (
            prompt,
            vec![
                shell("mysql -pkX9q", ""),
                failed("go", json!({}), "m72vB: not found"),
            ],
        ),
    ] {
        let inferred = of_one(&recording(prompt, calls));
        let written = inferred.scenario.to_text();
        assert_eq!(findings(&inferred), [] as [&str; 0], "{written}");
        let shown = format!("{}{inferred:?}", inferred.scenario.to_text());
        assert!(!shown.contains("correcthorse"), "{shown}");
        for part in SECRET.as_bytes().windows(5) {
            let part = String::from_utf8_lossy(part);
            assert!(!shown.contains(&*part), "{part}: {shown}");
        }
    }
    let inferred = of_one(&recording(prompt, vec![glued()]));
    let step = &inferred.scenario.steps[0];
    assert_eq!(
        param(step, "command"),
        "mysql -p{{COMMAND_SECRET}} -e 'select 1'"
    );
    let asked = "the command holds the value of `COMMAND_SECRET` where it may be read as code: pass it by `env`";
    assert_eq!(questions(&inferred), [asked]);
    let typed = vec![call("type", json!({"text": "akX9qLm72vBb"}), json!("ok"))];
    let inferred = of_one(&recording(prompt, typed));
    assert_eq!(
        param(&inferred.scenario.steps[0], "text"),
        "a{{TEXT_SECRET}}b"
    );
}
