//! The examples at the end of each page of help.

/// Each command (the words behind the program's name) with its examples: what one does, and the line to type.
pub(super) const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            (
                "Call a tool of the built-in server",
                "cuecard call demo add_note --arg title=Tea --arg text=Green",
            ),
            (
                "Write the examples of the book into a directory",
                "cuecard examples",
            ),
            ("Show the options of a command", "cuecard COMMAND --help"),
        ],
    ),
    (
        "play",
        &[
            ("Play a scenario", "cuecard play examples/quickstart.json"),
            (
                "Set a variable, and check the run without calling a tool",
                "cuecard play welcome.json --var USER=ada --dry-run",
            ),
            (
                "Play a directory, and write a report for CI",
                "cuecard play scenarios --jobs 4 --report junit:report.xml",
            ),
        ],
    ),
    (
        "check",
        &[
            ("Check all files of a directory", "cuecard check scenarios"),
            (
                "Also start the servers, and compare tools and parameters",
                "cuecard check welcome.json --connect",
            ),
        ],
    ),
    (
        "list",
        &[
            ("List the scenarios of the project", "cuecard list"),
            (
                "List those of another directory, for a program",
                "cuecard list scenarios --json",
            ),
        ],
    ),
    (
        "convert",
        &[
            (
                "Convert a scenario of version 1.x",
                "cuecard convert old.json -o new.json",
            ),
            (
                "Export browser steps as a test of Playwright",
                "cuecard convert login.steps.json --to playwright -o login.spec.ts",
            ),
            (
                "Update a timeline in its file",
                "cuecard convert old.yaml --in-place",
            ),
        ],
    ),
    (
        "record",
        &[
            (
                "Record the conversation of an agent with its model",
                "cuecard record llm --upstream https://api.anthropic.com -- claude -p Fix",
            ),
            (
                "Record the tool calls of an agent",
                "cuecard record mcp --config .mcp.json -- claude -p 'Tidy the notes'",
            ),
            (
                "Make a scenario of a session that is over",
                "cuecard record transcript session.jsonl -o release.json",
            ),
        ],
    ),
    (
        "record llm",
        &[
            (
                "Record what an agent and its model say",
                "cuecard record llm --upstream https://api.anthropic.com -- claude -p Fix",
            ),
            (
                "Record a local model until Ctrl-C",
                "cuecard record llm --upstream http://localhost:11434 --port 8099",
            ),
            (
                "Replay the recording without the model",
                "cuecard serve llm recorded.yaml -- claude -p Fix",
            ),
        ],
    ),
    (
        "record transcript",
        &[
            (
                "Make a scenario of a session of Claude Code",
                "cuecard record transcript session.jsonl -o release.json",
            ),
            (
                "Print the scenario of a session, and the open questions",
                "cuecard record transcript session.jsonl --json",
            ),
        ],
    ),
    (
        "record mcp",
        &[
            (
                "Record an agent with all servers of a config",
                "cuecard record mcp --config .mcp.json -o tidy.json -- claude -p 'Tidy up'",
            ),
            (
                "Record one server; the client starts this command",
                "cuecard record mcp -o tidy.json -- npx -y @playwright/mcp",
            ),
            (
                "Record a server with a URL",
                "cuecard record mcp --url https://tickets.example/mcp --http -o tickets.json",
            ),
            (
                "Make the same calls without the agent",
                "cuecard play tidy.json",
            ),
        ],
    ),
    (
        "infer",
        &[
            (
                "Make a scenario of two recordings of `cuecard record mcp`",
                "cuecard infer monday.json friday.json -o report.json",
            ),
            (
                "Make one of an agent's session",
                "cuecard infer session.jsonl",
            ),
        ],
    ),
    (
        "serve",
        &[
            (
                "Mock the model for an agent",
                "cuecard serve llm fix-test.yaml -- claude -p 'Fix the test'",
            ),
            (
                "Mock an agent service",
                "cuecard serve rest fix-test.yaml --port 8080",
            ),
            (
                "Mock an MCP server with a recording",
                "cuecard serve mcp tidy.cassette.jsonl",
            ),
        ],
    ),
    (
        "serve llm",
        &[
            (
                "Run an agent with a mock of its model",
                "cuecard serve llm fix-test.yaml -- claude -p 'Fix the test'",
            ),
            (
                "Serve all timelines of a directory until Ctrl-C",
                "cuecard serve llm timelines --port 8099",
            ),
            (
                "List where faults would be injected",
                "cuecard serve llm fix-test.yaml --fault faults.yaml --list-faults",
            ),
        ],
    ),
    (
        "serve rest",
        &[
            (
                "Serve an agent service until Ctrl-C",
                "cuecard serve rest fix-test.yaml --port 8080",
            ),
            (
                "Run the tests of a client, and fail if a timeline was not played",
                "cuecard serve rest timelines --require-complete -- npm test",
            ),
            (
                "Let the pages of a development server call it",
                "cuecard serve rest timelines --port 8080 --cors http://localhost:5173",
            ),
        ],
    ),
    (
        "serve mcp",
        &[
            (
                "Serve a recorded server over stdio",
                "cuecard serve mcp tidy.cassette.jsonl",
            ),
            (
                "Serve it over HTTP",
                "cuecard serve mcp tidy.cassette.jsonl --http --port 8090",
            ),
        ],
    ),
    (
        "acp",
        &[
            (
                "Mock an agent for an editor, which starts this command",
                "cuecard acp timelines",
            ),
            (
                "Drive a real agent with the prompts of a timeline",
                "cuecard acp --client fix-test.yaml -- opencode acp",
            ),
            (
                "Fail if a timeline was not played to its end, and write a report",
                "cuecard acp timelines --require-complete --report junit:acp.xml",
            ),
        ],
    ),
    (
        "agent",
        &[
            (
                "Play the agent of a timeline in this directory",
                "cuecard agent fix-test.yaml",
            ),
            (
                "Play it elsewhere, three times as fast",
                "cuecard agent fix-test.yaml --workspace /tmp/shop --speed 0.33",
            ),
            (
                "Run no tool: show what the timeline says",
                "cuecard agent fix-test.yaml --simulate",
            ),
        ],
    ),
    (
        "run",
        &[
            (
                "Run a timeline with the mock agent",
                "cuecard run fix-test.yaml",
            ),
            (
                "Run it with a real agent and a mock of its model",
                "cuecard run fix-test.yaml --agent codex",
            ),
            (
                "Run a program, and watch its screen",
                "cuecard run editor.yaml --live -- vim notes.txt",
            ),
            (
                "Write the expected screens",
                "cuecard run editor.yaml --update-goldens -- vim notes.txt",
            ),
        ],
    ),
    (
        "test",
        &[
            (
                "Run all tests of a directory",
                "cuecard test tests --report html:report.html",
            ),
            (
                "Run some of them, again after each change of a file",
                "cuecard test tests --filter news --watch",
            ),
            (
                "Do the assertions detect defects?",
                "cuecard test tests --mutate --min-score 90",
            ),
            ("Update the stored traces", "cuecard test tests --update"),
        ],
    ),
    (
        "show",
        &[
            ("Step through the last run", "cuecard show"),
            (
                "Print the screen after 2.5 seconds",
                "cuecard show last --at 2.5",
            ),
        ],
    ),
    (
        "diff",
        &[
            (
                "Compare two traces",
                "cuecard diff old.trace.json new.trace.jsonl",
            ),
            (
                "Compare the traces of two runs",
                "cuecard diff .cuecard/runs/A .cuecard/runs/B",
            ),
            (
                "Compare two results of `cuecard test --output runs`",
                "cuecard diff runs/A runs/B",
            ),
        ],
    ),
    (
        "parse",
        &[
            (
                "Turn sentences into steps",
                "cuecard parse login.yaml -o login.steps.json",
            ),
            (
                "Parse by rules only, without a model",
                "cuecard parse login.yaml --translator rules",
            ),
            (
                "Watch the browser",
                "cuecard parse login.yaml --headed --slow-mo 300",
            ),
        ],
    ),
    (
        "verify",
        &[
            (
                "Check that the page still has the elements of the steps",
                "cuecard verify login.steps.json",
            ),
            (
                "Check that a server still answers as recorded",
                "cuecard verify tidy.cassette.jsonl",
            ),
            (
                "Write its new answers into the cassette",
                "cuecard verify tidy.cassette.jsonl --update",
            ),
        ],
    ),
    (
        "browser",
        &[
            ("Install what is missing", "cuecard browser install"),
            ("Do it in a script", "cuecard browser install --json"),
        ],
    ),
    (
        "browser install",
        &[
            ("Install what is missing", "cuecard browser install"),
            ("Do it in a script", "cuecard browser install --json"),
        ],
    ),
    (
        "explain",
        &[
            ("Explain a code", "cuecard explain C-REF-02"),
            (
                "Show what a timeline does, and when",
                "cuecard explain fix-test.yaml",
            ),
            (
                "Show which timeline a prompt selects, and why",
                "cuecard explain timelines --prompt 'Fix the test'",
            ),
            ("Explain the exit codes", "cuecard explain exit-codes"),
        ],
    ),
    (
        "parity",
        &[
            ("Compare all mocks", "cuecard parity fix-test.yaml"),
            (
                "Compare them for a program",
                "cuecard parity timelines --json",
            ),
        ],
    ),
    (
        "audit",
        &[
            ("Run a timeline 10 times", "cuecard audit fix-test.yaml"),
            (
                "Run a program 3 times in other surroundings",
                "cuecard audit editor.yaml --runs 3 --seed 7 -- vim notes.txt",
            ),
        ],
    ),
    (
        "profile",
        &[
            ("List the built-in profiles", "cuecard profile list"),
            (
                "Show how an agent names its tools",
                "cuecard profile show claude-code",
            ),
        ],
    ),
    (
        "profile list",
        &[
            ("List the built-in profiles", "cuecard profile list"),
            ("Show one of them", "cuecard profile show claude-code"),
        ],
    ),
    (
        "profile show",
        &[
            (
                "Show how an agent names its tools",
                "cuecard profile show claude-code",
            ),
            (
                "Show what an additional profile changes",
                "cuecard profile show my-agent --profile my-agent.toml",
            ),
        ],
    ),
    (
        "profile capture",
        &[
            (
                "Make a profile of what an agent sent to `serve llm`",
                "cuecard profile capture exchanges.jsonl --agent my-agent@1.0",
            ),
            (
                "Write it into a directory",
                "cuecard profile capture exchanges.jsonl -o profiles",
            ),
        ],
    ),
    (
        "tools",
        &[
            (
                "List the tools of a server from a config",
                "cuecard tools notes",
            ),
            (
                "List those of any other server",
                "cuecard tools https://tickets.example/mcp",
            ),
            (
                "List those of a server that this command starts",
                "cuecard tools -- npx -y @playwright/mcp",
            ),
        ],
    ),
    (
        "call",
        &[
            (
                "Call a tool with two arguments",
                "cuecard call notes add --arg text=Tea --arg count=2",
            ),
            (
                "Read the arguments from a file, and print JSON",
                "cuecard call notes add --args @notes.json --json",
            ),
            (
                "Call a tool of a server that this command starts",
                "cuecard call browser_tabs --arg action=list -- npx -y @playwright/mcp",
            ),
        ],
    ),
    (
        "doctor",
        &[
            ("Try all servers of the configs", "cuecard doctor"),
            (
                "Try one of them, with a longer timeout",
                "cuecard doctor notes --timeout 120",
            ),
            (
                "Only list where servers are configured",
                "cuecard doctor --no-start",
            ),
        ],
    ),
    (
        "mcp",
        &[
            (
                "Let scenarios stay in the project and run no commands",
                "cuecard mcp --confine",
            ),
            (
                "Serve another project, and change nothing",
                "cuecard mcp --root ../shop --read-only",
            ),
            ("Serve the demo server", "cuecard mcp demo"),
        ],
    ),
    (
        "mcp demo",
        &[
            (
                "Serve the demo server over stdio: this is the command in a config",
                "cuecard mcp demo",
            ),
            ("Serve it over HTTP", "cuecard mcp demo --http --port 8090"),
        ],
    ),
    (
        "skill",
        &[
            ("Read the skill", "cuecard skill show"),
            ("Install it for your agents", "cuecard skill install"),
        ],
    ),
    (
        "skill show",
        &[
            ("Read the skill", "cuecard skill show"),
            (
                "Write the plugin for Claude Code",
                "cuecard skill show -o plugin",
            ),
        ],
    ),
    (
        "skill install",
        &[
            (
                "Install it for all agents that are found",
                "cuecard skill install",
            ),
            (
                "Install it for one agent in this project",
                "cuecard skill install --agent claude-code --project",
            ),
        ],
    ),
    (
        "examples",
        &[
            ("Write them to examples/", "cuecard examples"),
            (
                "Write them elsewhere",
                "cuecard examples /tmp/cuecard-examples",
            ),
        ],
    ),
    (
        "schema",
        &[
            ("List the formats", "cuecard schema"),
            ("Print a schema", "cuecard schema tool-call"),
            (
                "Write all schemas into a directory",
                "cuecard schema --output schemas",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "Install them for Bash",
                "cuecard completions bash | sudo tee /etc/bash_completion.d/cuecard",
            ),
            (
                "Install them for Zsh, in a directory of $fpath",
                "cuecard completions zsh > ~/.zfunc/_cuecard",
            ),
            (
                "Install them for Fish",
                "cuecard completions fish > ~/.config/fish/completions/cuecard.fish",
            ),
        ],
    ),
    (
        "man",
        &[
            ("Read it", "cuecard man | man -l -"),
            (
                "Install it",
                "cuecard man > ~/.local/share/man/man1/cuecard.1",
            ),
        ],
    ),
];

/// The examples of a command, as they stand in its help.
pub(super) fn examples_of(path: &str) -> String {
    let examples = EXAMPLES.iter().find(|(command, _)| *command == path);
    let mut text = "Examples:".to_owned();
    for (does, line) in examples.map_or(&[][..], |(_, examples)| examples) {
        text.push_str(&format!("\n  {does}:\n    {line}"));
    }
    text
}
