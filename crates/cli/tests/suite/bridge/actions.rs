//! What a person does on a page, and what comes of it.

use cuecard_browser::{ClickKind, ElementAddress, Navigation, WaitOutcome, WaitPolicy};
use cuecard_browser_steps::model::{Direction, OnDialog};
use cuecard_source::diagnostic::codes;

use super::{PATIENCE, SHORT, all, with_browser, with_options};

#[test]
fn signing_in_is_refused_until_everything_is_right() {
    with_browser(async |lab| {
        lab.open("login.html").await;
        lab.click("button", "Log in").await;
        assert!(lab.shows("Please enter your e-mail.").await);
        assert_eq!(lab.site.count("login"), 0);
        lab.fill("E-mail", "ana@example.org").await;
        lab.fill("Password", "wrong").await;
        let text = lab.text().await;
        assert!(!text.contains("wrong"), "{text}");
        let remember = lab.find("checkbox", "Remember me").await;
        for _ in 0..2 {
            lab.bridge
                .set_checked(&remember, true, PATIENCE)
                .await
                .expect("it is ticked");
        }
        lab.click("button", "Log in").await;
        assert!(
            lab.bridge.url().ends_with("/login.html?error=1"),
            "{}",
            lab.bridge.url()
        );
        assert!(lab.shows("Wrong e-mail or password.").await);

        lab.fill("E-mail", "ana@example.org").await;
        lab.fill("Password", "correct horse").await;
        lab.click("button", "Show password").await;
        let text = lab.text().await;
        assert!(!text.contains("correct horse"), "{text}");
        let password = lab.find("textbox", "Password").await;
        lab.bridge
            .press(Some(&password), "Enter", PATIENCE)
            .await
            .expect("it is pressed");
        lab.bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect("it settles");
        assert!(lab.shows("You are signed in.").await);
        assert_eq!(lab.site.count("login"), 2);

        lab.bridge
            .navigate(&Navigation::Back, PATIENCE)
            .await
            .expect("there is one before");
        assert!(
            lab.bridge.url().contains("/login.html"),
            "{}",
            lab.bridge.url()
        );
        lab.bridge
            .navigate(&Navigation::Forward, PATIENCE)
            .await
            .expect("there is one after");
        lab.bridge
            .navigate(&Navigation::Reload, PATIENCE)
            .await
            .expect("it loads again");
        assert!(
            lab.bridge.url().ends_with("/home.html"),
            "{}",
            lab.bridge.url()
        );
    });
}

#[test]
fn what_stands_in_the_way_is_named_and_nothing_is_done() {
    with_browser(async |lab| {
        lab.open("dialogs.html").await;
        let behind = lab.find("button", "Open settings").await;
        lab.click("button", "Delete account").await;
        let error = lab
            .bridge
            .click(&behind, ClickKind::Single, SHORT)
            .await
            .expect_err("it is covered");
        assert!(error.is(codes::BROWSER_COVERED), "{error}");
        assert_eq!(error.call.as_deref(), Some("click"));
        lab.click("button", "Cancel").await;
        assert!(lab.shows("Account: kept").await);

        lab.open("tabs.html").await;
        let billing = lab.find("tab", "Billing").await;
        let error = lab
            .bridge
            .click(&billing, ClickKind::Single, SHORT)
            .await
            .expect_err("it is disabled");
        assert!(error.is(codes::BROWSER_DISABLED), "{error}");
        // A key would go to what has the focus in its place.
        let error = lab.bridge.press(Some(&billing), "Enter", SHORT).await;
        let error = error.expect_err("it is disabled");
        assert!(error.is(codes::BROWSER_DISABLED), "{error}");

        lab.open("states/values.html").await;
        let readonly = ElementAddress::top("/html/body/input[6]");
        let error = lab
            .bridge
            .fill(&readonly, "y", SHORT)
            .await
            .expect_err("it is read-only");
        assert!(error.is(codes::BROWSER_NOT_EDITABLE), "{error}");
        let list = ElementAddress::top("/html/body/select");
        let error = lab
            .bridge
            .select(&list, "C", SHORT)
            .await
            .expect_err("there is no such option");
        assert!(error.is(codes::BROWSER_CHOICE), "{error}");
        assert!(error.message.ends_with("available: `A`, `B`"), "{error}");
        let nothing = ElementAddress::top("/html/body/video");
        let error = lab
            .bridge
            .click(&nothing, ClickKind::Single, SHORT)
            .await
            .expect_err("there is none");
        assert!(error.was_replaced, "{error}");
    });
}

