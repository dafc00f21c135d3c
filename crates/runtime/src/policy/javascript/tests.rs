use super::super::source::tests::text;
use super::*;
use cuecard_source::value::as_text;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;

mod everyday;

fn program(template: &str, values: &[(&str, &str)]) -> Result<String, Refusal> {
    bind(&text(template, values), ScriptShape::Program)
}

fn bound(template: &str, value: &str) -> String {
    program(template, &[("a.b", value)])
        .unwrap_or_else(|refusal| panic!("{template}: {refusal} ({})", refusal.help))
}

fn refused(template: &str) -> Refusal {
    let refusal = program(template, &[("a.b", "x"), ("a.c", "y")]).expect_err(template);
    assert_eq!(refusal.kind, RefusalKind::Data, "{template}");
    refusal
}

#[test]
fn the_author_and_the_user_are_spliced() {
    for script in ["x => x.map(/'/, `a${b}`) // <!-- done", "'", "eval(x)"] {
        for shape in [
            ScriptShape::Program,
            ScriptShape::Function,
            ScriptShape::Condition,
        ] {
            assert_eq!(bind(&script.into(), shape).expect("trusted"), script);
        }
    }
}

#[test]
fn data_is_bound_in_front_of_the_script() {
    let cases = [
        (
            "x === {{a.b}}",
            "((__cuecard_1 = \"it's\") => (x === __cuecard_1\n))()",
        ),
        (
            "x === '{{a.b}}'",
            "((__cuecard_1 = '' + \"it's\" + '') => (x === __cuecard_1\n))()",
        ),
        (
            "$x('#{{a.b}}')",
            "((__cuecard_1 = '#' + \"it's\" + '') => ($x(__cuecard_1)\n))()",
        ),
        (
            "f(\"<{{a.b}}>\")",
            "((__cuecard_1 = \"<\" + \"it's\" + \">\") => (f(__cuecard_1)\n))()",
        ),
        (
            "`<{{a.b}}>`",
            "((__cuecard_1 = \"it's\") => (`<${__cuecard_1}>`\n))()",
        ),
        (
            "`${f({{a.b}})}`",
            "((__cuecard_1 = \"it's\") => (`${f(__cuecard_1)}`\n))()",
        ),
        (
            "() => '{{a.b}}' + {{a.b}} // {{a.b}}",
            "((__cuecard_1 = '' + \"it's\" + '', __cuecard_2 = \"it's\") => (() => __cuecard_1 + __cuecard_2 // __cuecard_3\n))()",
        ),
        (
            "const x = {{a.b}}; x",
            "{ const __cuecard_1 = \"it's\";\nconst x = __cuecard_1; x\n}",
        ),
    ];
    for (template, expected) in cases {
        assert_eq!(bound(template, "it's"), expected, "{template}");
    }
    let shaped = |template, shape| bind(&text(template, &[("a.b", "x")]), shape).expect(template);
    assert_eq!(
        shaped("document.title === {{a.b}};", ScriptShape::Function),
        "() => ((__cuecard_1 = \"x\") => (document.title === __cuecard_1\n))()"
    );
    assert_eq!(
        shaped("(await f()).id === {{a.b}}", ScriptShape::Condition),
        "(async (__cuecard_1 = \"x\") => ((await f()).id === __cuecard_1\n))()"
    );
}

#[test]
fn what_is_no_expression_is_bound_as_statements() {
    for template in [
        "x = {{a.b}}; x",
        "f({{a.b}});",
        "a.value = {{a.b}}\nb.click()",
        "a.value = {{a.b}}\n\"x\"",
        "function f(x) { return x }\nf({{a.b}})",
        "function f(x) { return x } f({{a.b}})",
        "if (x) f({{a.b}})",
        "return f({{a.b}})",
        "{ f({{a.b}}) }",
        "await f({{a.b}})",
    ] {
        assert!(bound(template, "x").starts_with("{ const "), "{template}");
    }
    for template in [
        "function () { return {{a.b}}; }",
        "function f() { const x = 1\nreturn {{a.b}} }",
        "async () => { await f({{a.b}}); }",
        "(function () { g(); return {{a.b}} })()",
        "f()\n  .g({{a.b}})\n  .h",
        "a in\nb || {{a.b}}",
        "[\n'a',\n{{a.b}}\n]",
        "x => x.map(async y => await y.f({{a.b}}))",
    ] {
        assert!(
            bound(template, "x").starts_with("((__cuecard"),
            "{template}"
        );
    }
}

