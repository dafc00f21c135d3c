"""`cuecard test`: many small cases with bundles, and one trace that is larger than memory should ever be."""

import json
import statistics

# Rows of this part when nothing is left out.
ROWS = 4
JOBS = 2

PAGE = "Quarterly figures are out: growth of 4 % over the year, and the bank keeps its rate at 2.5 %. " * 17


def bundle(number):
    """A short run: two searches, the first of which fails, and an answer."""
    call = {"type": "tool_call", "tool": "web_search", "args": {"query": f"news {number}", "limit": 5}}
    return {
        "schema_version": "0.1",
        "adapter": "nanoclaw-replay",
        "scenario": {"group_id": f"group-{number % 7}", "trigger": "user_message"},
        "input_messages": [{"role": "user", "content": "What is new? Three bullets."}],
        "script": [
            {"type": "message_received", "role": "user", "content": "What is new? Three bullets."},
            {**call, "call_id": "c1"},
            {"type": "error", "scope": "tool", "tool": "web_search", "call_id": "c1", "error_type": "timeout",
             "message": "no answer", "retryable": True},
            {**call, "call_id": "c2"},
            {"type": "tool_result", "tool": "web_search", "call_id": "c2", "success": True,
             "result": {"items": [{"title": f"Figures {number}", "url": f"https://news.example/{number}"}]}},
        ],
        "final_output": {"role": "assistant", "content": f"- Figures {number} are out\n- Rain\n- More soon"},
        "status": "success",
        "metrics": {"timing_ms_total": 1200, "tool_call_count": 2, "retry_count": 1},
    }


CASE = """\
schema_version: "0.1"
id: case-{number}
title: What is new, number {number}
tags: [benchmark]
adapter: nanoclaw
mode: replay
adapter_input:
  replay_file: ./replay.json
scenario:
  group_id: group-{group}
  trigger: user_message
  input_messages:
    - role: user
      content: What is new? Three bullets.
tools:
  available: [web_search, web_fetch]
assertions:
  - id: searched
    type: must_call_tool
    params: {{ tool: web_search, min_calls: 1, max_calls: 3 }}
  - id: asked-for-news
    type: tool_args_match
    params: {{ tool: web_search, match: {{ required_keys: [limit], regex: {{ query: '^news [0-9]+$' }} }} }}
  - id: retried
    type: retry_policy_respected
    params: {{ tool: web_search, max_retries: 2, retry_on_error_types: [timeout] }}
  - id: bullets
    type: output_matches_format
    params: {{ format: bullet_list, min_bullets: 3, max_bullets: 3 }}
  - id: polite
    type: output_omits
    params: {{ patterns: [whatever, '(?i)as an ai'], regex: true }}
"""


def write_cases(folder, count):
    for number in range(count):
        place = folder / f"{number // 100:03}" / f"{number:05}"
        place.mkdir(parents=True)
        (place / "test.yaml").write_text(CASE.format(number=number, group=number % 7))
        (place / "replay.json").write_text(json.dumps(bundle(number), indent=1))


def write_trace(path, size):
    """Turns of an agent in JSON Lines, until there are so many bytes; each line is written as it is made."""
    header = {
        "kind": "header", "schema_version": "0.1", "trace_id": "t", "test_run_id": "r",
        "adapter": {"name": "benchmark", "version": "1"}, "capabilities": {"supports_tool_trace": True},
    }
    end = {
        "kind": "end", "final_output": {"role": "assistant", "content": "- Figures are out\n- Rain\n- More soon"},
        "status": "success", "metrics": {"timing_ms_total": 90_000_000, "tool_call_count": 0, "retry_count": 0},
    }
    tools = ["web_search", "web_fetch", "file_read", "mcp__notes__add_note"]
    frame = '{"event_id":"e%d","seq":%d,"ts":"2026-01-01T%02d:%02d:%02d.%03dZ","type":"%s","actor":"%s","data":%s}\n'
    written = seq = turn = 0
    with open(path, "w") as out:
        out.write(json.dumps(header) + "\n")
        while written < size:
            turn += 1
            tool, call = tools[turn % len(tools)], f"c{turn}"
            ask = {"tool": tool, "call_id": call, "args": {"query": f"news of day {turn}", "limit": turn % 10}}
            page = {"title": f"Page {turn}", "text": PAGE, "items": [turn, turn + 1, {"rank": 0.5}]}
            said = {"tool": tool, "call_id": call, "success": turn % 5000 != 0, "duration_ms": turn % 900, "result": page}
            for kind, actor, data in (
                ("thought", "agent", {"text": f"I need more sources, \"{turn}\" so far."}),
                ("tool_call", "agent", ask),
                ("tool_result", "tool", said),
            ):
                seq += 1
                seconds = seq // 100
                time = (seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, seq % 1000)
                line = frame % (seq, seq, *time, kind, actor, json.dumps(data))
                out.write(line)
                written += len(line)
        out.write(json.dumps(end) + "\n")


