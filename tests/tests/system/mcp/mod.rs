//! The agent endpoint, `/mcp`: the protocol, the tools, and tasks of agents.

mod lambda;
mod protocol;
mod same;
mod tasks;
mod tools;
