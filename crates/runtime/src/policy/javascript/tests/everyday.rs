//! Scripts with data as people write them, on a page that node plays.

use super::*;

/// A script, its shape, and what it gives for the text `it's "5" <b>`.
const SCRIPTS: &[&str] = &[
    "() => document.title === {{a.b}}",
    "() => document.title === '{{a.b}}'",
    "document.title === \"{{a.b}}\"",
    "() => document.querySelector('#{{a.b}}').id",
    "() => document.querySelector(`[data-id=\"{{a.b}}\"]`).id",
    "() => { const row = document.querySelector('tr[data-id=\"' + {{a.b}} + '\"]'); return row.id; }",
    "() => [...document.querySelectorAll('a')].filter(a => a.textContent === {{a.b}}).length",
    "() => [...document.querySelectorAll('a')].find(a => a.textContent.includes({{a.b}}))?.id ?? null",
    "() => [...document.querySelectorAll('a')].map(a => ({ text: a.textContent, href: a.href, wanted: {{a.b}} }))",
    "() => location.href === {{a.b}}",
    "() => location.href.includes({{a.b}}) || location.href",
    "() => { const href = document.querySelector('a').href; return href == {{a.b}} }",
    "() => { const el = document.querySelector('input'); el.value = {{a.b}}; el.dispatchEvent(new Event('input', { bubbles: true })); return el.value; }",
    "() => { document.querySelector('#description').textContent = {{a.b}}; return document.querySelector('#description').textContent }",
    "() => { localStorage.setItem('token', {{a.b}}); return localStorage.getItem('token') }",
    "() => localStorage.getItem({{a.b}})",
    "() => window.state[\"a\"] + {{a.b}}.length",
    "() => { const o = { x: 1 }; return o[{{a.b}}] ?? 'none' }",
    "() => new Promise(resolve => setTimeout(() => resolve({{a.b}}), 1))",
    "() => new Promise(r => setTimeout(r, 1)).then(() => '{{a.b}}')",
    "async () => { const response = await fetch('/api/items/' + encodeURIComponent({{a.b}})); return response.url; }",
    "async () => (await fetch(`/api?q=${encodeURIComponent({{a.b}})}`)).url",
    "(el) => el?.textContent ?? {{a.b}}",
    "function () { return {{a.b}}.trim().toLowerCase(); }",
    "(() => { document.title = {{a.b}}; return document.title; })()",
    "const el = document.querySelector('input'); el.value = {{a.b}}; el.value",
    "document.querySelector('input').value = {{a.b}}\ndocument.querySelector('input').value",
    "var seen = 'x{{a.b}}x'; if (seen.length > 3) { seen } else { 'short' }",
    "() => { document.querySelector('a').setAttribute('data-name', {{a.b}}); return 1 }",
    "() => JSON.stringify({ name: {{a.b}}, list: [{{a.b}}, '{{a.b}}'] })",
    "() => 'a b'.split(' ').concat({{a.b}}).join('|') // for {{a.b}}",
    "() => { document.querySelector('ul').innerHTML = ''; return {{a.b}} }",
    "() => document.evaluate('//a[text()=' + JSON.stringify({{a.b}}) + ']', document, null, 9, null).singleNodeValue",
    "() => ({ ...{}, name: {{a.b}} }).name",
    "() => /^\\d+$/.test({{a.b}}) ? 'number' : {{a.b}} / 2 + ''",
];

const PAGE: &str = r#"
const vm = require('vm');
function page() {
  const made = {};
  const element = (selector) => made[selector] ??= {
    id: 'of ' + selector, textContent: 'plain-7', href: 'plain-7', attributes: {},
    dispatchEvent() {}, setAttribute(name, value) { this.attributes[name] = value; } };
  const stored = {};
  const context = { JSON, Promise, setTimeout, encodeURIComponent, Event: class {},
    document: { title: 'plain-7', querySelector: element, querySelectorAll: (s) => [element(s), element(s + '2')],
      evaluate: (path) => ({ singleNodeValue: path }) },
    location: { href: 'plain-7' }, fetch: async (url) => ({ url }), canary() { ran += 1; },
    localStorage: { getItem: (name) => stored[name] ?? null, setItem: (name, value) => { stored[name] = value; } },
    state: { a: 'b' } };
  context.window = context;
  return vm.createContext(context);
}
let ran = 0;
// As the tools do: an expression, else the source of a function, else statements.
async function run(script) {
  const context = page();
  let value;
  try { value = vm.runInContext(`(\n${script}\n)`, context); } catch (error) {
    if (error.name !== 'SyntaxError') throw error;
    value = vm.runInContext(script, context);
  }
  return JSON.stringify(await (typeof value === 'function' ? value() : value));
}
(async () => {
  const wrong = [];
  for (const [plain, bound, hostile] of cases) {
    const [expected, value] = [await run(plain), await run(bound)];
    if (expected !== value || expected === undefined) wrong.push([plain, expected, bound, value]);
    for (const script of hostile) await run(script).catch((error) => wrong.push([script, String(error)]));
  }
  console.log(cases.length, ran, JSON.stringify(wrong));
})();
"#;

/// Data as it would be spliced in by hand: with quotes where there are none.
fn spliced(template: &str, value: &str) -> String {
    let mut script = String::new();
    let mut quote: Option<char> = None;
    let mut rest = template;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{a.b}}") {
            let is_comment = script
                .rsplit('\n')
                .next()
                .is_some_and(|line| line.contains("// "));
            match quote.filter(|&quote| quote != '$').is_some() || is_comment {
                true => script.push_str(value),
                false => script.push_str(&quoted(value)),
            }
            rest = after;
            continue;
        }
        quote = match (quote, next) {
            (None, '\'' | '"' | '`') => Some(next),
            (Some('`'), '$') => Some('$'),
            (Some('$'), '}') => Some('`'),
            (Some(open), _) if open == next => None,
            (quote, _) => quote,
        };
        script.push(next);
        rest = &rest[next.len_utf8()..];
    }
    script
}

#[test]
fn everyday_scripts_give_what_plain_insertion_gives() {
    if !has_peers() {
        return;
    }
    let mut program = String::from("const cases = [];\n");
    for template in SCRIPTS {
        let hostile = [
            "it's \"5\" <b>",
            "`${canary()}`",
            "');canary();('",
            "\\",
            "*/canary()/*",
            "\ncanary()\n",
            "#x",
        ];
        let hostile: Vec<_> = hostile
            .iter()
            .map(|value| quoted(&bound(template, value)))
            .collect();
        let line = format!(
            "cases.push([{}, {}, [{}]]);\n",
            quoted(&spliced(template, "plain-7")),
            quoted(&bound(template, "plain-7")),
            hostile.join(", ")
        );
        program.push_str(&line);
    }
    program.push_str(PAGE);
    assert_eq!(node(&program), format!("{} 0 []", SCRIPTS.len()));
}
