#!/usr/bin/env bash
# Runs `cuecard $CUECARD_RUN` with its reports, and writes the job's summary and annotations.
#
# Reads: CUECARD_RUN (words as a shell splits them), CUECARD_REPORTS (a directory), GITHUB_STEP_SUMMARY, GITHUB_OUTPUT.
set -euo pipefail

mkdir -p "$CUECARD_REPORTS"
# The input is the author's own shell words, as those of any `run:` step.
eval "words=($CUECARD_RUN)"
reports=()
case ${words[0]-} in
play | test) reports=(--report "junit:$CUECARD_REPORTS/junit.xml" --report "html:$CUECARD_REPORTS/report.html") ;;
run) reports=(--report "junit:$CUECARD_REPORTS/junit.xml") ;;
esac
# What belongs to another program stands after `--`.
before=()
while [ "${#words[@]}" -gt 0 ] && [ "${words[0]}" != -- ]; do
    before+=("${words[0]}")
    words=("${words[@]:1}")
done

output=$CUECARD_REPORTS/output.txt
status=0
cuecard "${before[@]}" ${reports[@]+"${reports[@]}"} ${words[@]+"${words[@]}"} 2>&1 | tee "$output" || status=$?

# `error[CODE]: message`, and below it `╭▸ file:line:column`, become annotations at their place.
awk '
    function escaped(text) { gsub(/%/, "%25", text); gsub(/\r/, "%0D", text); return text }
    function flush() {
        if (kind != "") printf "::%s%s%s::%s\n", kind, place != "" ? " " : "", place, escaped(message)
        kind = ""; place = ""
    }
    /^(error|warning)\[[A-Z]-[A-Z0-9-]+\]: / {
        flush()
        kind = substr($0, 1, index($0, "[") - 1)
        message = substr($0, index($0, "[") + 1)
        sub(/\]: /, ": ", message)
        next
    }
    kind != "" && place == "" && /^ *(╭▸|-->) / {
        position = $0
        sub(/^ *(╭▸|-->) /, "", position)
        if (match(position, /:[0-9]+:[0-9]+$/)) {
            split(substr(position, RSTART + 1), numbers, ":")
            place = "file=" substr(position, 1, RSTART - 1) ",line=" numbers[1] ",col=" numbers[2]
        }
        flush()
    }
    END { flush() }
' "$output"

{
    if [ "$status" -eq 0 ]; then
        printf '### ✅ `cuecard %s`\n\n' "$CUECARD_RUN"
    else
        printf '### ❌ `cuecard %s` (exit %s)\n\n' "$CUECARD_RUN" "$status"
    fi
    # A fence that no line of the output can end.
    printf '~~~~~~text\n%s\n~~~~~~\n' "$(tail -n 60 "$output")"
} >>"$GITHUB_STEP_SUMMARY"
printf 'exit-code=%s\n' "$status" >>"$GITHUB_OUTPUT"
exit "$status"