TRACE_CASE = """\
schema_version: "0.1"
id: long
title: A very long run
adapter: cuecard
adapter_input:
  trace_file: ./long.trace.jsonl
tools:
  available: [web_search, web_fetch, file_read, mcp__notes__add_note]
assertions:
  - { id: a01, type: must_call_tool, params: { tool: web_search } }
  - { id: a02, type: must_call_tool, params: { tool: "mcp__notes__*", min_calls: 10 } }
  - { id: a03, type: must_not_call_tool, params: { tool: shell } }
  - { id: a04, type: must_not_call_tool, params: { tool: "mcp__mail__*" } }
  - { id: a05, type: max_tool_calls, params: { max_total: 10000000 } }
  - { id: a06, type: max_tool_calls, params: { tool: web_fetch, max: 10000000 } }
  - { id: a07, type: tool_call_order, params: { before: { event_type: tool_call, tool: web_fetch }, after: { event_type: tool_result, tool: file_read } } }
  - { id: a08, type: tool_call_order, params: { before: { event_type: tool_call, args: { limit: 3 } }, after: { event_type: final_output } } }
  - { id: a09, type: tool_args_match, params: { tool: web_search, match: { required_keys: [query] } } }
  - { id: a10, type: tool_args_match, params: { tool: file_read, which: 7, match: { regex: { query: news } } } }
  - { id: a11, type: stop_after_success, params: { success_event: { event_type: tool_result, tool: shell }, forbid_following: [{ event_type: tool_call }] }, severity: warning }
  - { id: a12, type: output_contains, params: { any_of: [figures] } }
  - { id: a13, type: output_omits, params: { patterns: [whatever] } }
  - { id: a14, type: output_matches_format, params: { format: bullet_list, min_bullets: 3 } }
  - { id: a15, type: trajectory, params: { mode: in_order, calls: [{ tool: web_fetch }, { tool: file_read, args: { limit: 2 } }] } }
  - { id: a16, type: tool_result_matches, params: { tool: web_search, json_path: "$.title", contains: Page } }
  - { id: a17, type: max_duration_ms, params: { limit: 100000000 } }
  - { id: a18, type: max_errors, params: { limit: 1000000 } }
  - { id: a19, type: graceful_failure_output, params: {}, severity: warning }
  - { id: a20, type: ask_clarifying_when_ambiguous, params: { forbidden_tools: [web_fetch] }, severity: warning }
"""


def rows(bench):
    folder, count = bench.folder, bench.pick(10_000, 1_000, 20)
    write_cases(folder / "cases", count)
    # Another folder, so that the process is measured and not the reading of ten thousand names.
    write_cases(folder / "one", 1)
    best, median, _ = bench.repeated(bench.pick(100, 20, 1), ["test", "one"])
    yield "test, one small case, whole process", f"{median * 1000:.1f} ms (best {best * 1000:.1f})", "< 10 ms"
    reports = ["--output", "results", "--report", "html:report.html", "--report", "junit:report.xml"]
    for label, options in (("", []), (", all reports and files", reports)):
        measured = [bench.run(["test", "cases", "-j", str(JOBS), *options]) for _ in range(bench.pick(5, 2, 1))]
        rates = [count / took for took, _ in measured]
        yield (
            f"test, {count:,} small cases with bundles{label}",
            f"{statistics.median(rates):,.0f} cases/s (best {max(rates):,.0f}); {max(size for _, size in measured):.0f} MB",
            "" if options else ">= 5,000 cases/s",
        )
    long = folder / "long"
    long.mkdir()
    (long / "test.yaml").write_text(TRACE_CASE)
    trace = long / "long.trace.jsonl"
    write_trace(trace, bench.pick(200_000_000, 50_000_000, 1_000_000))
    measured = [bench.run(["test", "long"]) for _ in range(bench.pick(3, 2, 1))]
    megabytes = trace.stat().st_size / 1e6
    rates = [megabytes / took for took, _ in measured]
    yield (
        f"test, a trace of {megabytes:,.0f} MB, 20 assertions",
        f"{statistics.median(rates):,.0f} MB/s (best {max(rates):,.0f}); {max(size for _, size in measured):.0f} MB",
        ">= 50 MB/s, < 1,500 MB",
    )