#[test]
fn what_comes_to_the_place_of_an_element_is_not_clicked_for_it() {
    let page = "<!doctype html><title>Rows</title><body><p role=status>nothing</p>\
         <button onclick=\"say('the first')\">First</button> <button onclick=\"say('the second')\">Second</button>\
         <div id=cover style='position: fixed; inset: 0'></div>\
         <script>const say = (text) => { document.querySelector('p').textContent = text; };\
         const go = () => { document.querySelector('button').remove(); document.getElementById('cover').remove(); };\
         </script>";
    with_browser(async |lab| {
        let file = lab.folder.path().join("rows.html");
        std::fs::write(&file, page).expect("writable");
        let to = Navigation::To(format!("file://{}", file.display()));
        lab.bridge.navigate(&to, PATIENCE).await.expect("it opens");
        let first = lab.find("button", "First").await;
        // While Playwright waits for what is covered, the page takes it away: another one has its XPath then.
        let later = "setTimeout(go, 300)";
        lab.bridge.evaluate(later).await.expect("a script");
        let error = lab.bridge.click(&first, ClickKind::Single, PATIENCE).await;
        let error = error.expect_err("it is gone");
        assert!(error.was_replaced, "{error}");
        assert!(lab.shows("nothing").await);
        // It had gone before anything was done.
        lab.state().await;
        let second = ElementAddress::top("/html/body/button[2]");
        let error = lab.bridge.click(&second, ClickKind::Single, SHORT);
        let error = error.await.expect_err("it is gone");
        assert!(error.was_replaced, "{error}");
    });
}

#[test]
fn an_element_under_a_sticky_header_is_scrolled_free_and_lazy_parts_come() {
    with_browser(async |lab| {
        lab.open("sticky.html").await;
        lab.click("button", "Read chapter 9").await;
        assert!(lab.shows("Chapter 9 read").await);
        lab.click("button", "Read chapter 2").await;
        assert!(lab.shows("Chapter 2 read").await);

        lab.open("lazy.html").await;
        // A browser that is short of time looks late at what has come into view: it may settle before.
        assert!(lab.comes("Read Story 1").await);
        assert!(all(&lab.state().await, "link", "Read Story 25").is_empty());
        let scrolled_to = async {
            loop {
                lab.bridge
                    .scroll(Direction::Down)
                    .await
                    .expect("it scrolls");
                lab.bridge
                    .settle(WaitPolicy::Whole)
                    .await
                    .expect("it settles");
                let after = lab.state().await;
                if let [story] = all(&after, "link", "Read Story 25")[..] {
                    return story.is_new;
                }
            }
        };
        let is_new = tokio::time::timeout(PATIENCE, scrolled_to).await;
        assert_eq!(is_new, Ok(Some(true)));
    });
}

#[test]
fn a_page_that_is_never_idle_is_waited_for_three_seconds_and_no_longer() {
    with_browser(async |lab| {
        let to = Navigation::To(lab.site.url("busy.html"));
        lab.bridge.navigate(&to, PATIENCE).await.expect("it loads");
        assert_eq!(
            lab.bridge.settle(WaitPolicy::Whole).await,
            Ok(WaitOutcome::Bounded)
        );
        let refresh = lab.find("button", "Refresh").await;
        lab.bridge
            .click(&refresh, ClickKind::Single, PATIENCE)
            .await
            .expect("it is clicked");
        assert_eq!(
            lab.bridge.settle(WaitPolicy::Whole).await,
            Ok(WaitOutcome::Bounded)
        );
        assert!(lab.shows("Refreshed").await);
        lab.open("login.html").await;
        let link = lab.find("link", "Forgot password?").await;
        lab.bridge
            .hover(&link, PATIENCE)
            .await
            .expect("the pointer gets there");
        assert_eq!(
            lab.bridge.settle(WaitPolicy::Whole).await,
            Ok(WaitOutcome::Instant)
        );
        lab.bridge
            .click(&link, ClickKind::Single, PATIENCE)
            .await
            .expect("it is clicked");
        // What was instant when it was recorded may load something today.
        assert_eq!(
            lab.bridge.settle(WaitPolicy::IfBusy).await,
            Ok(WaitOutcome::Loaded)
        );
        assert!(!lab.bridge.url().ends_with("/login.html"));
    });
}

