mod aws;
mod aws_run;
mod canaries;
mod connections;
#[cfg(unix)]
mod deploy;
mod gateway;
mod handbook;
mod keyring;
mod lambda;
mod local_stack;
mod logs;
mod ops;
mod readme;
mod template;
