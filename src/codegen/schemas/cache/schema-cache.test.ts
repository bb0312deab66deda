import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClassReading, ClassRequest, ModuleRequest } from '../import-modules.js';
import { NO_READS, type Reads, stateOf } from './dependencies.js';
import { type CacheConditions, openSchemaCache } from './schema-cache.js';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'stepwright-cache-')));
  await write('package.json', '{}');
  await write('a.ts', "import './b.js';");
  await write('b.ts', '');
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

const folder = (): string => path.join(root, 'node_modules/.cache/stepwright');
const wanted: ModuleRequest = { file: 'a.ts', classes: [{ kind: 'tool', exportName: 'T' }] };
const read: readonly ClassReading[] = [
  {
    kind: 'tool',
    exportName: 'T',
    fingerprint: 'f',
    input: { kind: 'schema', schema: { type: 'object' } },
  },
];

function open(conditions: Partial<CacheConditions> = {}) {
  const cache = openSchemaCache({
    root,
    loader: { experimentalDecorators: true },
    flags: [],
    env: {},
    ...conditions,
  });
  if (cache === undefined) throw new Error('no cache');
  return cache;
}

/** Keeps the readings as a run does: it has asked for them first. */
function keep(classes = read, reads: Reads = NO_READS, conditions: Partial<CacheConditions> = {}): void {
  const cache = open(conditions);
  cache.recall(wanted);
  cache.keep(wanted, classes, reads);
}

const recall = (conditions: Partial<CacheConditions> = {}, module = wanted) =>
  open(conditions).recall(module);

