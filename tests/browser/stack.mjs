// A running stack over data of its own, and calls of its API.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const START_MS = 180_000;
const STOP_MS = 60_000;

export class Stack {
  // The data are in a temporary folder, which goes with the stack, where `make run` has them in the folder it is run in.
  static async start(program, ...options) {
    const stack = new Stack();
    stack.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'countersign-browser-'));
    const data = path.join(stack.folder, '.local');
    const ready = path.join(data, 'ready.json');
    const serve = ['serve', '--port', '0', '--data-dir', data];
    stack.process = spawn(program, [...serve, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    stack.said = '';
    stack.process.stderr.on('data', (text) => { stack.said += text; });
    stack.process.on('error', (error) => { stack.said += error.message; });
    for (const started = Date.now(); !fs.existsSync(ready);) {
      const hasEnded = stack.process.exitCode !== null || stack.process.pid === undefined;
      if (hasEnded || Date.now() - started > START_MS) {
        await stack.stop();
        throw new Error(`the stack did not start: ${stack.said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { base_url: base, organizations } = JSON.parse(fs.readFileSync(ready, 'utf8'));
    return Object.assign(stack, { base, organizations });
  }

  async stop() {
    const { process } = this;
    if (process.pid !== undefined && process.exitCode === null) {
      const ended = new Promise((resolve) => process.once('exit', resolve));
      process.kill('SIGINT');
      const patience = setTimeout(() => process.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(patience);
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  // Calls the API as the first organization, with the stack's own token or another; a body makes it a POST.
  async call(where, body, { method = body ? 'POST' : 'GET', token = this.organizations[0].read_write_token } = {}) {
    const response = await fetch(this.base + where, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${where} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  }

  // The one record of a list that a search finds.
  async find(list, search) {
    const { data } = await this.call(`/api/v1/${list}?search=${encodeURIComponent(search)}`);
    if (data.length !== 1) throw new Error(`${data.length} ${list} are called ${search}`);
    return data[0];
  }

  propose(action, agreement, note) {
    return this.call('/api/v1/proposals', { action, agreement_id: agreement.id, note });
  }
}
