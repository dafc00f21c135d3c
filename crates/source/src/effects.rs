/// What a scenario would do, each list without repetition and in the order of the steps. Values that are
/// known only in the run stand as references, with the defaults of variables filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Effects {
    /// MCP servers it would start or connect to.
    pub servers: Vec<String>,
    /// Shell commands it would run.
    pub commands: Vec<String>,
    /// Environment variables that it would set for these commands.
    pub variables: Vec<String>,
    /// Files and folders it would read.
    pub reads: Vec<String>,
    /// Files it would write.
    pub writes: Vec<String>,
    /// URLs it would fetch.
    pub urls: Vec<String>,
}
