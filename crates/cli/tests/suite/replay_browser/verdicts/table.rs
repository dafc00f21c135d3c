//! What the next release of each page of the test site changes, and what comes of each step that was made before.

/// A page that is opened in the old release when the steps are made, and in the next one when they are played.
pub(crate) struct Load {
    /// Its path in both releases.
    pub(crate) page: &'static str,
    /// What is done on it, in this order.
    pub(crate) rows: &'static [Row],
}

/// A step.
pub(crate) struct Row {
    /// What changed about its element.
    pub(crate) change: &'static str,
    /// How the step was said.
    pub(crate) sentence: &'static str,
    /// The verdict on the next release.
    pub(crate) verdict: &'static str,
    /// What may be done there, as the page tells it, with ` + ` between; nothing else, whatever the verdict.
    pub(crate) deed: &'static str,
}

const fn row(
    change: &'static str,
    sentence: &'static str,
    verdict: &'static str,
    deed: &'static str,
) -> Row {
    Row {
        change,
        sentence,
        verdict,
        deed,
    }
}

macro_rules! load {
    ($page:literal: $($change:literal, $sentence:literal => $verdict:literal $($deed:literal)?;)+) => {
        Load {
            page: $page,
            rows: &[$(row($change, $sentence, $verdict, concat!($($deed)?))),+],
        }
    };
}

