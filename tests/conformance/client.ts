// What an integrator does with the types of openapi-typescript: create, replay, list through pages, meet errors, and draft a
// deal.
// Arguments: base URL and token.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Contact = components["schemas"]["Contact"];
type Envelope = components["schemas"]["Envelope"];
// What the gateway answers by itself has no envelope.
type GatewayError = components["schemas"]["GatewayError"];

const PAGE = 2;
const COUNT = 5;

// The programs of Node.js, without its types: this runs with those of the document alone.
declare const process: { argv: string[]; exitCode: number };
declare const console: { error(text: unknown): void };

function must(holds: boolean, about: unknown): asserts holds {
  if (!holds) {
    throw new Error(`unexpected: ${JSON.stringify(about)}`);
  }
}

const [, , baseUrl, token] = process.argv;
must(baseUrl !== undefined && token !== undefined, process.argv);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const mark = `TypeScript ${crypto.randomUUID()}`;

type Refused = { error?: Envelope | GatewayError; response: Response };

function refused(answer: Refused, status: number, code: Envelope["error"]["code"]) {
  must(answer.error !== undefined && answer.response.status === status, answer);
  must("error" in answer.error, answer);
  const { error } = answer.error;
  must(error.status === status && error.code === code, error);
  must(error.request_id === answer.response.headers.get("x-request-id"), error);
  return error;
}

async function createAndReplay(): Promise<Contact> {
  const body = { display_name: `${mark} 0`, kind: "person", email: "ada@okafor.example" } as const;
  const header = { "Idempotency-Key": mark };
  const create = () => client.POST("/api/v1/contacts", { params: { header }, body });
  const first = await create();
  must(first.data !== undefined && first.response.status === 201, first);
  must(first.response.headers.get("location") === `/api/v1/contacts/${first.data.id}`, first);
  const again = await create();
  must(again.data?.id === first.data.id && again.response.status === 201, again);
  must(again.response.headers.get("idempotent-replayed") === "true", again);
  const other = { display_name: `${mark} other`, kind: "llc" } as const;
  refused(await client.POST("/api/v1/contacts", { params: { header }, body: other }), 409, "conflict");
  return first.data;
}

async function listThroughPages() {
  for (let number = 1; number < COUNT; number += 1) {
    const body = { display_name: `${mark} ${number}`, kind: "trust" } as const;
    const { response } = await client.POST("/api/v1/contacts", { body });
    must(response.status === 201, body);
  }
  const found: string[] = [];
  for (let hasMore = true; hasMore; ) {
    const query = { search: mark, limit: PAGE, offset: found.length };
    const { data: page } = await client.GET("/api/v1/contacts", { params: { query } });
    must(page !== undefined && page.pagination.total === COUNT && page.data.length <= PAGE, page);
    found.push(...page.data.map((contact) => contact.display_name));
    hasMore = page.pagination.has_more;
  }
  must(found.join() === Array.from({ length: COUNT }, (_, number) => `${mark} ${number}`).join(), found);
}

async function change(contact: Contact) {
  const params = { path: { contact_id: contact.id } };
  const { data } = await client.PATCH("/api/v1/contacts/{contact_id}", { params, body: { email: null } });
  must(data?.email === null && data.display_name === contact.display_name, data);
}

async function meetErrors() {
  const body = { display_name: " ", kind: "person", email: "nobody" } as const;
  const error = refused(await client.POST("/api/v1/contacts", { body }), 422, "invalid_request");
  const fields = error.errors?.map((one) => `${one.field} ${one.code}`).sort();
  must(fields?.join() === "display_name too_short,email invalid_format", error);
  const params = { path: { contact_id: crypto.randomUUID() } };
  refused(await client.GET("/api/v1/contacts/{contact_id}", { params }), 404, "not_found");
  const stranger = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: "Bearer nobody" } });
  refused(await stranger.GET("/api/v1/me"), 401, "unauthenticated");
}

async function draftADeal(contact: Contact) {
  const { data: workspace } = await client.POST("/api/v1/workspaces", { body: { name: "Harbor Street" } });
  must(workspace !== undefined, workspace);
  const body = { workspace_id: workspace.id, name: "Seed round SAFE", kind: "safe" } as const;
  const { data: draft } = await client.POST("/api/v1/agreements", { body });
  must(draft?.lifecycle === "draft", draft);
  const params = { path: { agreement_id: draft.id } };
  const part = { contact_id: contact.id, roles: ["signer", "investor"] } satisfies components["schemas"]["ParticipantCreate"];
  const added = await client.POST("/api/v1/agreements/{agreement_id}/participants", { params, body: part });
  must(added.data?.agreement_id === draft.id, added);
  const { data: read } = await client.GET("/api/v1/agreements/{agreement_id}", { params });
  must(read?.participants?.[0]?.contact_id === contact.id && read.proposal_ready === false, read);
  // Confirming would activate the workspace; all else keeps it from being proposed.
  const blockers = (read.publish_blockers ?? []).map((one) => one.code).filter((code) => code !== "workspace_not_activated");
  const proposal = { action: "publish_agreement", agreement_id: draft.id } as const;
  const error = refused(await client.POST("/api/v1/proposals", { body: proposal }), 422, "invalid_request");
  const codes = error.errors?.map((one) => one.code);
  must(new Set(codes).size > 0 && [...new Set(codes)].sort().join() === [...new Set(blockers)].sort().join(), error);
}

const contact = await createAndReplay();
await listThroughPages();
await change(contact);
await meetErrors();
await draftADeal(contact);
