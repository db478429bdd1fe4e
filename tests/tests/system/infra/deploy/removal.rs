//! Stages that are removed, and what `LocalStack` and packages need.

use super::*;

#[tokio::test]
async fn a_stack_with_data_is_not_removed_unless_told() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    let removal = "cloudformation delete-stack";
    let lost = ["dynamodb delete-table", "s3api delete-objects", "s3api delete-bucket", "secretsmanager delete-secret"];
    aws.says("dynamodb scan", &json!({"Count": 1}));
    for environment in [&[][..], &[("LOSE_DATA", "yes")], &[("LOSE_DATA", "countersign-other")]] {
        let ran = aws.run(&["destroy", "prod", "--yes"], environment).await;
        ran.refused("the table the-table has records");
        assert!(![removal, lost[0], lost[2], lost[3]].iter().any(|call| ran.has_called(call)), "{}", ran.calls);
    }
    let kept = aws.run(&["destroy", "prod", "--yes"], &[("KEEP_DATA", "yes")]).await;
    kept.succeeded();
    assert!(kept.has_called(removal) && !lost.iter().any(|call| kept.has_called(call)), "{}", kept.calls);
    let again = "TableName=the-table TableStreamLabel=2026-11-25T03 FilesBucket=the-bucket KeyringArn=the-secret";
    assert!(kept.text().contains(again), "how they are used again: {}", kept.text());
    let gone = aws.run(&["destroy", "prod", "--yes"], &[("LOSE_DATA", "countersign-prod")]).await;
    gone.succeeded();
    gone.called_in_order(&["dynamodb update-table", lost[0], lost[2], lost[3], removal]);

    aws.says("dynamodb scan", &json!({"Count": 0}));
    aws.says("s3api list-object-versions", &json!({"Versions": [{"Key": "a", "VersionId": "1"}]}));
    aws.run(&["destroy", "prod", "--yes"], &[]).await.refused("the bucket the-bucket has files");
    aws.says("s3api list-object-versions", &json!({}));
    let ran = aws.run(&["destroy", "prod"], &[]).await;
    ran.refused("--yes");
    assert!(!ran.has_called(removal), "{}", ran.calls);
    let secret = "secretsmanager describe-secret";
    aws.says(secret, &json!({"ReplicationStatus": [{"Region": "eu-west-1", "Status": "InSync"}]}));
    let ran = aws.run(&["destroy", "prod", "--yes"], &[("LOSE_DATA", "countersign-prod")]).await;
    ran.refused("the keyring the-secret has replicas in eu-west-1");
    assert!(!lost.iter().any(|call| ran.has_called(call)), "{}", ran.calls);
    aws.says(secret, &json!({"VersionIdsToStages": {"1": ["AWSCURRENT"]}}));
    aws.run(&["destroy", "prod", "--yes"], &[]).await.succeeded();
    aws.is("UPDATE_COMPLETE", &[("TableName", "restored")]);
    let ran = aws.run(&["destroy", "prod", "--yes"], &[]).await;
    ran.succeeded();
    assert!(ran.has_called("dynamodb delete-table --table-name the-table"), "{}", ran.calls);
    assert!(!ran.calls.contains("restored") && ran.text().contains("restored is not of this stack"), "{}", ran.text());
    aws.fails("cloudformation describe-stacks", NO_STACK);
    aws.run(&["destroy", "prod", "--yes"], &[]).await.refused("there is no stack countersign-prod");
}

