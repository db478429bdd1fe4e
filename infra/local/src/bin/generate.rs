//! Writes `shared/openapi.json`, the description that every function serves and routes by, and its compressed form, from
//! the declarations of the operations. Run it after adding or changing an operation.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let description = local::openapi_json();
    let compressed = shared::api::openapi::compressed(&description);
    for (file, bytes) in [("openapi.json", description.as_bytes()), ("openapi.json.gz", &compressed)] {
        if let Err(error) = std::fs::write(folder.join(file), bytes) {
            eprintln!("error: shared/{file} cannot be written: {error}");
            return ExitCode::FAILURE;
        }
        println!("Wrote shared/{file}");
    }
    ExitCode::SUCCESS
}
