import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ArgDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import {
  argumentPatternDiagnostics,
  MAX_EMBEDDED_BYTES,
  packageRootOf,
  readContent,
} from './read-schemas.js';

let parent: string;
let root: string;
beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'stepwright-content-'));
  root = path.join(parent, 'project');
  await mkdir(path.join(root, 'src/docs'), { recursive: true });
  await writeFile(path.join(parent, 'secret.md'), 'secret');
  await writeFile(path.join(root, 'top.md'), 'top');
  await writeFile(path.join(root, 'src/docs/intro.md'), '\ufeff# Intro\r\n');
  await writeFile(path.join(root, 'src/full.txt'), 'x'.repeat(MAX_EMBEDDED_BYTES));
  await writeFile(path.join(root, 'src/full-crlf.txt'), `${'x'.repeat(MAX_EMBEDDED_BYTES - 1)}\r\n`);
  await writeFile(path.join(root, 'src/over.txt'), 'x'.repeat(MAX_EMBEDDED_BYTES + 1));
  await writeFile(path.join(root, 'src/binary.md'), Buffer.from([0x68, 0xff, 0xfe]));
  await symlink(path.join(parent, 'secret.md'), path.join(root, 'src/link.md'));
});
afterAll(async () => {
  await rm(parent, { recursive: true, force: true });
});

const read = (file: string) => readContent(root, 'src/intro.resource.ts', file);

describe('readContent', () => {
  test('reads text beside the class, without a byte order mark and the line ends of Windows', async () => {
    expect(await read('./docs/intro.md')).toEqual({ kind: 'text', text: '# Intro\n' });
    expect(await read('../top.md')).toEqual({ kind: 'text', text: 'top' });
  });

  test('embeds 64 KiB and not one byte more', async () => {
    expect(await read('full.txt')).toMatchObject({ kind: 'text' });
    expect(await read('full-crlf.txt')).toMatchObject({ kind: 'text' });
    expect(await read('over.txt')).toEqual({ kind: 'file', file: 'src/over.txt', isText: true });
  });

  test('embeds no bytes', async () => {
    expect(await read('binary.md')).toEqual({ kind: 'file', file: 'src/binary.md', isText: false });
  });

  test('names files by their way from the package, and refuses those outside of it', async () => {
    const from = (folder: string) =>
      readContent(root, 'src/intro.resource.ts', 'over.txt', path.join(root, folder));
    expect(await from('src')).toEqual({ kind: 'file', file: 'over.txt', isText: true });
    expect(await from('src/docs')).toEqual({ kind: 'unreadable', why: expect.stringContaining('package') });
  });

  test.each([
    ['../../secret.md', 'outside'],
    ['link.md', 'outside'],
    ['..', 'outside'],
    ['/etc/hostname', 'relative'],
    ['nothing.md', 'no such file'],
    ['docs', 'folder'],
    ['nul\0.md', ''],
  ])('refuses %j', async (file, why) => {
    expect(await read(file)).toEqual({ kind: 'unreadable', why: expect.stringContaining(why) });
  });
});

test('packageRootOf finds the nearest package above the registry', async () => {
  expect(packageRootOf(root, 'generated/registry.ts')).toBe(path.join(root, 'generated'));
  await writeFile(path.join(root, 'package.json'), '{}');
  expect(packageRootOf(root, 'generated/registry.ts')).toBe(root);
});

const at = (line: number): SourceLocation => ({ file: 'a.ts', span: [line, 1, line, 2] });
const said = (faults: readonly Diagnostic[]) =>
  faults.map(({ code, message, place }) => `${place?.span[0]}: ${code} ${message}`);

describe('a pattern of an argument', () => {
  const literal = (value: string, line: number): ExpressionSyntax => ({
    kind: 'literal',
    value,
    place: at(line),
  });
  const object = (entries: Readonly<Record<string, ExpressionSyntax>>): ExpressionSyntax => ({
    kind: 'object',
    place: at(9),
    entries: Object.entries(entries).map(([key, value]) => ({ key, keyPlace: at(9), value })),
  });
  const arg = (
    options: ArgDeclaration['options'],
    optionSyntax: ArgDeclaration['optionSyntax'] = {},
  ): ArgDeclaration => ({
    name: 'box',
    argument: 'box',
    place: at(1),
    optional: false,
    options,
    optionSyntax,
    type: { kind: 'string' },
  });
  const check = (declared: ArgDeclaration) =>
    said(argumentPatternDiagnostics([declared], 'the arguments of workflow `w`'));

  test('that cannot be matched is reported where it is written, also in properties', () => {
    const options = { pattern: '(a', properties: { name: { pattern: '(b' }, size: { pattern: '^c$' } } };
    const syntax = {
      pattern: literal('(a', 2),
      properties: object({ name: object({ pattern: literal('(b', 3) }) }),
    };
    expect(check(arg(options, syntax))).toEqual([
      expect.stringMatching(/^2: SW6010 the pattern `\(a` at `box` of the arguments of workflow `w` /),
      expect.stringMatching(/^3: SW6010 the pattern `\(b` at `box\.name` /),
    ]);
  });

  test('is reported at the argument where its own place is not known', () => {
    expect(check(arg({ pattern: '(a' }))).toEqual([expect.stringMatching(/^1: SW6010 /)]);
    expect(check(arg({ pattern: '^a$' }))).toEqual([]);
    expect(check(arg({}))).toEqual([]);
  });
});
