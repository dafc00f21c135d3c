//! What an element was, to know it again.

/// What an element is, to know it again. Secret values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Its role; empty if it has none.
    pub role: String,
    /// Its accessible name.
    pub name: String,
    /// The text on it, if it has no name and is known by that; empty if nothing was written on it.
    pub text: Option<String>,
    /// Its tag.
    pub tag: String,
    /// The type of an `input`.
    pub input_type: Option<String>,
    /// Its test id.
    pub test_id: Option<String>,
    /// Up to five named or landmark elements around it, innermost first, as `role "name"`.
    pub path: Vec<String>,
    /// Its label, or the heading or text before it.
    pub near: String,
    /// Its place among the elements of its role that are called so, from 1.
    pub ordinal: usize,
    /// How many of them there are.
    pub of: usize,
    /// The frames and shadow hosts that it is in, as `frame=XPATH` and `shadow=XPATH`.
    pub scope: Vec<String>,
    /// The containers that tell it from its twins, innermost first: as the sentence named them, or the item of a list
    /// or table that it stands in. It may be in no other place.
    pub within: Vec<Container>,
    /// Whether it is the innermost of these containers itself: then whatever else stands in it may change.
    pub is_container: bool,
    /// `position`, if the sentence named one: 1 is the first of its twins, -1 the last.
    pub position: Option<i32>,
    /// `byPosition`: what stands around each of its twins, in the order of the page, where no text tells it apart.
    pub by_position: Vec<String>,
    /// What the elements of its role in the nearest container around it are called, at most 40.
    pub likes: Vec<String>,
    /// What the item of a list or table around it said, else the heading before it. It decides nothing but how soon the
    /// element is certain.
    pub around: String,
    /// The text right before it, and the one right behind it, if no other element of its kind has that there.
    pub before: String,
    /// See `before`.
    pub after: String,
}

/// A container that tells an element from its twins, known by a text in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Container {
    /// What it is.
    pub kind: ContainerKind,
    /// The text that it is known by; none of a dialog that nobody named.
    pub text: Option<String>,
    /// Where in it the text stands.
    pub at: TextPlace,
    /// The heading of the column that the text stands in, if it is in a cell.
    pub column: Option<String>,
    /// What an item is made of: its role, else its tag and class. What is around it has the text too.
    pub made: Option<String>,
    /// How many nodes were in it.
    pub nodes: Option<u32>,
    /// The headings that an item stands below, in another container the element, nearest first: each is of a higher level
    /// than the one before.
    pub below: Vec<String>,
}

/// A kind of container, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum ContainerKind {
    #[default]
    Section,
    Dialog,
    Row,
    Item,
    Card,
    Post,
    List,
    Table,
    Form,
    Header,
    Footer,
    Navigation,
    Sidebar,
    Frame,
}

impl ContainerKind {
    /// Every kind with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("section", Self::Section),
        ("dialog", Self::Dialog),
        ("row", Self::Row),
        ("item", Self::Item),
        ("card", Self::Card),
        ("post", Self::Post),
        ("list", Self::List),
        ("table", Self::Table),
        ("form", Self::Form),
        ("header", Self::Header),
        ("footer", Self::Footer),
        ("navigation", Self::Navigation),
        ("sidebar", Self::Sidebar),
        ("frame", Self::Frame),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("section", |(word, _)| word)
    }

    /// The ARIA role that says it; a frame has none.
    pub fn role(self) -> Option<&'static str> {
        Some(match self {
            Self::Section => "region",
            Self::Item => "listitem",
            Self::Card | Self::Post => "article",
            Self::Header => "banner",
            Self::Footer => "contentinfo",
            Self::Sidebar => "complementary",
            Self::Frame => return None,
            Self::Dialog | Self::Row | Self::List | Self::Table | Self::Form | Self::Navigation => {
                self.as_str()
            }
        })
    }

    /// The kind of container that an element of this role is.
    pub fn of_role(role: &str) -> Self {
        match role {
            "dialog" | "alertdialog" => Self::Dialog,
            "form" => Self::Form,
            "frame" => Self::Frame,
            "row" => Self::Row,
            "article" => Self::Post,
            "listitem" | "treeitem" => Self::Item,
            _ => Self::Section,
        }
    }

    /// Whether it is one of several alike: a row of a table, an item of a list, a card, a post.
    pub fn is_item(self) -> bool {
        matches!(self, Self::Row | Self::Item | Self::Card | Self::Post)
    }
}

/// Where in a container the text stands that it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TextPlace {
    /// It is its accessible name.
    #[default]
    Name,
    /// It is a heading in it, or the one above it.
    Heading,
    /// It is a cell of it.
    Cell,
    /// It is a line of its text.
    Text,
}

impl TextPlace {
    /// Every place with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("name", Self::Name),
        ("heading", Self::Heading),
        ("cell", Self::Cell),
        ("text", Self::Text),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, place)| *place == self)
            .map_or("name", |(word, _)| word)
    }
}

impl Fingerprint {
    /// What it was called: its name, or the text on it.
    pub fn called(&self) -> &str {
        match self.name.is_empty() {
            true => self.text.as_deref().unwrap_or_default(),
            false => &self.name,
        }
    }

    /// Whether of what has no name the text counts: not if the text is what is asserted.
    pub fn is_called_by_text(&self) -> bool {
        !self.name.is_empty() || self.text.is_some()
    }

    /// The same with every text of the page changed; what the page is built of stays.
    pub fn with_texts(&self, change: impl Fn(&str) -> String) -> Self {
        Self {
            name: change(&self.name),
            text: self.text.as_deref().map(&change),
            test_id: self.test_id.as_deref().map(&change),
            path: self.path.iter().map(|entry| change(entry)).collect(),
            near: change(&self.near),
            within: self
                .within
                .iter()
                .map(|container| Container {
                    text: container.text.as_deref().map(&change),
                    column: container.column.as_deref().map(&change),
                    below: container.below.iter().map(|text| change(text)).collect(),
                    ..container.clone()
                })
                .collect(),
            by_position: self.by_position.iter().map(|text| change(text)).collect(),
            likes: self.likes.iter().map(|name| change(name)).collect(),
            around: change(&self.around),
            ..self.clone()
        }
    }
}
