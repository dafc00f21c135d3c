use super::super::source::tests::text;
use super::*;
use proptest::prelude::*;
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
        let _ = expression(&format!("{before}{{{{a.b}}}}{after}").replace("{{{", "{ {{").replace("}}}", "}} }"), &[("a.b", "x")]);
    }
}

/// The same with a real engine, where the tests have one.
#[test]
fn node_agrees() {
    if std::env::var_os("CUECARD_TEST_PEERS").is_none_or(|value| value == "0") {
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::new(config(200));
    let mut program = String::from("const checks = [];\n");
    for _ in 0..200 {
        let value = nasty().new_tree(&mut runner).expect("a value").current();
        // Text that is JSON would rightly become that value in code.
        let value = format!("·{value}");
        let expected = serde_json::to_string(&value)
            .expect("JSON")
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
        for template in TEMPLATES {
            program.push_str(&format!(
                "checks.push([{}, {expected}]);\n",
                bound(template, &value)
            ));
        }
    }
    program.push_str("for (const [a, b] of checks) if (a !== b) { console.log(JSON.stringify([a, b])); process.exit(1); }\nconsole.log('agreed', checks.length);");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("checks.cjs");
    std::fs::write(&path, program).expect("written");
    let output = std::process::Command::new("node")
        .arg(&path)
        .output()
        .expect("node starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        stdout.trim(),
        format!("agreed {}", 200 * TEMPLATES.len()),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