#[test]
fn a_value_keeps_its_type_where_an_expression_is_expected() {
    let bound = |template: &str, json: &serde_json::Value| {
        let mut pieces = text(template, &[("a.b", &as_text(json))]).pieces().to_vec();
        for piece in &mut pieces {
            piece.is_string = piece.origin.is_trusted() || json.is_string();
        }
        bind(&Text::new(pieces), ScriptShape::Program).expect("bound")
    };
    for (value, literal) in [
        (json!(5), "5"),
        (json!(-5), "-5"),
        (json!(1.5), "1.5"),
        (json!(true), "true"),
        (json!(null), "null"),
        (json!([]), "[]"),
        (json!([1, "a\u{2028}"]), "[1,\"a\\u2028\"]"),
        (
            json!({"a": {"__proto__": 1}}),
            "JSON.parse(\"{\\\"a\\\":{\\\"__proto__\\\":1}}\")",
        ),
        (json!("404"), "\"404\""),
        (json!("1.10"), "\"1.10\""),
        (json!("true"), "\"true\""),
        (json!("null"), "\"null\""),
        (json!("{\"a\":1}"), "\"{\\\"a\\\":1}\""),
        (json!("[1,]"), "\"[1,]\""),
        (json!("\"x\""), "\"\\\"x\\\"\""),
        (json!(""), "\"\""),
    ] {
        assert_eq!(
            bound("f({{a.b}})", &value),
            format!("((__cuecard_1 = {literal}) => (f(__cuecard_1)\n))()"),
            "{value}"
        );
    }
    // In quotes everything is text.
    assert!(bound("f('{{a.b}}')", &json!([])).contains("= '' + \"[]\""));
    assert!(bound("f(`{{a.b}}`)", &json!(5)).contains("= \"5\""));
    assert!(bound("f('{{a.b}}')", &json!(null)).contains("= '' + \"\""));
}

#[test]
fn places_that_are_no_places_for_values_are_refused() {
    for (template, help) in [
        (
            "/{{a.b}}/.test(x)",
            "compare with `text.includes({{a.b}})`, or write `new RegExp('…' + {{a.b}})`",
        ),
        ("'\\{{a.b}}'", "write `\\\\` for a backslash"),
        ("'\\x{{a.b}}'", "write `\\\\` for a backslash"),
        ("'\\u00{{a.b}}'", "write `\\\\` for a backslash"),
        ("`\\u{4{{a.b}}`", "write `\\\\` for a backslash"),
        ("`\\{{a.b}}`", "write `\\\\` for a backslash"),
        ("get{{a.b}}", "write `'…' + {{a.b}}` for a text"),
        ("{{a.b}}px", "write `'…' + {{a.b}}` for a text"),
        ("f() {{a.b}}", "put an operator before `{{a.b}}`"),
        (
            "o?.{{a.b}}",
            "write `[{{a.b}}]` in place of `.{{a.b}}`, or `?.[{{a.b}}]`",
        ),
        ("const {{a.b}} = 1", "put an operator before `{{a.b}}`"),
        ("({ {{a.b}}: 1 })", "write `[{{a.b}}]: …`"),
        ("({ x, {{a.b}} : 1 })", "write `[{{a.b}}]: …`"),
        ("({ 'data-{{a.b}}': 1 })", "write `[{{a.b}}]: …`"),
        ("({ {{a.b}} })", "write `[{{a.b}}]: …`"),
    ] {
        assert_eq!(refused(template).help, help, "{template}");
    }
}

