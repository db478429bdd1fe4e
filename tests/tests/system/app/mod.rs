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
mod hostile_texts;
mod invitations;
mod members;
mod organization;
mod pages;
mod people;
mod pressed_twice;
mod proposals;
mod rare_states;
mod reference;
mod search;
mod second_factor;
mod sign_in;
mod strangers;
mod tokens;
mod unsent;
mod verification;
