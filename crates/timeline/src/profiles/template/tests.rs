//! Templates, both ways.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn placeholders_are_filled_and_optional_parts_left_out() {
    let find = Template::shell("find {path:file} -type d[ -name {name}]").expect("a template");
    assert_eq!(
        find.render(&json!({"path": "-a", "name": "b c"})),
        Ok("find './-a' -type d -name 'b c'".into())
    );
    assert_eq!(
        find.render(&json!({"path": "a"})),
        Ok("find 'a' -type d".into())
    );
    assert_eq!(find.render(&json!({})), Err("path".into()));
    assert_eq!(find.arguments(), ["path", "name"]);
    let sed = Template::shell("sed[ {inplace:flag -i}] -e {e}").expect("a template");
    assert_eq!(
        sed.render(&json!({"inplace": true, "e": "s/a/b/"})),
        Ok("sed -i -e 's/a/b/'".into())
    );
    assert_eq!(
        sed.render(&json!({"inplace": false, "e": ""})),
        Ok("sed -e ''".into())
    );
}

#[test]
fn arguments_stand_in_many_forms() {
    let render = |template: &str, args: &Json| {
        Template::plain(template)
            .expect("a template")
            .render(args)
            .expect("arguments")
    };
    let args = json!({"n": "7", "x": "7; ls", "t": "a\nb\n", "o": {"a": [1]}, "f": "d/f"});
    assert_eq!(render("{n:number} {x:number}", &args), "7 '7; ls'");
    assert_eq!(render("{t:lines -}.", &args), "-a\n-b\n.");
    assert_eq!(
        render("({o:json}, {t:json})", &args),
        r#"({"a":[1]}, "a\nb\n")"#
    );
    assert_eq!(
        render("{t:write f}", &args),
        "mkdir -p 'd' && cat > 'd/f' <<'EOF'\na\nb\nEOF"
    );
}

#[test]
fn templates_are_read_backwards() {
    let pattern = Template::plain("**/{name}").expect("a template");
    assert_eq!(
        pattern.invert("**/a").map(Json::Object),
        Some(json!({"name": "a"}))
    );
    assert_eq!(pattern.invert("a"), None);
    // A command may have been written by anybody.
    let command = Template::shell("ls {path}").expect("a template");
    assert_eq!(command.invert("ls 'a'"), None);
}

fn any_args() -> impl Strategy<Value = Json> {
    let text = || prop_oneof![any::<String>(), "[a-z'\\\\\n/-]{0,9}"];
    (
        text(),
        text(),
        text(),
        any::<bool>(),
        proptest::option::of(text()),
        any::<i64>(),
    )
        .prop_map(|(path, a, b, flag, more, n)| {
            json!({"path": path, "a": a, "b": b, "flag": flag, "more": more, "n": n})
        })
}

proptest! {
    #[test]
    fn what_a_template_makes_is_made_of_what_it_reads_backwards(args in any_args()) {
        for text in [
            "go({a:json}, {n:json});",
            "to {path:json} && {a:raw}",
        ] {
            let template = Template::plain(text).expect("a template");
            let made = template.render(&args).expect("all is there");
            let back = template.invert(&made);
            prop_assert!(back.is_some(), "{} {}", text, made);
            let back = Json::Object(back.expect("checked"));
            prop_assert_eq!(template.render(&back), Ok(made));
            for (name, value) in back.as_object().expect("an object") {
                if name != "path" {
                    prop_assert_eq!(value, &args[name], "{} of {}", name, text);
                }
            }
        }
    }

    #[test]
    fn any_text_can_be_tried(text in any::<String>(), quoted in "[cd '&/\n<EOF]{0,40}") {
        for template in ["cd {a:json} && {b:raw}", "{a:lines -}{b:json}"] {
            let template = Template::plain(template).expect("a template");
            for text in [&text, &quoted] {
                if let Some(args) = template.invert(text) {
                    prop_assert_eq!(template.render(&Json::Object(args)), Ok(text.clone()));
                }
            }
        }
    }
}

#[test]
fn mistakes_are_told() {
    for text in ["{a", "[a", "[a [b]]", "{}", "{a:nope}"] {
        assert!(Template::shell(text).is_err(), "{text}");
    }
}