#[test]
fn a_script_that_makes_code_of_values_gets_none() {
    for template in [
        "location.href = {{a.b}}",
        "window.location = {{a.b}}",
        "location.assign({{a.b}})",
        "document.location.replace({{a.b}})",
        "open({{a.b}})",
        "(() => {}).constructor({{a.b}})()",
        "require('child_process').execSync({{a.b}})",
        "window.open({{a.b}}, '_blank')",
        "const { eval: run } = window; run({{a.b}})",
        "const d = document; d.write({{a.b}})",
        "const set = el.setAttribute; set.call(el, 'onclick', {{a.b}})",
        "const s = document.createElement('SCRIPT'); s.text = {{a.b}}",
        "[{{a.b}}].forEach(setTimeout)",
        "el.setAttribute('onclick', {{a.b}})",
        "el.setAttribute('on' + x, {{a.b}})",
        "el.setAttribute({{a.b}}, {{a.c}})",
        "el.setAttribute('href', {{a.b}})",
        "el.setAttributeNS(null, 'onclick', {{a.b}})",
        "script.textContent = {{a.b}}",
        "document.querySelector('script').text = {{a.b}}",
        "document.scripts[0].innerText += {{a.b}}",
        "const f = eval; f({{a.b}})",
        "window.eval?.({{a.b}})",
        "new Function('a', '{{a.b}}')()",
        "import('./' + {{a.b}})",
        "setTimeout({{a.b}}, 1)",
        "setTimeout('f({{a.b}})', 1)",
        "window.setInterval(`f({{a.b}})`, 1)",
        "const later = setTimeout; later({{a.b}})",
        "setTimeout.call(null, {{a.b}})",
        "setTimeout(function () { return {{a.b}} }(), 1)",
        "setTimeout((() => {{a.b}})(), 1)",
        "document.defaultView[{{a.b}}]",
        "el.innerHTML = {{a.b}}",
        "el.innerHTML = `<b>` + {{a.b}}",
        "el.innerHTML = `<b>${x}`; f({{a.b}})",
        "el.innerHTML = null ?? {{a.b}}",
        "el.innerHTML = '<b>'\n+ {{a.b}}",
        "location.href = '/x' ? {{a.b}} : ''",
        "setTimeout(x => x, 1); setTimeout(f({{a.b}}))",
        "el.innerHTML += '<b>' + {{a.b}}",
        "el.insertAdjacentHTML('beforeend', {{a.b}})",
        "document.write({{a.b}})",
        "img.src = {{a.b}}",
        "form.action = {{a.b}}",
        "frame.srcdoc = {{a.b}}",
        "window[{{a.b}}]({{a.c}})",
        "const f = window[{{a.b}}]; f({{a.c}})",
        "el[{{a.b}}] = {{a.c}}",
        "$({{a.b}})",
        "a.href = 'javascript:' + {{a.b}}",
        "async (page) => { await page.evaluate({{a.b}}) }",
        "() => { const evaluate = x => x; return evaluate({{a.b}}) }",
        "async (page) => { await page.$eval('a', {{a.b}}) }",
        "async (page) => { await page.setContent({{a.b}}) }",
        r"\u0065val({{a.b}})",
        "document.write('<b>' + {{a.b}} + '</b>')",
        "const t = {{a.b}}; document.write('<b>' + t)",
        "el.innerHTML = '<li>'\n  + {{a.b}}\n  + '</li>'",
        "el.innerHTML = '<li>'\n  .concat({{a.b}})",
        "el.innerHTML = '<li>'\n  [{{a.b}}]",
        "location.href = ''\n + {{a.b}}",
        "location.href = '/'.slice(1) + {{a.b}}",
        "location.href = `/${x}` && {{a.b}}",
        "location.href = x ? 'https://x' : {{a.b}}",
        "el.setAttribute('href', '' + {{a.b}})",
        "el.setAttribute('on' + 'click', {{a.b}})",
        "el.setHTMLUnsafe({{a.b}})",
        "async page => { await page.addScriptTag({ content: {{a.b}} }) }",
        "async page => { await page.addInitScript('x = ' + {{a.b}}) }",
        "Object.assign(el, { innerHTML: {{a.b}} })",
        "Object.assign(el, {{a.b}})",
        "Object.assign(el, { ...{{a.b}} })",
        "location.hostname = {{a.b}}",
        "window.location.host = {{a.b}}",
        "const innerHTML = {{a.b}}; Object.assign(el, { innerHTML })",
        "Object.assign(document.createElement('a'), { href: {{a.b}}, download: 'x.csv' }).click()",
        "document.head.append(Object.assign(document.createElement('script'), { textContent: {{a.b}} }))",
        "document.head.append(Object.assign(document.createElement('script'), { src: {{a.b}} }))",
        "const s = document.createElement('script'); s.append({{a.b}}); document.head.append(s)",
        "const s = document.createElement('script'); s.appendChild(document.createTextNode({{a.b}}))",
        "document.createElement('script').insertAdjacentText('beforeend', {{a.b}})",
        "document.querySelector('script#x').textContent = {{a.b}}",
        "document.querySelector('script[src]').firstChild.nodeValue = {{a.b}}",
        "$('<script>').text({{a.b}}).appendTo('head')",
        "window.$({{a.b}})",
        "window.jQuery('<b>' + {{a.b}})",
        "const to = window.location; to.assign({{a.b}})",
        "location['replace']({{a.b}})",
        "document.write.call(document, {{a.b}})",
        "[el.innerHTML] = [{{a.b}}]",
        "({ x: el.innerHTML } = { x: {{a.b}} })",
        "for (el.innerHTML of [{{a.b}}]) {}",
        "el?.[`innerHTML`] = {{a.b}}",
        "s.src = '//' + {{a.b}} + '/x.js'",
        "s.src = 'https://' + {{a.b}}",
        "s.src = 'https://shop.example' + {{a.b}}",
        "s.src = '/' + {{a.b}}",
        "s.src = '/\\\\' + {{a.b}}",
        "const $ = jQuery; $('ul').append({{a.b}})",
        "const $ = (s) => jQuery(s); $({{a.b}})",
        "o[{{a.b}}]++",
        "const u = {{a.b}}; setTimeout(u, 1)",
        "new Worker({{a.b}})",
        "importScripts({{a.b}})",
        "Reflect.set(el, 'innerHTML', {{a.b}})",
        // Nothing is followed: what might be harmless is handed over in a step of its own.
        "document.write('<b>', '</b>'); f({{a.b}})",
        "location.href = 'https://shop.example/?q='\n + {{a.b}}",
        "location.href = `/of/${x}/` + {{a.b}}",
        "() => {\n  location.href = `/x/${ {{a.b}} }`\n  return true\n}",
        "setTimeout(console.log, 10, {{a.b}})",
        "[page.waitForFunction, location.replace, {{a.b}}]",
        "Object.assign({}, { name: {{a.b}}, href: a.href, src: '/x.png' })",
        "Object.assign({}, {{a.b}})",
        "Object.assign({ a: 1 }, x, {{a.b}})",
        "Object.assign({}, { ['name']: {{a.b}} })",
        "el.innerHTML = `<ul></ul>`; f({{a.b}})",
        "el.innerHTML = '<b>' + 'x' + '</b>'; f({{a.b}})",
        "el.innerHTML = null; f({{a.b}})",
        "document.querySelector('script')?.textContent.includes({{a.b}})",
        "[...document.querySelectorAll('script[type=x]')].some(s => s.textContent.includes({{a.b}}))",
        "const $ = (s) => document.querySelector(s); $('#list').append({{a.b}}); $({{a.b}})",
        "s.src = 'https://shop.example/' + {{a.b}}",
        "s.src = '/img/' + {{a.b}}",
        "s.src = '//cdn.example/' + {{a.b}}",
        "el.href = 'https://shop.example/?q=' + {{a.b}}",
        "el.href = `/item/{{a.b}}`",
        "location.href = '/search?q=' + encodeURIComponent({{a.b}})",
        "location.assign('/next'); f({{a.b}})",
        "a.setAttribute('href', '#'); f({{a.b}})",
        "setTimeout(function (a = {}) { return {{a.b}} }(), 1)",
        "(({ x } = {}) => x)({{a.b}})",
    ] {
        let refusal = refused(template);
        assert!(
            refusal.message.contains("`{{a.b}}`"),
            "{template}: {refusal}"
        );
        assert!(!refusal.help.is_empty());
    }
    for template in [
        "async page => { await page.evaluate(() => f({{a.b}})) }",
        "async page => { await page.$$eval('a', els => els.filter(el => el.text === '{{a.b}}')) }",
    ] {
        let help = refused(template).help;
        assert!(
            help.ends_with("pass data as its argument, `evaluate(value => …, {{a.b}})`"),
            "{help}"
        );
    }
    for template in [
        "async page => await page.evaluate(x => f(x), {{a.b}})",
        "async page => await page.$$eval('a', (els, x) => els.length + x, {{a.b}})",
        "document.evaluate({{a.b}}, document)",
        "const f = () => 1; setTimeout(f, {{a.b}})",
        "async page => [await page.evaluate('document.title'), {{a.b}}]",
        "async page => { const f = x => x.id; await page.evaluate(f, {{a.b}}) }",
        "async page => await page.evaluate(({ a, b }) => a + b, { a: {{a.b}}, b: 1 })",
        "new Promise((resolve, reject) => setTimeout(resolve, {{a.b}}))",
        "new Promise(r => window.setTimeout(r, {{a.b}}))",
        "function tick() { g({{a.b}}) } setInterval(tick, 5)",
        "setTimeout(function () { f({{a.b}}) }, 1)",
        "setTimeout(async () => f({{a.b}}))",
        "const href = a.href; href === {{a.b}}",
        "const { location } = window; location.href === {{a.b}}",
        "a.href == {{a.b}} || a.href >= {{a.b}}",
        "el.textContent = {{a.b}}",
        "el.setAttribute('aria-label', {{a.b}})",
        "el.innerHTML = ''; el.append({{a.b}})",
        "el.innerHTML = ''\nel.append({{a.b}})",
        "if (x) { el.innerHTML = '' } f({{a.b}})",
        "async page => { await page.addInitScript(x => { window.x = x }, {{a.b}}) }",
        "x.text.replace({{a.b}}, '')",
        "() => {\n  location.href = '/x/1'\n  return {{a.b}}\n}",
        "() => {\n  img.src = ''\n  return {{a.b}}\n}",
        "location.href = '/x'\nf({{a.b}})",
        "(() => { window.VALUE = {{a.b}} })()",
        "() => {\n  if (x) el.outerHTML = '<i></i>'\n  else f({{a.b}})\n}",
        "() => { const evaluate = x => x; return evaluate(1, {{a.b}}) }",
        "const { evaluate } = page; typeof page.evaluate === {{a.b}}",
        "rows.map(row => ({ text: row.textContent, href: row.href, html: '' + {{a.b}} }))",
        "[...document.links].map(a => ({ href: a.href })).filter(a => a.href === {{a.b}})",
        "location.host === {{a.b}} && (config.host = {{a.b}})",
        "const counts = {}; counts[a.href] = {{a.b}}; counts",
        "['href', 'src'].map(name => el.getAttribute(name)).includes({{a.b}})",
        "el.getAttribute('href') + {{a.b}}",
        "a.href.replace(/x/, '') === {{a.b}}",
        "JSON.stringify(location) + {{a.b}}",
        "location['href'] === {{a.b}}",
        "document.querySelector('#description').textContent = {{a.b}}",
        "document.querySelector('.script-list').textContent = {{a.b}}",
        "const li = document.createElement('li'); li.append({{a.b}}); list.append(li)",
        "router.replace({ name: 'item', params: { id: {{a.b}} } })",
        "location.href = 'https://shop.example'; f({{a.b}})",
        "dialog.open = {{a.b}}",
        "document.querySelector('dialog').open",
        "rows.find(row => row.location === {{a.b}})",
        "class A { constructor(x) { this.x = x } }; new A({{a.b}})",
        "xhr.open('GET', {{a.b}})",
        "window['app'].items[0] === {{a.b}}",
        "o[{{a.b}}].length > 1 ? o[{{a.b}}] : o[0]",
        "b.textContent === 'import' && b.id == 'Function' && {{a.b}}",
        "({ ['x' + {{a.b}}]: 1 })",
        "x ? {{a.b}} : 1",
        "switch (x) { case {{a.b}}: y() }",
        "for (const x of {{a.b}}) f(x)",
        "f(...{{a.b}})",
    ] {
        bound(template, "x");
    }
    for template in [
        "rows[{{a.b}}].click()",
        "rows[{{a.b}}] = 1",
        "window[{{a.b}}]",
    ] {
        bound(template, "7");
    }
}