/// As many files as one call deletes, with keys as long as the service's.
#[tokio::test]
async fn a_large_bucket_is_emptied_and_what_was_interrupted_goes_on() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    let list = "s3api list-object-versions";
    let files: Vec<Value> = (0..1000)
        .map(|number| json!({"Key": format!("{}/{number:064x}", uuid::Uuid::nil()), "VersionId": "v".repeat(32)}))
        .collect();
    let full = json!({"Versions": files});
    let marker = json!({"DeleteMarkers": [{"Key": "a", "VersionId": "2"}]});
    let lose = [("LOSE_DATA", "countersign-prod")];
    aws.says(list, &full);
    let error = json!({"Key": "a-key", "Code": "AccessDenied", "Message": "locked"});
    aws.says("s3api delete-objects", &json!({ "Errors": [error] }));
    let ran = aws.run(&["destroy", "prod", "--yes"], &lose).await;
    ran.refused("1 of 1000 files in the-bucket can't be deleted").refused("a-key: AccessDenied locked");
    ran.called_in_order(&["dynamodb delete-table", "s3api delete-objects"]);
    assert!(!ran.has_called("cloudformation delete-stack") && !ran.has_called("s3api delete-bucket"), "{}", ran.calls);
    aws.fails("dynamodb describe-table", "An error occurred (ResourceNotFoundException)");
    aws.fails("dynamodb scan", "An error occurred (ResourceNotFoundException)");
    aws.says("s3api delete-objects", &json!({}));
    aws.says(list, &json!({}));
    aws.says_in_turn(list, &[full.clone(), full.clone(), full, marker]);
    let ran = aws.run(&["destroy", "prod", "--yes"], &lose).await;
    ran.succeeded();
    ran.called_in_order(&["s3api delete-objects", "s3api delete-bucket", "cloudformation delete-stack"]);
    let deletions: Vec<&Value> = ran.recorded.iter().filter(|call| call["args"][1] == "delete-objects").collect();
    let deleted = deletions.iter().map(|call| {
        let args = call["args"].as_array().expect("arguments");
        assert!(args.iter().all(|arg| arg.as_str().is_some_and(|arg| arg.len() < ARGUMENT_BYTES_MAX)));
        let content = call["files"].as_object().and_then(|files| files.values().next()?.as_str()).expect("a file");
        serde_json::from_str::<Value>(content).expect("JSON")["Objects"].as_array().expect("keys").len()
    });
    assert_eq!(deleted.collect::<Vec<_>>(), [1000, 1000, 1]);
    aws.fails(list, "An error occurred (NoSuchBucket)");
    aws.fails("s3api delete-bucket", "An error occurred (NoSuchBucket)");
    aws.fails("secretsmanager delete-secret", "An error occurred (InvalidRequestException): marked for deletion");
    aws.run(&["destroy", "prod", "--yes"], &lose).await.succeeded();
    aws.fails(list, "An error occurred (AccessDenied)");
    aws.run(&["destroy", "prod", "--yes"], &lose).await.refused("AccessDenied");
}

/// The command line reports each upload's progress repeatedly, on one line of a terminal.
#[tokio::test]
async fn a_deployment_shows_no_progress_of_uploads() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    let uploads = r#"#!/bin/sh
if [ "$2" = package ]; then
  printf '\rUploading to code/1a  262144 / 300000.0  (87.38%%)\rUploading to code/1a  300000 / 300000.0  (100.00%%)a warning\n' >&2
fi
exec "$(dirname "$0")/aws" "$@"
"#;
    aws.program("aws-that-uploads", uploads);
    let cli = aws.path("aws-that-uploads").display().to_string();
    let ran = aws.run(&["deploy", "prod", "--yes"], &[("AWS_CLI", &*cli)]).await;
    ran.succeeded();
    assert!(ran.text().contains("a warning") && !ran.text().contains("Uploading"), "{}", ran.text());
}

#[tokio::test]
async fn localstack_is_not_started_without_its_token() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    aws.run(&["localstack"], &[("LOCALSTACK_AUTH_TOKEN", "")]).await.refused("LOCALSTACK_AUTH_TOKEN");
}