#[rustfmt::skip]
pub(crate) const TABLE: &[Load] = &[
    // The kinds of change, one a page.
    load! { "changes/twins.html":
        "a twin in another section", "click 'Save'" => "same" "click button Save in Account";
        "a twin that took its place", "click 'Print'" => "ambiguous";
    },
    load! { "changes/removed.html":
        "another section has one now", "click 'Delete'" => "gone";
        "a neighbour with half its name is left", "click 'Publish draft'" => "gone";
        "its twin in the same form is left", "click 'Edit' in the 'First' section" => "gone";
        "its twin before it is gone", "click 'Edit' in the 'Last' section" => "same" "click button Edit in Last";
        "below another heading", "click 'Empty'" => "gone";
    },
    load! { "changes/moved.html":
        "its form moved down", "click 'Apply' in the 'Billing' form" => "same" "click button Apply in Billing";
        "its form moved up", "type 'Long Lane' into 'Street' in the 'Shipping' form" => "same" "fill input Street: Long Lane in Shipping";
        "from the bottom to the top", "click 'Contact'" => "same" "click button Contact";
        "out of a menu that is still there", "click 'Log out'" => "gone";
    },
    load! { "changes/labels.html":
        "renamed, the id stays", "type '1' into 'Phone'" => "renamed";
        "renamed, and so is the id", "type '2' into 'Zip code'" => "gone";
        "its id is its neighbour's now", "type 'Ana' into 'First name'" => "same" "fill input First name: Ana";
        "its test id is its neighbour's now", "click 'Approve'" => "same" "click button Approve";
        "the same, and the text before it changed", "click 'Accept'" => "same" "click button Accept";
    },
    load! { "changes/rows.html":
        "another row with the same price", "click 'Remove'" => "gone";
        "its item is gone", "click 'Open' in the 'Alpha' item" => "gone";
        "its item is the first now", "click 'Open' in the 'Gamma' item" => "same" "click button Open in Gamma";
    },
    load! { "changes/language.html":
        "translated, the id stays", "type 'Ana' into 'Name'" => "renamed";
        "translated, and so is the id", "type 'Bern' into 'City'" => "gone";
        "translated, the id stays", "click 'Save'" => "renamed";
        "translated", "click 'Cancel'" => "gone";
        "the same in both languages, its heading is translated", "click 'OK'" => "healed" "click button OK";
    },
    load! { "changes/wrapped.html":
        "in a section now", "click 'Start'" => "same" "click button Start in Controls";
        "its form is in a section now", "type 'tea' into 'Words'" => "same" "fill input Words: tea in Search";
        "in a group within its form", "click 'Find'" => "same" "click button Find in Search";
        "its list is in a section now", "click 'Open' in the 'Beta' item" => "same" "click button Open in Beta";
    },
    load! { "changes/frames.html":
        "its frame is in a section now", "click 'Pay' in the 'Card' frame" => "same" "click button Pay in frame Card";
        "its frame changed places", "click 'Pay' in the 'Bank' frame" => "same" "click button Pay in frame Bank";
        "its frame changed places", "click 'Pay' in the 'Gift' frame" => "same" "click button Pay in frame Gift";
        "its frame is gone", "click 'Pay' in the 'Cash' frame" => "gone";
    },
    load! { "changes/parts.html":
        "another component stands in its place", "click 'More' in the 'Apples' section" => "gone";
        "its component has other neighbours", "click 'More' in the 'Pears' section" => "same" "click button More in Pears";
        "its component moved, it is put into that", "click 'Details'" => "same" "click a Details in Plums Details";
        "its component moved", "click 'More' in the 'Plums' section" => "same" "click button More in Plums Details";
    },
    load! { "changes/kinds.html":
        "a link now", "click 'Continue'" => "gone";
        "hidden, and another has its name in it", "click 'Show'" => "gone";
        "a field for mail now", "type '7' into 'Code'" => "gone";
        "a switch now", "check 'Agree'" => "gone";
        "a field now", "select 'Spain' from 'Country'" => "gone";
    },
    load! { "changes/columns.html":
        "its column is another one now", "check the Read checkbox in the 'Bob' row" => "gone";
        "its column changed places", "check the Write checkbox in the 'Cleo' row" => "same" "click input Write in Cleo";
        "a column was put before it", "type '5' into Qty in the 'Pear' row" => "same" "fill input Qty: 5 in Pear";
        "its only column is another one now", "type '7' into Guests in the 'Attic' row" => "gone";
    },
    load! { "changes/live.html":
        "the row says something else when the pointer comes", "click 'Remove' in the 'Cleo' item" => "same";
    },
    load! { "changes/contrary.html":
        "it means the contrary now", "click 'Follow'" => "renamed";
        "it can't be undone now", "click 'Upgrade plan'" => "renamed";
        "the option is there twice", "select 'Medium' from 'Size'" => "same";
        "the focus goes to a dialog", "type 'tea' into 'Words'" => "same";
    },
    load! { "changes/panels.html":
        "another panel is open", "click 'Save'" => "gone";
    },
    load! { "changes/panels.html":
        "not changed", "click 'Remove'" => "same" "click button Remove";
        "another dialog opens", "click 'Yes'" => "gone";
    },
    // The pages of the site.
    load! { "index.html":
        "renamed", "click 'Invoices'" => "gone";
    },
    load! { "index.html":
        "its item moved below another heading", "click 'Login'" => "healed" "click a Login in Login";
    },
    load! { "login.html":
        "its heading is only a link now", "type 'ana@example.org' into the E-mail field" => "healed" "fill input E-mail: ana@example.org in Account";
        "its heading is only a link now", "type 'guess' into Password" => "healed" "fill input Password in Account";
        "removed", "check 'Remember me'" => "gone";
        "removed", "click 'Show password'" => "gone";
        "there twice, and its heading is only a link now", "click 'Forgot password?'" => "ambiguous";
    },
    load! { "login.html":
        "renamed, and its heading is only a link now", "click 'Log in'" => "renamed";
    },
    load! { "login.html":
        "the order is another", "click the 'Sign in' link" => "same" "click a Sign in in Main";
    },
    load! { "shop.html":
        "its product is gone", "click 'Details' in the 'Green wool scarf' item" => "gone";
        "its product is renamed, and so is it", "click 'Add to cart' in the 'Blue linen shirt' item" => "gone";
        "its product is there twice", "click 'Details' in the 'Red cotton shirt' item" => "ambiguous";
        "not changed", "select 'Name' from 'Sort by'" => "same" "fill select Sort by: name";
        "not changed", "click 'Products'" => "same" "click a Products in Main";
    },
    load! { "list.html":
        "renamed", "click 'Person 3' in the 'People' list" => "gone";
        "renamed, the id stays", "type '777' into Filter" => "renamed";
    },
    load! { "dialogs.html":
        "not changed", "click 'Say hello'" => "same" "click button Say hello";
        "its group has another name", "click 'Open settings'" => "healed" "click button Open settings";
        "not changed", "check 'News by mail'" => "same" "click input News by mail in Settings";
        "not changed", "click 'Save'" => "same" "click button Save in Settings";
    },
    load! { "dialogs.html":
        "not changed", "click 'Delete account'" => "same" "click button Delete account";
        "renamed, and its dialog asks something else", "click 'Delete'" => "gone";
    },
    load! { "dialogs.html":
        "not changed", "click 'Delete account'" => "same" "click button Delete account";
        "its dialog asks something else", "click 'Cancel'" => "gone";
    },
    load! { "frames.html":
        "not changed", "click 'Pay' in the 'Same origin' frame" => "same" "click button Pay in frame Same origin";
        "its frame is renamed", "click 'Pay' in the 'Other port' frame" => "gone";
        "not changed", "type '4111 1111' into 'Card number' in the 'Other site' frame" => "same" "fill input Card number in frame Other site";
        "the inner frame is renamed", "click 'Pay' in the 'Inner' frame" => "gone";
    },
    load! { "frame.html":
        "not changed", "type '4111 1111' into 'Card number'" => "same" "fill input Card number";
        "not changed", "click 'Pay'" => "same" "click button Pay";
    },
    load! { "nested.html":
        "its frame is renamed", "click 'Pay'" => "gone";
    },
    load! { "shadow.html":
        "renamed in an open root", "click 'More' in the 'Apples' section" => "gone";
        "renamed in a closed root in an open one", "click 'More' in the 'Plums' section" => "gone";
        "not changed, in a closed root", "type 'TEA' into 'Voucher'" => "same" "fill input Voucher: TEA";
    },
    load! { "market.html":
        "its part is gone, the next one stands there", "click 'More' in the 'Apples' section" => "gone";
        "its part moved out of a closed root", "click 'More' in the 'Pears' section" => "same" "click button More in Pears";
        "not changed", "type 'TEA' into 'Voucher'" => "same" "fill input Voucher: TEA";
        "not changed", "click 'Redeem'" => "same" "click button Redeem";
    },
    load! { "sticky.html":
        "renamed", "click 'Read chapter 3'" => "gone";
        "not changed", "click 'Accept' in the 'Cookies' section" => "same" "click button Accept";
        "not changed", "click 'Top'" => "same" "click a Top";
    },
    load! { "lazy.html":
        "renamed", "click 'Read Story 2'" => "gone";
    },
    load! { "busy.html":
        "renamed, the id stays", "click 'Refresh'" => "renamed";
    },
    load! { "unread.html":
        "renamed, and so is its id", "type 'tea' into 'Note'" => "gone";
        "renamed, the id stays", "click 'Save'" => "renamed";
        "not changed", "click 'Count'" => "same" "click button Count";
    },
    load! { "files.html":
        "not changed", "upload 'note.txt' to 'Picture'" => "same" "fill input Picture";
        "renamed, the id stays", "upload 'note.txt' to 'Choose a document'" => "renamed";
        "renamed", "click 'Download report'" => "gone";
        "not changed", "click 'Save a copy'" => "same" "click a Save a copy";
    },
    load! { "generated.html":
        "renamed, its id is made up", "type 'Ana' into 'Name'" => "gone";
        "its id is made up, its test id stays", "type 'Bern' into 'City'" => "same" "fill input City: Bern";
        "its id is made up", "click 'Save changes'" => "same" "click button Save changes";
    },
    load! { "table.html":
        "its row is gone", "click 'Delete' in the 'Invoice 3' row" => "gone";
        "renamed in its row", "click 'Send' in the 'Invoice 2' row" => "gone";
        "its row moved", "click 'Delete' in the 'Invoice 1' row" => "same" "click button Delete in Invoice 1";
    },
    load! { "desk.html":
        "renamed", "hover 'Export'" => "gone";
        "its row moved", "double-click 'Milk'" => "same" "click td Milk in Milk";
        "renamed, the id stays", "type 'Ber' into 'City'" => "renamed";
        "not changed", "check 'Express'" => "same" "click input Express in Delivery";
    },
    load! { "home.html":
        "renamed", "click 'Log out'" => "gone";
    },
    load! { "home.html":
        "not changed", "click 'Invoices'" => "same" "click a Invoices";
    },
    load! { "popup.html":
        "renamed, the id stays", "click 'Close'" => "renamed";
    },
    load! { "reset.html":
        "not changed", "type 'ana@example.org' into 'E-mail'" => "same" "fill input E-mail: ana@example.org";
        "renamed", "click 'Send link'" => "gone";
    },
    load! { "tabs.html":
        "renamed, the id stays", "click the 'Security' tab" => "renamed";
        "not changed", "click the 'Profile' tab" => "same" "click button Profile";
        "renamed, the id stays", "click 'Open chat'" => "renamed";
    },
    load! { "changes/names.html":
        "renamed, the id stays", "click 'Save draft'" => "renamed";
        "renamed, the id stays", "click 'Preview'" => "renamed";
        "renamed, the id stays", "click 'Details'" => "renamed";
        "renamed, the id stays", "click 'Archive report'" => "renamed";
        "renamed, the id stays", "click 'Check order'" => "renamed";
        "renamed, the id stays", "click 'Start test run'" => "renamed";
        "renamed, the id stays", "click 'Send to me'" => "renamed";
        "renamed, the id stays", "click 'Approve request'" => "renamed";
        "renamed, the id stays", "click 'Mute channel'" => "renamed";
        "renamed, the id stays", "click 'Restore backup'" => "renamed";
        "renamed", "click 'Copy link'" => "gone";
        "renamed, the id stays", "click 'More actions'" => "renamed";
        "renamed, the id stays", "click 'Terms of use'" => "renamed";
        "renamed, the id stays", "click 'Monthly report'" => "renamed";
        "renamed, the id stays", "type '5' into 'Amount to save'" => "renamed";
        "renamed, the id stays", "type 'Ana' into 'Name of the sender'" => "renamed";
        "renamed, the id stays", "check 'I have read the terms'" => "renamed";
        "renamed, the id stays", "select 'Large' from 'Plan to compare'" => "renamed";
        "renamed, the id stays", "upload 'note.txt' to 'Profile photo'" => "renamed";
        "renamed in its row", "click 'Open file' in the 'Bob' row" => "renamed";
        "not changed", "click 'Open file' in the 'Cleo' row" => "same" "click button Open file in Cleo";
        "renamed in its item", "click 'Add to list' in the 'Tea' item" => "renamed";
        "renamed in its section", "hover 'Update card'" => "renamed";
        "renamed in its dialog", "press Enter in 'Only needed cookies'" => "renamed";
        "another count", "click 'Inbox (2)'" => "same" "click button Inbox (3)";
        "a badge beside it", "click 'Cart'" => "same" "click button Cart 2";
        "another badge, the id stays", "click 'News 2'" => "same" "click button News 7";
        "other signs and another value", "type 'ana@example.org' into 'E-mail'" => "same" "fill input E-MAIL:: ana@example.org";
        "another id, class and place", "click 'Help'" => "same" "click button Help";
    },
];