/// Each name that takes code or URLs, in each form in which a member is set, and beside it the same read.
#[test]
fn a_member_is_set_in_no_form() {
    const SET: &[&str] = &[
        "el.NAME = {{a.b}}",
        "el.NAME += {{a.b}}",
        "el.NAME ??= {{a.b}}",
        "el?.x.NAME\n= {{a.b}}",
        "el['NAME'] = '{{a.b}}'",
        "el[\"NAME\"] = x({{a.b}})",
        "el[`NAME`] = `{{a.b}}`",
        "[el.NAME, x] = [{{a.b}}]",
        "({ a: { b: el.NAME } } = {{a.b}})",
        "for (el.NAME of [{{a.b}}]) f()",
        "Object.assign(el, { x, NAME: {{a.b}} })",
        "Object.assign(el, { 'NAME': x + {{a.b}} })",
        "const NAME = {{a.b}}; Object.assign(el, { NAME, x })",
        "jQuery('<i>', { NAME: {{a.b}} })",
        "$('i').attr({ NAME: {{a.b}} })",
    ];
    const READ: &[&str] = &[
        "el.NAME === {{a.b}}",
        "[el.NAME, {{a.b}}]",
        "({ NAME: el.NAME, x: {{a.b}} })",
        "const { NAME } = el; NAME === {{a.b}}",
        "(({ NAME }) => NAME === {{a.b}})(el)",
        "els.map(el => el['NAME']).includes({{a.b}})",
        "el.NAME.split('/').pop() == {{a.b}}",
        "el.NAME = ''; f({{a.b}})",
        "o[el.NAME] = {{a.b}}",
    ];
    for name in "innerHTML outerHTML href src action formAction location".split(' ') {
        for template in SET {
            refused(&template.replace("NAME", name));
        }
        for template in READ {
            bound(&template.replace("NAME", name), "x");
        }
    }
}

