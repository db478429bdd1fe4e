//! The rules, without I/O: types that are valid by construction, and their transitions.

pub mod account;
pub mod actor;
pub mod agreement;
pub mod audit;
pub mod call_context;
pub mod contact;
pub mod day;
pub mod delivery;
pub mod device;
pub mod endpoint;
pub mod endpoint_url;
pub mod event;
pub mod evidence;
#[cfg(test)]
mod histories;
pub mod ids;
pub mod information;
pub mod invitation;
pub mod local_time;
pub mod member;
pub mod moment;
pub mod movement;
pub mod organization;
pub mod paper_signature;
pub mod participant;
pub mod password;
pub mod password_link;
pub mod proposal;
pub mod second_factor;
pub mod sentences;
pub mod session;
pub mod time;
pub mod time_scale;
pub mod time_zone;
pub mod token;
pub mod typed_values;
pub mod workspace;