describe('the cache of schemas', () => {
  test('gives back what was kept', () => {
    expect(recall()).toBeUndefined();
    keep();
    expect(recall()).toEqual(read);
  });

  /** With the prototype of JSON's objects, by which equal ones are told. */
  const record = <T>(fields: { readonly [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
    fc.record(fields, { noNullPrototype: true });
  const classes: fc.Arbitrary<readonly ClassRequest[]> = fc.uniqueArray(
    record({ kind: fc.constantFrom('tool', 'resource'), exportName: fc.constantFrom('T', 'default') }),
    { maxLength: 2, selector: ({ kind, exportName }) => kind + exportName },
  );
  const situation = record({
    loader: fc.constantFrom(
      { experimentalDecorators: true },
      { experimentalDecorators: false },
      { experimentalDecorators: true, paths: { '@/*': ['/src/*'] } },
      { experimentalDecorators: true, conditions: ['a'] },
    ),
    flags: fc.constantFrom([], ['--conditions=a'], ['--conditions=b'], ['--conditions=a', '--conditions=b']),
    env: record({ NODE_OPTIONS: fc.constantFrom('', '--conditions=a') }),
    module: record({ file: fc.constantFrom('a.ts', 'b.ts'), classes }),
    texts: record({ 'a.ts': fc.constantFrom("import './b.js';", ''), 'b.ts': fc.constantFrom('', ' ') }),
  });

  test('gives nothing back under any other condition', { timeout: 120_000 }, async () => {
    const bring = async ({ texts }: { readonly texts: Readonly<Record<string, string>> }): Promise<void> => {
      for (const [file, text] of Object.entries(texts)) await write(file, text);
    };
    /** All that counts: what the module does not load has no say. */
    const counting = ({
      texts,
      ...rest
    }: {
      readonly texts: Readonly<Record<string, string>>;
      readonly module: ModuleRequest;
    }) => {
      const isAlone = rest.module.file === 'a.ts' && texts['a.ts'] === '';
      return { ...rest, texts: isAlone ? [''] : rest.module.file === 'b.ts' ? [texts['b.ts']] : texts };
    };
    await fc.assert(
      fc.asyncProperty(situation, fc.option(situation), async (first, other) => {
        const second = other ?? first;
        await rm(folder(), { recursive: true, force: true });
        await bring(first);
        const cache = open(first);
        cache.recall(first.module);
        cache.keep(first.module, read, NO_READS);
        await bring(second);
        const isSame = isDeepStrictEqual(counting(first), counting(second));
        expect(open(second).recall(second.module)).toEqual(isSame ? read : undefined);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['cut off', (text: string) => text.slice(0, -10)],
    ['empty', () => ''],
    ['something else', () => '{}'],
    ['edited', (text: string) => text.replace('"object"', '"string"')],
    ['edited in its key', (text: string) => text.replace(/"key":"./, '"key":"x')],
    ['doubled', (text: string) => text + text],
  ])('takes a file that is %s for none, and writes it again', async (_, spoil) => {
    keep();
    const [name = ''] = await readdir(folder());
    const file = path.join(folder(), name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, spoil(text));
    expect(recall()).toBeUndefined();
    keep();
    expect(recall()).toEqual(read);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readdir(folder())).toEqual([name]);
  });

  test('stays at one file for a module, whatever becomes of it', async () => {
    for (const text of ['1', '2', '3']) {
      await write('b.ts', text);
      keep();
    }
    expect(await readdir(folder())).toHaveLength(1);
  });

  test.each<[string, readonly ClassReading[]]>([
    ['a class that is missing', [{ kind: 'missing', exportName: 'T', reason: 'gone' }]],
    [
      'a schema without JSON form',
      [
        {
          kind: 'tool',
          exportName: 'T',
          fingerprint: 'f',
          input: { kind: 'unrepresentable', reason: 'date' },
        },
      ],
    ],
    [
      'a schema of no object',
      [{ kind: 'tool', exportName: 'T', fingerprint: 'f', output: { kind: 'notAnObject' } }],
    ],
  ])('keeps no fault: %s', (_, classes) => {
    keep(classes);
    expect(recall()).toBeUndefined();
  });

  test('keeps nothing of a module that changed while it was read', async () => {
    const cache = open();
    cache.recall(wanted);
    await write('b.ts', 'changed');
    cache.keep(wanted, read, NO_READS);
    expect(recall()).toBeUndefined();
    await write('b.ts', '');
    expect(recall()).toBeUndefined();
  });

  test('keeps nothing of a module that loads what it does not name', async () => {
    await write('b.ts', 'export const load = (path: string) => import(path);');
    keep();
    expect(recall()).toBeUndefined();
  });

  test('minds the variables that were looked at, and no others', () => {
    keep(read, { ...NO_READS, variables: ['LEVELS'] }, { env: { LEVELS: 'a', OTHER: '1' } });
    expect(recall({ env: { LEVELS: 'a', OTHER: '2' } })).toEqual(read);
    expect(recall({ env: { LEVELS: 'b', OTHER: '1' } })).toBeUndefined();
    expect(recall({ env: { OTHER: '1' } })).toBeUndefined();
    keep(read, { ...NO_READS, allVariables: true }, { env: { A: '1' } });
    expect(recall({ env: { A: '1' } })).toEqual(read);
    expect(recall({ env: { A: '1', B: '2' } })).toBeUndefined();
  });

  test('minds the files and folders that were looked at', async () => {
    const at = (file: string): string => path.join(root, file);
    await write('data/levels.txt', 'high');
    const paths = Object.fromEntries(
      ['data/levels.txt', 'data', 'gone.txt'].map((file) => [at(file), stateOf(at(file))]),
    );
    const reads = { ...NO_READS, paths };
    keep(read, reads);
    expect(recall()).toEqual(read);
    for (const change of ['data/levels.txt', 'data/more.txt', 'gone.txt']) {
      const before = change === 'data/levels.txt' ? 'high' : undefined;
      await write(change, 'low');
      expect({ change, found: recall() }).toEqual({ change, found: undefined });
      keep(read, reads);
      expect({ change, found: recall() }).toEqual({ change, found: undefined });
      if (before === undefined) await rm(at(change));
      else await write(change, before);
    }
    keep(read, reads);
    expect(recall()).toEqual(read);
    keep(read, { ...reads, beyond: true });
    await write('b.ts', 'other');
    keep(read, { ...NO_READS, beyond: true });
    expect(recall()).toBeUndefined();
  });

  test('is none where it has no place', async () => {
    const none = () =>
      openSchemaCache({ root, loader: { experimentalDecorators: true }, flags: [], env: {} }) === undefined;
    expect(none()).toBe(false);
    await rm(path.join(root, 'node_modules'), { recursive: true });
    await write('node_modules/.cache', 'a file');
    expect(none()).toBe(true);
    await rm(path.join(root, 'node_modules'), { recursive: true });
    const other = await mkdtemp(path.join(tmpdir(), 'stepwright-other-'));
    await symlink(other, path.join(root, 'node_modules'), 'dir');
    expect(none()).toBe(true);
    expect(await readdir(other)).toEqual([]);
    await rm(other, { recursive: true });
    await rm(path.join(root, 'node_modules'));
    await rm(path.join(root, 'package.json'));
    expect(none()).toBe(true);
  });
});