#[test]
fn what_runs_text_by_another_way_is_refused_too() {
    for template in [
        "const s = document.createElement('script'); s.text = '0'; s.firstChild.data = {{a.b}}; document.body.before(s)",
        "document.querySelector('head > script').text = {{a.b}}",
        "[{{a.b}}].forEach(document.write, document)",
        "const {write} = document; write.call(document, {{a.b}})",
        "document.execCommand('insertHTML', false, {{a.b}})",
        "document.body.append(...new DOMParser().parseFromString({{a.b}}, 'text/html').body.childNodes)",
        "e.getAttributeNode('onclick').value = {{a.b}}",
        "navigation.navigate({{a.b}})",
    ] {
        refused(template);
    }
    // A number can be an address.
    for template in [
        "location.href = 'http://{{a.b}}/'",
        "window.open('http://127.0.0.{{a.b}}/')",
    ] {
        assert!(
            program(template, &[("a.b", "2130706433")]).is_err(),
            "{template}"
        );
    }
}

#[test]
fn where_the_script_cannot_be_read_it_is_refused() {
    for template in [
        "} / 2 + '{{a.b}}'",
        "if (x) {} /'/ + '{{a.b}}'",
        "x++ / 2 + '{{a.b}}'",
        "x <!-- '\n + '{{a.b}}'",
        "'{{a.b}}",
        "`{{a.b}}",
        "f('{{a.b}}'",
        "['{{a.b}}')",
        "'a\n' + '{{a.b}}'",
        "`${ {{a.b}}",
    ] {
        assert!(
            refused(template)
                .message
                .starts_with("can't tell how the script uses"),
            "{template}"
        );
    }
}

