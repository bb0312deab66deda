import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer, type LogRecord, type ServerSettings, type StepwrightServer } from 'stepwright/runtime';
import { onTestFinished } from 'vitest';
import { factories, registry } from '../server/fixture/registry.js';
import { Probe } from '../server/fixture/tools.js';

/** A workflow of a spec file that repeats a text. */
export const repeat = (name: string, times = 2): string => `
workflows:
  ${name}:
    description: Says it ${times} times
    params: { text: { type: str, required: true } }
    graph:
      say: { call: echo, args: { text: "$text ${times}" } }
`;

/** A workflow that asks before it says something. */
export const ask = (name: string, says: string): string => `
workflows:
  ${name}:
    description: Asks first
    graph:
      question: { type: yield, message: "Say it?", expects: { sure: { type: bool, required: true } } }
      say: { call: echo, depends_on: [question], args: { text: ${says} } }
`;

/** An empty folder, which is removed with the test. */
export function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'stepwright-specs-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A folder with files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const root = folder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

/** A server with its log. */
export interface Logged {
  readonly server: StepwrightServer;
  readonly log: readonly LogRecord[];
  /** Resolves with the record of this event after those that were asked for before. */
  readonly next: (event: LogRecord['event']) => Promise<LogRecord>;
}

/** A server of the fixture's tools and workflows. It is stopped when the test ends. */
export function serverWith(settings: ServerSettings): Logged {
  const log: LogRecord[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(registry, {
    ...settings,
    tools: factories(new Probe()),
    log: (_text, record) => {
      log.push(record);
      for (const check of [...waiting]) check();
    },
  });
  onTestFinished(() => server.stop());
  let from = 0;
  const next = (event: LogRecord['event']): Promise<LogRecord> =>
    new Promise((resolve) => {
      const check = (): void => {
        const at = log.findIndex((record, index) => index >= from && record.event === event);
        const found = log[at];
        if (found === undefined) return;
        from = at + 1;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  return { server, log, next };
}

/** The names of the tools of workflows. */
export function workflowTools({ tools }: { readonly tools: readonly { readonly name: string }[] }): string[] {
  return tools.map(({ name }) => name).filter((name) => name.startsWith('w_'));
}
