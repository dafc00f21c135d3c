//! Values in their order, pairs of keys and values, and other forms in which answers say what records say.

use serde_json::json;

use super::check;

/// Numbers, dates and times in the forms in which tools write them.
#[test]
fn each_form_of_a_number_is_one() {
    let years = || json!({"years": {"2024": 640, "2025": 710}});
    let levels = || json!({"levels": {"1": "easy", "2": "hard"}});
    let stock = || json!({"symbol": "ACME", "fiftyTwoWeekHigh": 198.2, "fiftyTwoWeekLow": 124.1});
    let test = || json!("Tested by Redkite between 12 and 16 January 2026.");
    let visit = || json!("The room is open from 9.30 am to 4.30 pm.");
    let cost =
        || json!({"item": "egress", "currency": "EUR", "months": {"2025-10": 640, "2025-11": 710}});
    check(&[
        (stock(), "The 52-week high of ACME is 198.2.", true),
        (stock(), "The 52-week high of ACME is 124.1.", false),
        (
            json!("Twenty-five orders are open."),
            "25 orders are open.",
            true,
        ),
        (
            json!("Twenty-five orders are open."),
            "20 orders are open.",
            false,
        ),
        (json!({"open": 25}), "There are thirty-five open.", false),
        (
            test(),
            "Tested by Redkite between January 12 and January 16, 2026.",
            true,
        ),
        (
            test(),
            "Tested by Redkite between January 12 and January 15, 2026.",
            false,
        ),
        (visit(), "The room is open from 9:30 to 16:30.", true),
        (visit(), "The room is open from 9:30 to 17:30.", false),
        (
            json!("Bylaw No. 17 is in force."),
            "Bylaw No. 17 is in force.",
            true,
        ),
        (
            json!("Bylaw No. 17 is in force since May."),
            "Bylaw No. 17 is not in force.",
            false,
        ),
        (cost(), "November: €710", true),
        (cost(), "November: €640", false),
        (cost(), "December: €710", false),
        (years(), "In 2025 it was 710.", true),
        (years(), "In 2025 it was 640.", false),
        (years(), "2025: 640", false),
        (levels(), "Level 2 is hard.", true),
        (levels(), "Level 2 is easy.", false),
    ]);
}

/// What is said of two is so of both, whether names begin with a capital letter or not.
#[test]
fn small_names_are_not_of_other_keys() {
    let pull = || json!({"reviewers": ["jo", "kim"], "assignee": "lee"});
    let file = || json!({"owner": "jo", "editor": "lee"});
    check(&[
        (pull(), "jo and lee are reviewers.", false),
        (pull(), "lee and jo are reviewers.", false),
        (pull(), "jo and kim are reviewers.", true),
        (file(), "jo and lee are owners.", false),
        (file(), "jo is the owner.", true),
    ]);
}

/// What a text says depends on the order of its words, and each text of a list is one.
#[test]
fn the_words_of_a_text_keep_their_order() {
    let notes = || json!({"notes": ["Ann called the plumber on Monday.", "Bob paid the invoice of 80 euros."]});
    let hired = || json!([{"id": 4, "note": "Anna hired Bert on Monday"}, {"id": 5, "note": "Dirk fired Emil"}]);
    let pets = || json!({"pets": ["red cat", "black dog"]});
    let commit = || json!([{"sha": "a1b2c3d", "message": "Replace foo with bar in parser"}]);
    check(&[
        (notes(), "Bob called the plumber on Monday.", false),
        (notes(), "Ann paid the invoice of 80 euros.", false),
        (notes(), "Ann called the plumber on Monday.", true),
        (hired(), "Bert hired Anna on Monday.", false),
        (hired(), "Anna hired Bert on Monday.", true),
        (hired(), "Emil fired Dirk.", false),
        (pets(), "There is a red dog.", false),
        (pets(), "The pets are a red cat and a black dog.", true),
        (commit(), "Replace bar with foo in parser", false),
        (commit(), "Replace foo with bar in parser", true),
    ]);
}