#[test]
fn a_whole_script_is_never_data() {
    let all = text(" {{a.b}} ", &[("a.b", "() => 1")]);
    assert!(bind(&all, ScriptShape::Function).is_err());
    assert!(bind(&all, ScriptShape::Program).is_err());
    assert!(bind(&all, ScriptShape::Condition).is_err());
}

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

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn data_is_one_literal_in_front_whatever_it_is(value in nasty()) {
        for template in ["{{a.b}}.x", "`{{a.b}}`", "x + `${ {{a.b}} }`"] {
            let script = bound(template, &value);
            let rest = script.strip_prefix("((__cuecard_1 = ").expect("bound");
            // JSON's strings are JavaScript's.
            let mut literals = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            prop_assert_eq!(literals.next().expect("a literal").expect("a string"), value.clone());
            prop_assert!(rest[literals.byte_offset()..].starts_with(") => ("));
        }
    }

    #[test]
    fn nothing_panics_and_the_script_does_not_depend_on_data(before in ".{0,40}", value in nasty(), after in ".{0,40}") {
        let pieces = |value: &str| Text::new(vec![
            Piece::author(&before),
            text("{{a.b}}", &[("a.b", value)]).pieces()[0].clone(),
            Piece::author(&after),
        ]);
        let with = |value: &str| bind(&pieces(value), ScriptShape::Program).ok().and_then(|script| {
            script.split_once(literal::string(value).as_str()).map(|(before, after)| (before.to_owned(), after.to_owned()))
        });
        let value = format!("·{value}");
        prop_assert_eq!(with(&value), with("·x"));
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
        "const x = '{{a.b}}'; x",
        "var y = {{a.b}}\ny // {{a.b}}",
        "[{{a.b}}, '{{a.b}}'][0] // '",
    ];
    if !has_peers() {
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::new(config(200));
    let mut program = String::from("const vm = require('vm');\nconst checks = [];\n");
    for _ in 0..200 {
        // Text that is JSON would rightly become that value in code.
        let value = format!(
            "·{}",
            nasty().new_tree(&mut runner).expect("a value").current()
        );
        for template in TEMPLATES {
            let script = quoted(&bound(template, &value));
            program.push_str(&format!(
                "checks.push([vm.runInNewContext({script}), {}]);\n",
                quoted(&value)
            ));
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
        "this[",
        "window[",
        "y['x'](",
        "const x = ",
        "setTimeout(x",
        "setTimeout(() => ",
        "constructor",
        "canary.x = ",
        "`${x}`",
        "];",
        "\\'",
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
        if let Ok(script) = self::program(&template, &[("a.b", payload)]) {
            program.push_str(&format!("check({});\n", quoted(&script)));
            accepted += 1;
        }
    }
    assert!(accepted > 1_000, "only {accepted} scripts were not refused");
    program.push_str("console.log(count, JSON.stringify(ran.slice(0, 5)));");
    assert_eq!(node(&program), format!("{accepted} []"));
}