#[test]
fn an_answer_that_no_script_reads_is_not_waited_for_and_one_that_is_read_is() {
    with_browser(async |lab| {
        lab.open("unread.html").await;
        // Its answer has no length, and comes after its head.
        lab.click("button", "Count").await;
        assert!(lab.shows("Counted").await);
        // It asks again each second, which is for ever if each answer counts for two.
        let stay = lab.find("button", "Stay signed in").await;
        lab.bridge
            .click(&stay, ClickKind::Single, PATIENCE)
            .await
            .expect("it is clicked");
        assert_eq!(
            lab.bridge.settle(WaitPolicy::Whole).await,
            Ok(WaitOutcome::Quiet)
        );
    });
}

#[test]
fn dialogs_are_answered_as_told_and_recorded() {
    with_browser(async |lab| {
        lab.open("dialogs.html").await;
        lab.click("button", "Ask me").await;
        assert!(lab.shows("No").await);
        lab.click("button", "Say hello").await;
        assert!(lab.shows("Hello was said").await);
        let dialogs = lab.bridge.dialogs();
        let told: Vec<(&str, &str, bool)> = dialogs
            .iter()
            .map(|dialog| {
                (
                    dialog.kind.as_str(),
                    dialog.message.as_str(),
                    dialog.accepted,
                )
            })
            .collect();
        assert_eq!(
            told,
            [("confirm", "Really?", false), ("alert", "Hello", false)]
        );
        let endless = lab.find("button", "Never stop").await;
        let error = lab
            .bridge
            .click(&endless, ClickKind::Single, PATIENCE)
            .await
            .expect_err("it never stops");
        assert!(error.is(codes::BROWSER_DIALOG), "{error}");
    });
    let accept = |options: &mut cuecard_browser::BrowserOptions| {
        options.page.on_dialog = OnDialog::Accept;
    };
    with_options("data-testid", accept, async |lab| {
        lab.open("dialogs.html").await;
        lab.click("button", "Ask my name").await;
        assert!(lab.shows("Name: Ana").await);
    });
}

#[test]
fn tabs_open_and_close_and_files_go_up_and_come_down() {
    with_browser(async |lab| {
        lab.open("tabs.html").await;
        for (role, name) in [("link", "Open terms"), ("button", "Open chat")] {
            lab.click(role, name).await;
            // A tab comes when the browser has made it, which on a busy machine is after the click has settled.
            assert!(lab.comes("Be kind.").await, "{name}");
            let state = lab.state().await;
            let current: Vec<bool> = state.page.tabs.iter().map(|tab| tab.current).collect();
            assert_eq!(current, [false, true]);
            lab.click("button", "Close").await;
            assert!(lab.comes("Open chat").await, "{name}");
            assert!(
                lab.bridge.url().ends_with("/tabs.html"),
                "{}",
                lab.bridge.url()
            );
        }
        lab.click("tab", "Security").await;
        assert!(lab.shows("Two keys.").await);

        lab.open("files.html").await;
        lab.click("link", "Download report").await;
        let downloads = lab.bridge.wait_for_downloads(1, PATIENCE).await;
        assert_eq!(downloads.len(), 1, "{downloads:?}");
        let report = &downloads[0];
        assert_eq!((report.name.as_str(), report.size), ("report.csv", 24));
        assert_eq!(report.path, lab.downloads_folder().join("report.csv"));
        assert_eq!(report.sha256.len(), 64);
        let picture = lab.folder.write("picture.png", "not really");
        let document = lab.folder.write("document.txt", "words");
        for (name, file) in [("Picture", picture), ("Choose a document", document)] {
            let field = lab.find("button", name).await;
            lab.bridge
                .upload(&field, &[file], PATIENCE)
                .await
                .expect("it takes files");
            lab.bridge
                .settle(WaitPolicy::Whole)
                .await
                .expect("it settles");
        }
        assert!(lab.shows("Received document.txt").await);
        assert_eq!(lab.site.count("upload"), 2);
        let picture = lab.bridge.screenshot(&[]).await.expect("a picture");
        assert_eq!(&picture[1..4], b"PNG");
        let status = ElementAddress::top("/html/body/main/p[3]");
        let said = lab
            .bridge
            .extract(&status, PATIENCE)
            .await
            .expect("it can be read");
        assert_eq!(said, "Received document.txt");
    });
}
