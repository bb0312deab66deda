import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { LogseqGraph } from '../../../examples/logseq/graph.js';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { isNightly, nightlyTest } from '../../nightly.js';
import { temporaryGraph } from './temp-graph.js';

const WRITES = isNightly ? 500 : 120;

let programs: CompiledPrograms;

beforeAll(async () => {
  const source = (name: string): string => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
  programs = await compilePrograms({ 'journal-writer': source('journal-writer'), crash: source('crash') });
});
afterAll(() => programs.remove());

test(`two programs that write ${WRITES} tasks each to one journal lose none`, {
  timeout: 240_000,
}, async () => {
  const folder = await temporaryGraph({ 'pages/Website.md': '' });
  const writers = ['a', 'b'].map((name) => runWriter(folder, name, 1));
  expect((await Promise.all(writers)).map(({ exit }) => exit)).toEqual([0, 0]);
  expect(await tasksIn(folder)).toEqual([...numbered('a', WRITES), ...numbered('b', WRITES)].sort());
  expect(await filesOf(folder)).toEqual(['journals', 'journals/2026_01_12.md', 'pages', 'pages/Website.md']);
});

nightlyTest(
  'a writer killed at any moment takes no acknowledged task with it, and leaves nothing behind',
  {
    timeout: 240_000,
  },
  async () => {
    const folder = await temporaryGraph({ 'pages/Website.md': '' });
    // How many acknowledgements each life of a writer sees before it is killed.
    const lives = fc.sample(fc.integer({ min: 1, max: WRITES / 4 }), {
      seed: 9,
      numRuns: isNightly ? 16 : 6,
    });
    const write = async (name: string): Promise<number> => {
      let kills = 0;
      let next = 1;
      while (next <= WRITES) {
        const { last, exit } = await runWriter(folder, name, next, lives.pop());
        if (exit !== 0) kills += 1;
        next = last + 1;
      }
      return kills;
    };
    const kills = await Promise.all([write('a'), write('b')]);
    expect(kills[0]).toBeGreaterThan(0);
    expect(kills[1]).toBeGreaterThan(0);
    await new LogseqGraph(folder).appendToJournal('2026-01-12', { id: 'c-1', text: 'TODO c-1' });
    const all = [...numbered('a', WRITES), ...numbered('b', WRITES), 'c-1'];
    expect(await tasksIn(folder)).toEqual(all.sort());
    expect(await filesOf(folder)).toEqual([
      'journals',
      'journals/2026_01_12.md',
      'pages',
      'pages/Website.md',
    ]);
  },
);

nightlyTest(
  'a crash before any file operation leaves a journal of whole lines and a graph that can be written',
  {
    timeout: 240_000,
  },
  async () => {
    const crashed = new Set<string>();
    for (let operation = 1; ; operation += 1) {
      const folder = await temporaryGraph({
        'pages/Website.md': '',
        'journals/2026_01_12.md': '- TODO old\n  id:: old\n',
      });
      const { exit } = await runWriter(folder, 'a', 1, undefined, { last: 1, crashBefore: operation });
      expect([0, null]).toContain(exit);
      const left = await filesOf(folder);
      crashed.add(left.filter((file) => /(^|\/)\./.test(file)).join(' '));
      const place = await new LogseqGraph(folder).appendToJournal('2026-01-12', {
        id: 'b-1',
        text: 'TODO b-1',
      });
      const tasks = await tasksIn(folder);
      expect([
        ['b-1', 'old'],
        ['a-1', 'b-1', 'old'],
      ]).toContainEqual(tasks);
      expect(place.line).toBe(tasks.length * 2 - 1);
      expect(await filesOf(folder)).toEqual([
        'journals',
        'journals/2026_01_12.md',
        'pages',
        'pages/Website.md',
      ]);
      if (exit === 0) break;
    }
    // Some crash left each of the files that a writer makes for itself.
    expect(crashed).toContain('.stepwright.lock');
    expect(crashed).toContain('.stepwright.lock journals/.stepwright.tmp');
  },
);

interface Life {
  /** The last number that was acknowledged, or the one before the first. */
  readonly last: number;
  /** The exit code; null for a process that was killed. */
  readonly exit: number | null;
}

/** Runs a writer from task `first` on, and kills it at its `killAt`-th acknowledgement. */
async function runWriter(
  folder: string,
  name: string,
  first: number,
  killAt?: number,
  { last = WRITES, crashBefore }: { last?: number; crashBefore?: number } = {},
): Promise<Life> {
  const crash = crashBefore === undefined ? [] : ['--import', programs.file('crash')];
  const program = programs.file('journal-writer');
  const child = spawn(process.execPath, [...crash, program, folder, name, String(first), String(last)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, CRASH_BEFORE: String(crashBefore) },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close') as Promise<[number | null]>;
  let acknowledged = 0;
  let seen = first - 1;
  for await (const line of createInterface(child.stdout)) {
    acknowledged += 1;
    seen = Number(line);
    if (acknowledged === killAt) child.kill('SIGKILL');
  }
  return { last: seen, exit: (await ended)[0] };
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

/** The ids in the journal, sorted. Fails for a line that is not a whole bullet and for a bullet without its id. */
async function tasksIn(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'journals/2026_01_12.md'), 'utf8');
  const blocks = text.match(/.*\n.*\n/g) ?? [];
  expect(blocks.join('')).toBe(text);
  return blocks
    .map((block) => {
      const id = /^- TODO (.*)\n {2}id:: (.*)\n$/.exec(block);
      expect(id?.[1]).toBe(id?.[2]);
      return id?.[1] ?? '';
    })
    .sort();
}

async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}
