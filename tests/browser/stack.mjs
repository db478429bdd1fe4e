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
    const stack = Object.assign(new Stack(), { program, folder: fs.mkdtempSync(path.join(os.tmpdir(), 'countersign-browser-')) });
    await stack.serve('--port', '0', ...options);
    return stack;
  }

  // The same data at the same address, with other options.
  async restart(...options) {
    await this.end();
    await this.serve('--port', new URL(this.base).port, ...options);
  }

  async serve(...options) {
    const data = path.join(this.folder, '.local');
    const ready = path.join(data, 'ready.json');
    fs.rmSync(ready, { force: true });
    this.process = spawn(this.program, ['serve', '--data-dir', data, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.said = '';
    this.process.stderr.on('data', (text) => { this.said += text; });
    this.process.on('error', (error) => { this.said += error.message; });
    for (const started = Date.now(); !fs.existsSync(ready);) {
      const hasEnded = this.process.exitCode !== null || this.process.pid === undefined;
      if (hasEnded || Date.now() - started > START_MS) {
        await this.stop();
        throw new Error(`the stack did not start: ${this.said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { base_url: base, organizations } = JSON.parse(fs.readFileSync(ready, 'utf8'));
    Object.assign(this, { base, organizations });
  }

  async end() {
    const { process } = this;
    if (process.pid === undefined || process.exitCode !== null) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGINT');
    const patience = setTimeout(() => process.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(patience);
  }

  async stop() {
    await this.end();
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
