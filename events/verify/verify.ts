/** Receives Countersign webhooks. Needs Node.js 20 and nothing else; copy it into your service. */

import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;

export type Headers = Record<string, string | undefined>;

/** A request as API Gateway hands it to a Lambda function. */
export interface GatewayEvent {
  headers: Headers;
  body?: string | null;
  isBase64Encoded?: boolean;
}

export interface Message {
  id: string;
  type: string;
  created_at: string;
  data: Record<string, unknown>;
}

/**
 * Whether a delivery was signed with the secret, as it is displayed, within the last 5 minutes.
 * `body` is the bytes as they were received: parsed and written again they would not fit.
 */
export function verify(secret: string, headers: Headers, body: Uint8Array, now = Date.now() / 1000): boolean {
  const timestamp = header(headers, "service-webhook-timestamp");
  const [first, ...signatures] = header(headers, "service-webhook-signature").split(",");
  if (first !== `t=${timestamp}` || !isFresh(timestamp, now)) return false;
  const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
  // While a secret is being replaced there is a signature for each.
  return matches(`v1=${mac}`, signatures);
}

/** The same by the headers of Standard Webhooks, if you would rather use those. */
export function verifyStandard(secret: string, headers: Headers, body: Uint8Array, now = Date.now() / 1000): boolean {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  if (id === "" || !isFresh(timestamp, now)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return matches(`v1,${mac}`, header(headers, "webhook-signature").split(" "));
}

function header(headers: Headers, name: string): string {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
}

function isFresh(timestamp: string, now: number): boolean {
  return /^[0-9]{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= TOLERANCE_S;
}

function matches(expected: string, signatures: string[]): boolean {
  const wanted = Buffer.from(expected);
  return signatures.some((signature) => {
    const found = Buffer.from(signature);
    return found.length === wanted.length && timingSafeEqual(found, wanted);
  });
}

/** The bytes of a request as API Gateway hands it to a Lambda function. */
export function rawBody(event: GatewayEvent): Uint8Array {
  return Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
}

/**
 * Handles a request from API Gateway and returns the status to answer. `seen` holds the ids of events that were
 * handled. In production it is a table with a unique key, written in the transaction of whatever `act` does.
 */
export function handle(
  event: GatewayEvent,
  secret: string,
  seen: Set<string>,
  act: (message: Message) => void,
  now = Date.now() / 1000,
): number {
  const body = rawBody(event);
  if (!verify(secret, event.headers, body, now)) return 401;
  const message: Message = JSON.parse(Buffer.from(body).toString("utf8"));
  // A repeat is normal; and types that are new to you are acknowledged too.
  if (!seen.has(message.id)) {
    act(message);
    seen.add(message.id);
  }
  return 204;
}
