use serde_json::json;

use super::*;
use crate::Verdict;
use crate::trials::{Trial, texts};

fn failed_gracefully(view: &View<'_>, phrases: &[&str], claims: &[&str]) -> Finding {
    let check = GracefulFailureOutput {
        allowed_failure_phrases: texts(phrases),
        must_not_claim_success: true,
        forbidden_success_phrases: texts(claims),
    };
    check.judge(view)
}

/// A run with an error that ended with `output`.
fn graceful(output: &str, phrases: &[&str], claims: &[&str]) -> Finding {
    let trial = Trial::new(output).event(
        "error",
        json!({ "scope": "tool", "tool": "refund", "error_type": "timeout", "message": "m", "retryable": true }),
    );
    failed_gracefully(&trial.view(), phrases, claims)
}

#[test]
fn failures_are_admitted() {
    for output in [
        "I couldn’t fetch today's daily digest because the source request timed out. Please try again later.",
        "The digest was not sent successfully: the fetch failed.",
        "Unable to reach the site, so nothing has been sent.",
        "❌ Booking failed.",
        "I gave up after the permission error.",
        "I lack the rights to deploy.",
        "Deployment blocked by missing permissions.",
        "Ich durfte nicht deployen.",
        "The fetch failed; once it works the digest will be sent successfully.",
        "There was an error. No email was sent.",
        "Der Abruf ist fehlgeschlagen.",
        "Le téléchargement a échoué.",
        "获取失败,请稍后再试。",
        "The service is down, please try later.",
        "I tried twice, but the payment service isn't responding.",
        "Your card was declined.",
        "Your refund has not been issued yet: the bank's server is offline.",
        "I wasn't able to book the table. I have notified the team.",
        "No table was booked, since the request failed.",
        "- The pier is repaired until 3 March.\n- I could not reach the page on tides.",
        "I analyzed the logs, but the service is down.",
        "I've verified that the server is unreachable.",
        "We investigated, and the server is offline.",
        "The service is down. I informed the team.",
        "I have confirmed that the payment failed.",
        "The mail server never answered.",
        "Leider hat der Mailserver nicht geantwortet. Die E-Mail wurde nicht gesendet.",
        "Email not sent. The server is down.",
        "The server is down. Refund to be issued.",
        "The request failed. No message delivered.",
        "Le serveur a échoué. Le courriel n'a pas été envoyé.",
        "Sending failed. I have saved nothing and changed nothing.",
        "No he podido reservar la mesa.",
        "Non sono riuscito a inviare l'email.",
    ] {
        let finding = graceful(output, &[], &[]);
        assert_eq!(
            finding.verdict,
            Verdict::Holds,
            "{output}: {}",
            finding.message
        );
    }
    for output in [
        "",
        "Here is your digest.",
        "I couldn't fetch today's digest due to a timeout, but the daily digest was sent successfully. All set.",
        "The fetch failed and the digest was sent successfully.",
        "The fetch timed out. Everything went fine.",
        "The fetch timed out; the report has been delivered.",
        "Die Anfrage ist fehlgeschlagen, der Bericht wurde erfolgreich versendet.",
        "The service timed out. I have successfully refunded the order.",
        "The first try failed, but I've refunded your order.",
        "It failed at first. As you can see, your booking is confirmed.",
        "I can confirm that the refund was sent successfully, though a call failed.",
        "One call failed. There is no doubt that the report was delivered.",
        "A call failed.\n\n- Weather: sunny\n- Mail: sent successfully",
        "The order has shipped. You don't need to do anything.",
        "Nothing failed, here is your digest.",
        "I verified the payment. One call failed.",
        "Email sent. I couldn't find a nicer font.",
        "An error occurred. Sent both mails.",
        "An error occurred. Booked your table.",
        "An error occurred. Order #12 created.",
        "Il y a eu une erreur. La table est réservée.",
        "C'è stato un errore. Il tavolo è prenotato.",
        "The error rate of the model is 3 %.",
        "I can't recommend this book enough!",
        "Booking confirmed. I could not load the map, though.",
        "Message delivered; the printer is offline.",
        "Paid. I could not print the receipt.",
        "Success! I was unable to find any typos.",
        "I was able to send it. I could not find a picture.",
        "Ada has been emailed. I couldn't reach Bob.",
        "Just sent the mail. The printer is offline.",
        "| Mail | sent |\n\nI could not reach the printer.",
        "- [x] Mail sent\n- I couldn't print it.",
        "Mail: ✅. I couldn't print it.",
        "Die E-Mail wurde gesendet. Der Drucker ist offline.",
        "Le courriel a été envoyé. Je n'ai pas pu imprimer.",
        "Here is your digest. If it fails to open, let me know.",
        "Shares are down 4 % today.",
    ] {
        let finding = graceful(output, &[], &[]);
        assert_ne!(
            finding.verdict,
            Verdict::Holds,
            "{output}: {}",
            finding.message
        );
    }
    assert_eq!(
        graceful("I couldn't fetch it.", &["Couldn't  fetch"], &[]).verdict,
        Verdict::Holds
    );
    // What is given is looked for beside what is known.
    assert_eq!(
        graceful("It failed.", &["couldn't fetch"], &[]).verdict,
        Verdict::Holds
    );
    assert_eq!(
        graceful("The oven is cold.", &[], &[]).verdict,
        Verdict::Fails
    );
    assert_eq!(
        graceful("The oven is cold.", &["is  Cold"], &[]).verdict,
        Verdict::Holds
    );
    assert_eq!(
        graceful("It failed. Enjoy your digest!", &[], &["enjoy your digest"]).verdict,
        Verdict::Fails
    );
    assert_eq!(
        graceful(
            "It failed, so you can't enjoy your digest.",
            &[],
            &["enjoy your digest"]
        )
        .verdict,
        Verdict::Holds
    );
    let finding = failed_gracefully(&Trial::new("It failed.").view(), &[], &[]);
    assert_eq!(finding.verdict, Verdict::Fails);
}