#[tokio::test]
async fn a_stage_on_localstack_comes_up_and_has_its_first_session() {
    if !is_wanted() {
        return;
    }
    let aws = Aws::new();
    aws.says("secretsmanager describe-secret", &json!({}));
    let deployed = r#"#!/bin/sh
if [ "$1 $2 $3" = "cloudformation wait stack-create-complete" ]; then rm "$(dirname "$0")/cloudformation describe-stacks fails"; fi
exec "$(dirname "$0")/aws" "$@"
"#;
    aws.program("aws-that-deploys", deployed);
    aws.is("CREATE_COMPLETE", &[]);
    let stack = Stack::with(Needs::SHARED);
    let email = format!("localstack-{}@harbor.example", uuid::Uuid::new_v4().simple());
    let made = ops::create_organization_with_invitation(&stack.table().store(), "Harbor & Pine", &email).await;
    let link = format!("{}{}", stack.base_url, made.expect("an organization").invitation_path);
    // Outputs that only this test needs.
    let mut described: Value =
        serde_json::from_str(&std::fs::read_to_string(aws.path("cloudformation describe-stacks")).expect("an answer"))
            .expect("JSON");
    let outputs = described["Stacks"][0]["Outputs"].as_array_mut().expect("outputs");
    outputs.push(json!({"OutputKey": "BaseUrl", "OutputValue": stack.base_url}));
    aws.write("cloudformation describe-stacks", &described.to_string());
    aws.fails("cloudformation describe-stacks", NO_STACK);
    aws.program("docker", "#!/bin/sh\necho \"$@\" >>\"$(dirname \"$0\")/containers\"\necho a-container\n");
    aws.program("make", "#!/bin/sh\necho made \"$@\"\n");
    let cargo =
        format!("#!/bin/sh\ncase \"$*\" in *create-organization*) echo '{link}' ;; *) echo a-keyring ;; esac\n");
    aws.program("cargo", &cargo);
    // Its health endpoint, on this test's own port.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let health = tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let _ = connection.read(&mut [0; 1024]).await;
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}").await;
        }
    });
    let cli = aws.path("aws-that-deploys").display().to_string();
    let environment = [("LOCALSTACK_AUTH_TOKEN", "x"), ("LOCALSTACK_PORT", &*port), ("AWS_CLI", &*cli)];
    let ran = aws.run(&["localstack"], &environment).await;
    health.abort();
    ran.succeeded();
    assert!(
        ran.text().contains("made package ARCH=") && ran.text().contains("The first session works."),
        "{}",
        ran.text()
    );
    let create = ran.call("cloudformation create-change-set");
    assert!(
        create.contains(&format!("--template-url http://127.0.0.1:{port}/code/countersign-localstack/")),
        "{create}"
    );
    ran.called_in_order(&[
        "cloudformation execute-change-set",
        "cloudformation wait stack-create-complete",
        "secretsmanager put-secret-value --secret-id the-secret",
    ]);
    let containers = std::fs::read_to_string(aws.path("containers")).expect("the calls of docker");
    let [started, stopped] = containers.lines().collect::<Vec<_>>()[..] else { panic!("{containers}") };
    for part in [
        &*format!("--publish 127.0.0.1:{port}:4566"),
        "--env LOCALSTACK_AUTH_TOKEN",
        "--env PROVIDER_OVERRIDE_DYNAMODB=v2",
        "--env PROVIDER_OVERRIDE_DYNAMODBSTREAMS=v2",
    ] {
        assert!(started.contains(part), "{part}: {started}");
    }
    assert_eq!(stopped, "stop a-container");
    // The tests at LocalStack start it with the same.
    assert!(HANDBOOK.contains("-e PROVIDER_OVERRIDE_DYNAMODB=v2 -e PROVIDER_OVERRIDE_DYNAMODBSTREAMS=v2"));
}

/// A stage can be deployed even if the tool that lists a function's dependencies can't be compiled.
#[tokio::test]
async fn zips_without_a_list_of_their_parts_are_still_packaged() {
    if !is_wanted() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let root = folder.path();
    let write = |name: &str, text: &str| {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, text).expect("a file");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    };
    write("scripts/package", include_str!("../../../../../scripts/package"));
    write("functions/clock/Cargo.toml", "");
    write("target/lambda-zip/clock/bootstrap.zip", "zip");
    let package = async || Command::new("python3").arg(root.join("scripts/package")).output().await.expect("it runs");
    let sbom = root.join("target/lambda-zip/clock/sbom.cdx.json");
    let bin = root.join("bin").display().to_string();
    for (is_compiled, works, is_there) in
        [(true, true, true), (false, true, false), (true, true, true), (true, false, false)]
    {
        let tools = if is_compiled { format!("echo {bin}") } else { "exit 1".to_owned() };
        write("scripts/tools", &format!("#!/bin/sh\n{tools}\n"));
        let lists = if works { "echo '{\"components\": [1]}' >functions/clock/sbom.cdx.json" } else { "exit 1" };
        write("bin/cargo-cyclonedx", &format!("#!/bin/sh\n{lists}\n"));
        let ran = package().await;
        let text = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{text}");
        assert!(String::from_utf8_lossy(&ran.stdout).contains("clock"), "its size is said");
        assert_eq!((sbom.is_file(), text.contains("SBOMS ARE MISSING")), (is_there, !is_there), "{text}");
    }
}
