//! Of elements inside each other that all have a name, the one that carries it.

/// Of `found`, in the order of the page: an element that people act on takes the name from what it is in, and what
/// is inside it is only its label. If any carrier is one that people act on, the others don't count.
///
/// `ancestors` gives those of an element, innermost first; `is_text` says whether it is mere text.
pub(super) fn carriers<I, A>(
    found: &[I],
    ancestors: impl Fn(&I) -> A,
    is_interactive: impl Fn(&I) -> bool,
    is_text: impl Fn(&I) -> bool,
) -> Vec<I>
where
    I: Copy + Ord,
    A: Iterator<Item = I>,
{
    let mut is_carrier = vec![true; found.len()];
    for (inner_at, inner) in found.iter().enumerate() {
        for outer in ancestors(inner) {
            let Ok(outer_at) = found.binary_search(&outer) else {
                continue;
            };
            let loser = match (is_interactive(inner), is_interactive(&outer)) {
                (true, _) => outer_at,
                (false, true) => inner_at,
                (false, false) if is_text(inner) => inner_at,
                (false, false) => outer_at,
            };
            is_carrier[loser] = false;
        }
    }
    let mut carriers: Vec<I> = found
        .iter()
        .zip(&is_carrier)
        .filter(|(_, is_carrier)| **is_carrier)
        .map(|(id, _)| *id)
        .collect();
    if carriers.iter().any(&is_interactive) {
        carriers.retain(|id| is_interactive(id));
    }
    carriers
}
