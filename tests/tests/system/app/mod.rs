//! The app: the pages of members and their forms.

mod account;
mod admins;
mod audit;
mod contacts;
mod decisions;
mod draft;
mod forms;
mod home;
mod home_endpoints;
mod invitations;
mod members;
mod organization;
mod people;
mod proposals;
mod rare_states;
mod search;
mod sign_in;
mod tokens;
