//! Writes what derives from operations and pages: the API document, the documentation, agents' tools, the routes in
//! `infra/template.yaml`, and the table in `docs/trust-funding.md`. Run it after changing any of them.

use std::path::Path;
use std::process::ExitCode;

use local::gateway;

fn main() -> ExitCode {
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let write = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        // Writing an unchanged file would recompile everything that includes it.
        if std::fs::read(&path).is_ok_and(|kept| kept == bytes) {
            return Ok::<(), String>(());
        }
        std::fs::write(path, bytes).map_err(|error| format!("{file} cannot be written: {error}"))?;
        println!("Wrote {file}");
        Ok(())
    };
    let compressed = |text: &str| shared::api::gzip::compressed(text).map_err(|error| error.to_string());
    let description = local::openapi_json();
    write("shared/openapi.json", description.as_bytes())?;
    write("shared/openapi.json.gz", &compressed(&description)?)?;
    let docs = local::documentation()?;
    write("functions/read-api/docs/page.html.gz", &compressed(&docs.page)?)?;
    write("functions/read-api/docs/policy.txt", docs.policy.as_bytes())?;
    write("functions/mcp/tools.json", local::tools_json().as_bytes())?;
    let file = "infra/template.yaml";
    let template = std::fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let template = gateway::with_routes(&template, &gateway::routes())
        .ok_or_else(|| format!("{file} has no marks for its routes"))?;
    write(file, template.as_bytes())?;
    let file = "docs/trust-funding.md";
    let page = std::fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
    let page = shared::domain::funding::table::with_reference(&page)
        .ok_or_else(|| format!("{file} has no marks for its table"))?;
    write(file, page.as_bytes())
}
