// dump
use cuecard_core::page::dom::DomProcessor;
use cuecard_core::page::selector::Finder;
use cuecard_core::value::Redactor;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(format!("/tmp/caps/{}", args[1])).unwrap();
    let state = DomProcessor::new("data-testid", Redactor::default())
        .read(&text)
        .unwrap();
    let finder = Finder::new(&state, "data-testid");
    if let Some(sentence) = args.get(2).filter(|s| s.contains(' ')) {
        println!("{:?}", cuecard_core::page::rules::understand(sentence));
        println!("{:?}", finder.translate(sentence));
        return;
    }
    for (id, e) in state.elements() {
        let line = format!(
            "{} {} role={} name={:?} label={:?} class={:?} title={:?} int={} ev={:?} idx={:?} vis={} top={:?} st={:?}",
            id.0,
            e.tag_name,
            e.role,
            e.name,
            e.label,
            e.attribute("class"),
            e.attribute("title"),
            e.is_interactive,
            e.evidence,
            e.highlight_index,
            e.is_visible,
            e.is_top_element,
            e.states.words().collect::<Vec<_>>()
        );
        if args.get(2).is_none_or(|w| line.contains(w.as_str())) {
            println!("{line}");
        }
    }
    let _ = finder;
}
