/** Runs verify.ts over the vectors in a file: `node check.ts vectors.json`. Prints what became of each. */

import { readFileSync } from "node:fs";

import { type GatewayEvent, handle, rawBody, verify, verifyStandard } from "./verify.ts";

interface Vector {
  name: string;
  scheme: "service" | "standard";
  secret: string;
  now: number;
  event: GatewayEvent;
}

const vectors: Vector[] = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
for (const { name, scheme, secret, now, event } of vectors) {
  const check = { service: verify, standard: verifyStandard }[scheme];
  const valid = check(secret, event.headers, rawBody(event), now);
  console.log(valid ? "valid" : "refused", scheme, name);
}

const [first] = vectors;
if (first !== undefined) {
  const seen = new Set<string>();
  let acted = 0;
  for (const secret of [first.secret, first.secret, "whsec_another"]) {
    console.log("handled", handle(first.event, secret, seen, () => acted++, first.now), acted);
  }
}
