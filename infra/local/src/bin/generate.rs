//! Writes `shared/openapi.json`, the description that every function serves and routes by, from
//! the declarations of the operations. Run it after adding or changing an operation.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/openapi.json");
    match std::fs::write(&path, local::openapi_json()) {
        Ok(()) => {
            println!("Wrote shared/openapi.json");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: shared/openapi.json cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}
