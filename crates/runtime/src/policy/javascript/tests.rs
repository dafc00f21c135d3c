use super::super::source::tests::text;
use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed};

fn expression(template: &str, values: &[(&str, &str)]) -> Result<String, Refusal> {
    bind(&text(template, values), ScriptShape::Expression)
}

fn bound(template: &str, value: &str) -> String {
    expression(template, &[("a.b", value)])
        .unwrap_or_else(|refusal| panic!("{template}: {refusal}"))
}

fn refused(template: &str) -> Refusal {
    let refusal = expression(template, &[("a.b", "x"), ("a.c", "y")]).expect_err(template);
    assert_eq!(refusal.kind, RefusalKind::Data, "{template}");
    refusal
}

#[test]
fn the_author_and_the_user_are_spliced() {
    let script = "x => x.map(/'/, `a${b}`) // <!-- done";
    assert_eq!(
        bind(&script.into(), ScriptShape::Function).expect("trusted"),
        format!("{script}\n")
    );
    // Even what the lexer can't read.
    assert_eq!(
        bind(&"'".into(), ScriptShape::Expression).expect("trusted"),
        "'"
    );
}

#[test]
fn each_place_has_its_literal() {
    assert_eq!(bound("x === {{a.b}}", "it's"), r#"x === ("it\'s")"#);
    assert_eq!(bound("x === '{{a.b}}'", "it's \\"), r"x === 'it\'s \\'");
    assert_eq!(bound("x === \"{{a.b}}\"", "\"\n"), r#"x === "\"\n""#);
    assert_eq!(bound("`<{{a.b}}>`", "`${x}"), r#"`<${"`${x}"}>`"#);
    assert_eq!(bound("`$${{a.b}}`", "{x}"), r#"`$$${"{x}"}`"#);
    assert_eq!(bound("`${f({{a.b}})}`", "x"), r#"`${f(("x"))}`"#);
    assert_eq!(bound("`${`'{{a.b}}'`}`", "x"), r#"`${`'${"x"}'`}`"#);
    assert_eq!(
        bound("() => { return {{a.b}} }", "x"),
        r#"() => { return ("x") }"#
    );
    assert_eq!(bound("() => {{a.b}}", "{\"k\":1}"), r#"() => ({"k":1})"#);
    assert_eq!(bound("o[{{a.b}}]", "x"), r#"o[("x")]"#);
    assert_eq!(
        bound("o.return / 2 + '{{a.b}}' / 2", "x"),
        "o.return / 2 + 'x' / 2"
    );
    assert_eq!(bound("(a) / 2 + '{{a.b}}'", "'"), r"(a) / 2 + '\''");
    assert_eq!(
        bound("if (a) /'/.test('{{a.b}}')", "'"),
        r"if (a) /'/.test('\'')"
    );
    assert_eq!(
        bound("x = /[/'\"]\\//g, '{{a.b}}'", "'"),
        r#"x = /[/'"]\//g, '\''"#
    );
    assert_eq!(bound("/* ' */ '{{a.b}}' // '", "'"), "/* ' */ '\\'' // '\n");
    assert_eq!(bound("x-->0 && '{{a.b}}'", "'"), r"x-->0 && '\''");
    assert_eq!(
        bound("1e-5 + {{a.b}} + 0xe-{{a.b}}", "7"),
        "1e-5 + (7) + 0xe-(7)"
    );
}

#[test]
fn json_keeps_its_type_where_an_expression_is_expected() {
    let items: String = serde_json::json!([1, "a\u{2028}"]).to_string();
    for (value, literal) in [
        ("5", "5"),
        ("-5", "-5"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1.50", "1.50"),
        ("true", "true"),
        ("null", "null"),
        ("[]", "[]"),
        (items.as_str(), "[1,\"a\\u2028\"]"),
        (
            "{\"a\":{\"__proto__\":1}}",
            "JSON.parse(\"{\\\"a\\\":{\\\"__proto__\\\":1}}\")",
        ),
        (
            "{\"\\u005f_proto__\":1}",
            "JSON.parse(\"{\\\"\\\\u005f_proto__\\\":1}\")",
        ),
        ("007", "\"007\""),
        (" 5", "\" 5\""),
        ("\"x\"", "\"\\\"x\\\"\""),
        ("NaN", "\"NaN\""),
        ("", "\"\""),
        ("1e999", "\"1e999\""),
        ("[1,]", "\"[1,]\""),
    ] {
        assert_eq!(
            bound("f({{a.b}})", value),
            format!("f(({literal}))"),
            "{value}"
        );
    }
    // In quotes everything is text.
    assert_eq!(bound("f('{{a.b}}')", "[]"), "f('[]')");
}

#[test]
fn places_that_are_no_places_for_values_are_refused() {
    for (template, word) in [
        ("/{{a.b}}/.test(x)", "regular expression"),
        ("x.replace(/a[{{a.b}}]/, '')", "regular expression"),
        ("/\\{{a.b}}/", "regular expression"),
        ("1 // {{a.b}}", "comment"),
        ("1 /* {{a.b}} */", "comment"),
        ("'\\{{a.b}}'", "backslash"),
        ("'\\0{{a.b}}'", "escape"),
        ("'\\x4{{a.b}}'", "escape"),
        ("'\\u00{{a.b}}'", "escape"),
        ("'\\u{1{{a.b}}'", "escape"),
        ("`\\{{a.b}}`", "backslash"),
        ("get{{a.b}}", "no value"),
        ("f() {{a.b}}", "no value"),
        ("f()\n{{a.b}}.x", "no value"),
        ("{{a.b}}{{a.c}}", "no value"),
        ("function f() {} {{a.b}}", "no value"),
        ("o.{{a.b}}", "a name"),
        ("o?.{{a.b}}", "a name"),
        ("const {{a.b}} = 1", "a name"),
        ("import {{a.b}}", "a name"),
        ("({ {{a.b}}: 1 })", "a name"),
        ("({ x, {{a.b}} : 1 })", "a name"),
        ("eval({{a.b}})", "as code"),
        ("eval('f(\"{{a.b}}\")')", "as code"),
        ("(window.eval)?.x; eval /**/ (`${`{{a.b}}`}`)", "as code"),
        ("new Function('a', '{{a.b}}')", "as code"),
        ("import('./' + {{a.b}})", "as code"),
        ("setTimeout('f({{a.b}})', 1)", "as code"),
        ("window.setInterval(`f({{a.b}})`, 1)", "as code"),
    ] {
        let refusal = refused(template);
        assert!(refusal.message.contains(word), "{template}: {refusal}");
        assert!(
            refusal.message.contains("`{{a.b}}`") || refusal.message.contains("`{{a.c}}`"),
            "{refusal}"
        );
    }
}

#[test]
fn harmless_uses_of_timers_and_like_names_are_fine() {
    for template in [
        "setTimeout(() => f({{a.b}}), 10)",
        "new Promise(r => setTimeout(r, {{a.b}}))",
        "o.evaluate({{a.b}})",
        "({ [{{a.b}}]: 1 })",
        "x ? {{a.b}} : 1",
        "switch (x) { case {{a.b}}: y() }",
        "for (const x of {{a.b}}) f(x)",
        "async () => { await {{a.b}} }",
        "...{{a.b}}",
        "a = b\n+ {{a.b}}",
    ] {
        bound(template, "1");
    }
}

#[test]
fn where_the_lexer_is_in_doubt_it_refuses() {
    for template in [
        "} / 2 + '{{a.b}}'",
        "if (x) {} /'/ + '{{a.b}}'",
        "x++ / 2 + '{{a.b}}'",
        "x <!-- '\n + '{{a.b}}'",
        "--> '\n '{{a.b}}'",
        "/*\n*/ --> '\n '{{a.b}}'",
        "#! '\n '{{a.b}}'",
        "'{{a.b}}",
        "`{{a.b}}",
        "f('{{a.b}}'",
        "['{{a.b}}')",
        "'a\n' + '{{a.b}}'",
        "\\u0065val('{{a.b}}')",
        "yield /'/ + '{{a.b}}'",
    ] {
        refused(template);
    }
}

#[test]
fn a_function_is_never_data_but_an_expression_may_be() {
    let all = text(" {{a.b}} ", &[("a.b", "() => 1")]);
    assert!(bind(&all, ScriptShape::Function).is_err());
    assert_eq!(
        bind(&all, ScriptShape::Expression).expect("a value"),
        " (\"() => 1\") "
    );
}

const TEMPLATES: &[&str] = &[
    "({{a.b}})",
    "'{{a.b}}'",
    "\"{{a.b}}\"",
    "`{{a.b}}`",
    "`${'{{a.b}}'}`",
    "`${`{{a.b}}`}`",
    "[/['\"`]/, {{a.b}}][1]",
    "(() => { /* ' */ return \"{{a.b}}\" // '\n })()",
    "String.raw`{{a.b}}`",
];

fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![
                "'",
                "\"",
                "`",
                "\\",
                "${",
                "}",
                "$",
                "{",
                "\n",
                "\r\n",
                "\u{2028}",
                "\u{2029}",
                "\0",
                "</script>",
                "<!--",
                "-->",
                "//",
                "/*",
                "*/",
                "');",
                "alert(1)",
                "0",
                "7",
                "x41",
                "u0041",
                "é",
                "😀",
                "\u{7f}",
                "[",
                "]",
            ])
            .prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
        ],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(20_261),
        failure_persistence: None,
        ..Config::default()
    }
}

/// What a string literal of JavaScript means; `None` if it isn't one, or if it ends early.
fn decode(literal: &str) -> Option<String> {
    let quote = literal.chars().next()?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut decoded = String::new();
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next()? {
                'n' => decoded.push('\n'),
                'r' => decoded.push('\r'),
                't' => decoded.push('\t'),
                'u' => {
                    let digits: String = rest.by_ref().take(4).collect();
                    decoded.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other if matches!(other, '\\' | '\'' | '"') => decoded.push(other),
                _ => return None,
            },
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => return None,
            other if other == quote => return None,
            other => decoded.push(other),
        }
    }
    Some(decoded)
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn a_string_means_the_data_and_nothing_else(value in nasty()) {
        for quote in ["'", "\""] {
            let literal = bound(&format!("{quote}{{{{a.b}}}}{quote}"), &value);
            prop_assert_eq!(decode(&literal), Some(value.clone()));
        }
        let template = bound("`{{a.b}}`", &value);
        let literal = template.strip_prefix("`${").and_then(|rest| rest.strip_suffix("}`")).expect("a substitution");
        prop_assert_eq!(decode(literal), Some(value));
    }

    #[test]
    fn nothing_panics_and_trusted_text_is_kept(template in ".{0,60}", before in nasty(), after in nasty()) {
        let kept = bind(&Text::from(template.as_str()), ScriptShape::Expression).expect("trusted");
        prop_assert_eq!(kept.trim_end_matches('\n'), template.trim_end_matches('\n'));
        let pieces = ["a", &before, "{{a.b}}", &after].map(|part| match part {
            "{{a.b}}" => text(part, &[("a.b", "x")]).pieces()[0].clone(),
            author => Piece::author(author),
        });
        let _ = bind(&Text::new(pieces.to_vec()), ScriptShape::Expression);
    }
}

/// Whether the tests are to use what is installed on the machine.
fn has_peers() -> bool {
    std::env::var_os("CUECARD_TEST_PEERS").is_some_and(|value| value != "0")
}

/// What node prints when it runs `program`.
fn node(program: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("checks.cjs");
    std::fs::write(&path, program).expect("written");
    let output = std::process::Command::new("node")
        .arg(&path)
        .output()
        .expect("node starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Text as a literal that doesn't depend on what is tested.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("JSON");
    json.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[test]
fn node_reads_the_data_that_was_bound() {
    if !has_peers() {
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::new(config(200));
    let mut program = String::from("const checks = [];\n");
    for _ in 0..200 {
        // Text that is JSON would rightly become that value in code.
        let value = format!(
            "·{}",
            nasty().new_tree(&mut runner).expect("a value").current()
        );
        for template in TEMPLATES {
            let line = format!(
                "checks.push([{}, {}]);\n",
                bound(template, &value),
                quoted(&value)
            );
            program.push_str(&line);
        }
    }
    program.push_str(
        "const wrong = checks.filter(([a, b]) => a !== b);\n\
         console.log(checks.length, JSON.stringify(wrong.slice(0, 3)));",
    );
    assert_eq!(node(&program), format!("{} []", 200 * TEMPLATES.len()));
}

/// Random scripts with hostile data: whatever is not refused must not run the data.
#[test]
fn node_runs_no_data() {
    const TOKENS: &[&str] = &[
        "{{a.b}}",
        "'{{a.b}}'",
        "\"{{a.b}}\"",
        "`{{a.b}}`",
        "`${ {{a.b}} }`",
        "'",
        "\"",
        "`",
        "${",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "/",
        "/a/",
        "/['\"]/g",
        "/* ' */",
        "// \"\n",
        "/*",
        "*/",
        "\n",
        ";",
        "+",
        "-",
        "++",
        "--",
        "=>",
        "=",
        "x",
        "x = ",
        ", ",
        ".",
        "?.",
        "? ",
        ": ",
        "return ",
        "typeof ",
        "if (x) ",
        "for (const y of ",
        "function f() ",
        "() => ",
        "eval(",
        "eval",
        "Function(",
        "new Function(",
        "setTimeout(",
        "f(",
        "String.raw",
        "await ",
        "of ",
        "1",
        "0x1",
        "1e",
        "\\",
        "\\u{",
        "\\x",
        "<!--",
        "-->",
        "<",
        ">",
        "!",
        "async ",
        "get ",
        "class A ",
        "case ",
        "in ",
        "...",
        "#",
        "@",
        "do ",
        "else ",
        "while (0) ",
        "let ",
        "import(",
        " ",
        "'a' + ",
        "x(",
        "y[",
        "({ ",
        " })",
        "(() => { ",
        " })()",
    ];
    const PAYLOADS: &[&str] = &[
        "canary()",
        "';canary();'",
        "\";canary();\"",
        "${canary()}",
        "`;canary();`",
        "*/canary()/*",
        "\ncanary()\n",
        "\u{2028}canary()//",
        "]/;canary();/[",
        "');canary()//",
        "\\';canary();//",
        "{\"a\":1}",
        "\\",
        "x=canary()",
    ];
    if !has_peers() {
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let tokens = prop::collection::vec(prop::sample::select(TOKENS), 1..9);
    let mut program = String::from(
        "const vm = require('vm');\n\
         process.on('unhandledRejection', () => {});\n\
         const ran = [];\n\
         let count = 0;\n\
         function check(script) {\n\
         count += 1;\n\
         const context = vm.createContext({ canary() { ran.push(script); } });\n\
         context.setTimeout = (code) => typeof code === 'string' && vm.runInContext(code, context);\n\
         context.f = context.y = (x) => x;\n\
         for (const text of [script, `(${script})`, `(function () { ${script}\\n})()`])\n\
         try { vm.runInContext(text, context, { timeout: 100 }); } catch {}\n\
         }\n",
    );
    // The first one shows that it would be noticed.
    program
        .push_str("check('canary()'); if (ran.length !== 3) throw ran; ran.length = count = 0;\n");
    let mut accepted = 0;
    for number in 0..40_000 {
        let template = tokens
            .new_tree(&mut runner)
            .expect("tokens")
            .current()
            .concat();
        let template = template.replace("{{{", "{ {{").replace("}}}", "}} }");
        if !template.contains("{{a.b}}") || template.replace("{{a.b}}", "").contains("{{") {
            continue;
        }
        let payload = PAYLOADS[number % PAYLOADS.len()];
        if let Ok(script) = expression(&template, &[("a.b", payload)]) {
            program.push_str(&format!("check({});\n", quoted(&script)));
            accepted += 1;
        }
    }
    assert!(accepted > 1_000, "only {accepted} scripts were not refused");
    program.push_str("console.log(count, JSON.stringify(ran.slice(0, 5)));");
    assert_eq!(node(&program), format!("{accepted} []"));
}
