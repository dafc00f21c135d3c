//! Real agents, played by `serve llm`, whose servers are recorded.