/// The values of a record stand in the order of the keys that the claim says.
#[test]
fn each_key_has_its_own_value() {
    let roles = || json!({"owner": "Lena", "reviewer": "Max", "tester": "Ida"});
    let likes = || json!({"likes": ["tea", "jazz"], "dislikes": ["coffee", "golf"]});
    let trip = || json!({"from": "Lima", "to": "Cusco", "driver": "Inga"});
    let sync = || json!({"meeting": "Sync", "start": "2026-11-05T15:30:00-05:00", "end": "2026-11-06T16:15:00-05:00"});
    let closed = || json!([{"id": 1, "created_by": "Uli", "closed_at": "2026-05-01"}]);
    check(&[
        (roles(), "Owner: Max, reviewer: Lena", false),
        (roles(), "Owner: Lena, reviewer: Max", true),
        (roles(), "The owner is Max; the reviewer is Lena.", false),
        (roles(), "Lena is the reviewer and Max is the owner.", false),
        (roles(), "Lena is the owner and Max is the reviewer.", true),
        (
            roles(),
            "| Owner | Reviewer |\n|---|---|\n| Max | Lena |",
            false,
        ),
        (
            roles(),
            "| Owner | Reviewer |\n|---|---|\n| Lena | Max |",
            true,
        ),
        (likes(), "Likes tea, jazz and golf.", false),
        (likes(), "Likes: tea, jazz", true),
        (trip(), "| From | To |\n|---|---|\n| Cusco | Lima |", false),
        (sync(), "Sync starts on 5 November 2026 at 16:15.", false),
        (sync(), "Sync starts on 5 November 2026 at 15:30.", true),
        (closed(), "1 was closed by Uli on 1 May 2026.", false),
    ]);
}

/// In a line of pairs, each has its own sign and value, and all are of one record.
#[test]
fn pairs_are_told_one_by_one() {
    let people = || {
        json!([
            {"name": "Yuto Mori", "age": 34, "finished": false},
            {"name": "Maya Costa", "age": 41, "finished": true},
        ])
    };
    let files = || json!({"files_changed": 7, "additions": 214, "deletions": 38});
    let hut = || json!({"name": "Kiwi", "wifi": true, "parking": false, "pool": true});
    check(&[
        (people(), "Yuto Mori (finished: no, age: 34)", true),
        (people(), "Maya Costa (finished: no, age: 41)", false),
        (people(), "Age: 34, finished: yes", false),
        (
            files(),
            "Files changed: 7, additions: 214, deletions: 38",
            true,
        ),
        (
            files(),
            "Files changed: 7, additions: 38, deletions: 214",
            false,
        ),
        (hut(), "Wifi: yes, parking: no, pool: yes", true),
        (hut(), "Wifi: no, pool: yes", false),
        (hut(), "Kiwi\nNo: parking", true),
        (hut(), "Kiwi\nNo: wifi, parking", false),
        (hut(), "Kiwi is not parking. It is not wifi.", false),
    ]);
}

/// What is said of several holds of each, and names alone say nothing.
#[test]
fn several_names_share_what_is_said() {
    let sensors = || {
        json!([
            {"name": "S-12", "room": "attic", "calibrated": true},
            {"name": "S-24", "room": "lobby", "calibrated": false},
            {"name": "S-35", "room": "attic", "calibrated": true},
        ])
    };
    check(&[
        (sensors(), "S-12 and S-24 are not calibrated.", false),
        (sensors(), "S-12 and S-24 are calibrated.", false),
        (sensors(), "S-12 is in the attic, S-24 in the attic.", false),
    ]);
}

/// Grades, months, the ends of ranges and lines of logs.
#[test]
fn values_of_other_forms_are_read() {
    let grades = || json!([{"pupil": "Ann", "grade": "B+"}, {"pupil": "Bob", "grade": "B"}]);
    let months = || json!([{"month": "2026-01", "kwh": 412}, {"month": "2026-02", "kwh": 388}]);
    let log = || {
        json!(
            "2026-04-14 09:14:10 ERROR coverage 71.4 % is below 75 %\n2026-04-14 09:14:12 INFO done"
        )
    };
    let least = || json!({"min_humidity_percent": 40, "min_price_eur": 5});
    check(&[
        (grades(), "Bob: B+", false),
        (grades(), "Ann: B+", true),
        (months(), "January 2026: 412 kWh", true),
        (months(), "In January 2026, it was 388 kWh.", false),
        (log(), "Coverage 71.4 % is below 75 %.", true),
        (log(), "At 09:14:10, coverage 71.4 % is below 75 %.", true),
        (least(), "Min humidity: 40 %", true),
        (least(), "Min price: 5 EUR", true),
        (
            json!("It has 2 or 3 cats. It was built before 1500."),
            "It has 3 cats.",
            false,
        ),
        (
            json!("It has 2 or 3 cats. It was built before 1500."),
            "It was built in 1500.",
            false,
        ),
        (
            json!({"text": "Can you take the van tomorrow?"}),
            "You can take the van tomorrow.",
            false,
        ),
        (
            json!([{"due": "2026-09-28", "to": "Orth"}]),
            "- 18. September 2026: Orth",
            false,
        ),
        (json!({"dark_mode": true}), "dark_mode is on.", true),
    ]);
}