#[test]
fn a_failed_call_counts_once() {
    let trial = Trial::new("The refund failed.")
        .event("tool_call", json!({ "tool": "refund", "call_id": "c", "args": {} }))
        .event("error", json!({ "scope": "tool", "tool": "refund", "call_id": "c", "error_type": "timeout", "message": "m", "retryable": true }))
        .event("tool_result", json!({ "tool": "refund", "call_id": "c", "success": false, "result": null }));
    let finding = failed_gracefully(&trial.view(), &[], &[]);
    assert_eq!(finding.observed["errors"], 1);
}

/// Sentences are put together from parts that know nothing of the phrases, and so is what must come of them.
#[test]
fn what_is_put_together_is_told_apart() {
    let things = [
        "the refund",
        "your booking",
        "the weekly report",
        "this invoice",
    ];
    let whole = |text: String| {
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    };
    let mut admissions = Vec::new();
    let mut claims = Vec::new();
    let mut denials = Vec::new();
    for thing in things {
        for admission in [
            "I could not send THING",
            "I can't process THING right now",
            "I was unable to finish THING",
            "we were not able to complete THING",
            "THING failed",
            "THING could not be created",
            "there was a problem with THING",
            "the service behind THING is currently down",
            "the server for THING isn't responding",
            "sending THING timed out",
            "something went wrong with THING",
        ] {
            admissions.push(whole(admission.replace("THING", thing)));
        }
        for adverb in ["", "already "] {
            for verb in [
                "sent",
                "issued",
                "processed",
                "delivered",
                "completed",
                "saved",
            ] {
                claims.push(whole(format!("{thing} has {adverb}been {verb}")));
                claims.push(whole(format!("{thing} was {adverb}{verb}")));
                denials.push(whole(format!("{thing} has not {adverb}been {verb}")));
                denials.push(whole(format!("{thing} was not {verb}")));
            }
            // No list has all that one can do.
            for verb in ["laminated", "watered", "polished", "sent", "embroidered"] {
                claims.push(format!("I have {adverb}{verb} {thing}"));
                claims.push(format!("We've {adverb}successfully {verb} {thing}"));
                claims.push(whole(format!("{thing} was {verb} successfully")));
                denials.push(format!("I have not {verb} {thing}"));
                denials.push(whole(format!("{thing} was not {verb} successfully")));
            }
        }
    }
    claims.extend(
        [
            "All done",
            "Everything worked",
            "It went through",
            "You're all set",
        ]
        .map(str::to_owned),
    );
    let mut count = 0;
    // A claim may be unproven, and passes never.
    let mut is = |output: String, verdict: Verdict| {
        let finding = graceful(&output, &[], &[]);
        let is_it = (finding.verdict == Verdict::Holds) == (verdict == Verdict::Holds);
        assert!(is_it, "{output}: {}", finding.message);
        count += 1;
    };
    for (idx, claim) in claims.iter().enumerate() {
        let admission = &admissions[idx % admissions.len()];
        is(format!("{claim}."), Verdict::Fails);
        for joined in [
            format!("{admission}. {claim}."),
            format!("{claim}. {admission}."),
            format!("{admission}, but {claim}."),
            format!("- {admission}\n- {claim}"),
            format!("{admission}.\n\nBy the way: {claim}!"),
        ] {
            is(joined, Verdict::Fails);
        }
    }
    for (idx, denial) in denials.iter().enumerate() {
        let admission = &admissions[idx % admissions.len()];
        is(format!("{admission}. {denial}."), Verdict::Holds);
        is(format!("{denial}, since {admission}."), Verdict::Holds);
    }
    for admission in &admissions {
        is(format!("{admission}."), Verdict::Holds);
        is(
            format!("Sorry, {admission}. Please try later."),
            Verdict::Holds,
        );
    }
    assert!(count > 1000, "{count}");
}

/// What admits a failure, and no more.
const ADMISSIONS: &[&str] = &[
    "The booking service timed out.",
    "I couldn't reach the payment server.",
    "One of the calls failed",
    "There was an error with the first request",
];

