import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A value that an agent remembers. */
interface Entry {
  readonly key: string;
  readonly value: unknown;
}

/** What an agent remembers, and what it sent: files below a root, so that it outlives the agent. */
export class Memory {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    mkdirSync(join(root, 'memory'), { recursive: true });
  }

  /** Keeps a value under its key. A later value replaces it. */
  save(key: string, value: unknown): void {
    // A key is any text: its hash is a name of a file that leads out of no folder.
    const file = join(this.#root, 'memory', `${createHash('sha256').update(key).digest('hex')}.json`);
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ key, value }));
    renameSync(`${file}.${process.pid}`, file);
  }

  /** All values, sorted by their keys. */
  entries(): Entry[] {
    const folder = join(this.#root, 'memory');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const entries = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Entry);
    return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Takes note of a message that a stub did not send. */
  note(to: string, message: unknown): void {
    appendFileSync(join(this.#root, 'outbox.jsonl'), `${JSON.stringify({ to, message })}\n`);
  }
}
