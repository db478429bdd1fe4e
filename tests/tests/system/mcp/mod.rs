//! The agent endpoint, `/mcp`: protocol, tools, and agents' tasks.

mod lambda;
mod protocol;
mod same;
mod tasks;
mod tools;