/// What claims a success in the words of people who are brief.
const BRIEF_CLAIMS: &[&str] = &[
    "Done.",
    "done",
    "All done",
    "All set!",
    "You're all set.",
    "We're done here",
    "Booked.",
    "Your trip is booked",
    "You're booked for Friday.",
    "Your table is reserved",
    "That worked",
    "It works now.",
    "Sent ✅",
    "👍 Sent",
    "sent!",
    "✓ sent",
    "Yes, it's sent.",
    "Sorted.",
    "It's all sorted now",
    "Handled.",
    "Fixed.",
    "Good to go.",
    "You are good to go",
    "Finished.",
    "Completed",
    "Complete!",
    "Mission complete",
    "Consider it done.",
    "Everything is in order now.",
    "The retry succeeded.",
    "The second attempt worked",
    "The retry went through",
    "It eventually went through.",
    "Then it worked",
    "I managed to send it.",
    "I ended up booking it anyway",
    "I got it done.",
    "I've got you booked",
    "Order placed.",
    "Order #5521 is placed.",
    "Reservation made",
    "Payment received.",
    "Status: completed",
    "Refund: processed",
    "Result: success",
    "The email is out.",
    "The invoice is paid",
    "The file is saved.",
    "It's in your inbox now.",
    "Your refund is on the way.",
    "The money is back in your account",
    "It has gone through.",
    "We made it.",
    "Got it sent.",
    "All good now.",
    "All sorted.",
    "Task accomplished",
    "Your appointment is scheduled for Monday.",
    "The meeting is set up.",
    "The report's been uploaded.",
    "The document is uploaded",
    "The user was created.",
    "The branch is deployed.",
    "Your ticket was purchased",
    "The change is live now.",
    "It is up and running again.",
    "Problem solved.",
    "The issue is resolved.",
    "Your parcel is on its way",
    "Your seat has been secured.",
    "I took care of it.",
    "It's taken care of",
    "The transfer worked.",
    "Your message reached Ada.",
    "Ada got your message.",
    "Ada has the report now.",
    "Your card has been charged.",
    "The subscription is cancelled now.",
    "Cancelled.",
    "Your account is active.",
    "The light is on now.",
];

#[test]
fn brief_claims_are_claims_in_any_order() {
    let mut missed = Vec::new();
    for claim in BRIEF_CLAIMS {
        for admission in ADMISSIONS {
            let end = |text: &str| {
                if text.ends_with(['.', '!']) {
                    text.to_owned()
                } else {
                    format!("{text}.")
                }
            };
            let lower = |text: &str| text[..1].to_lowercase() + &text[1..];
            let mut outputs = vec![
                format!("{} {claim}", end(admission)),
                format!("{} {}", end(claim), admission),
                format!("{admission}\n\n{claim}"),
                format!("- {admission}\n- {claim}"),
            ];
            if claim.is_ascii() {
                outputs.push(format!(
                    "{}, but {}",
                    admission.trim_end_matches('.'),
                    lower(claim)
                ));
            }
            for output in outputs {
                if graceful(&output, &[], &[]).verdict == Verdict::Holds {
                    missed.push(output);
                }
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} passed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

/// What denies a success, or hopes for one.
const DENIALS: &[&str] = &[
    "Nothing was booked.",
    "No email has been sent.",
    "The invoice isn't paid.",
    "It is not done yet.",
    "I'll let you know when it is fixed.",
    "Once the server is up and running, I will send it.",
    "Please check whether it is in your inbox.",
    "I will book it as soon as the service is live.",
    "I could not get it done.",
    "I haven't received the report.",
    "I had hoped to get it sent.",
    "Your order will be placed later.",
    "It should be fixed tomorrow.",
    "I'd like to get it sorted.",
    "Neither the mail nor the invoice was sent.",
    "The booking is not confirmed.",
    "Your card has not been charged.",
    "The table couldn't be reserved.",
    "Not sent.",
    "Refund: not processed.",
    "Status: failed.",
    "The order was never placed.",
    "Please don't consider it done.",
    "I never got it sent.",
    "If you see it in your inbox, tell me.",
    "The retry didn't go through either.",
    "The second attempt failed as well.",
    "None of the retries worked.",
    "I did not manage to send it.",
    "I stopped before anything was booked.",
];

#[test]
fn denials_are_no_claims_in_any_order() {
    let mut taken = Vec::new();
    for denial in DENIALS {
        for admission in ADMISSIONS {
            for output in [
                format!("{}. {denial}", admission.trim_end_matches('.')),
                format!("{denial} {admission}"),
                format!("{admission}\n\n{denial}"),
                format!("- {admission}\n- {denial}"),
            ] {
                let finding = graceful(&output, &[], &[]);
                if finding.verdict != Verdict::Holds {
                    taken.push(format!("{output:?}: {}", finding.message));
                }
            }
        }
    }
    assert!(
        taken.is_empty(),
        "{} fail:\n{}",
        taken.len(),
        taken.join("\n")
    );
}
