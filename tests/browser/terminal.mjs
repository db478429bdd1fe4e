// A shell into which blocks of a page are pasted, as into a terminal.
import { spawn } from 'node:child_process';

const PASTE_MS = 60_000;
// What follows everything that is pasted, so that its end is seen.
const END = 'end-of-what-was-pasted';

export class Terminal {
  constructor(folder) {
    this.shell = spawn('bash', { cwd: folder, stdio: 'pipe' });
    this.said = '';
    // What a command complains of is read with what it prints.
    for (const output of [this.shell.stdout, this.shell.stderr]) {
      output.setEncoding('utf8').on('data', (text) => { this.said += text; });
    }
    this.shell.stdin.on('error', (error) => { this.said += error.message; });
  }

  // Pastes text, and answers what the shell printed. The shell reads its input as it goes: a line that a command asks
  // for is the next one that is pasted.
  async paste(text) {
    this.said = '';
    this.shell.stdin.write(`${text}\necho; echo ${END}\n`);
    for (const began = Date.now(); !this.said.includes(`${END}\n`);) {
      if (Date.now() - began > PASTE_MS) throw new Error(`the shell does not come to an end: ${this.said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.said.split(END)[0].trim();
  }

  close() {
    this.shell.kill();
  }
}
