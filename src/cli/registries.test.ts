import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { dispatched } from './dispatched.fixture.js';

const root = mkdtempSync(path.join(tmpdir(), 'stepwright-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const GREETING = `name: greeting
version: "1.0.0"
inputs:
  user: { type: string, required: true }
steps:
  - { id: answer, type: return, value: "Hello {{ inputs.user }}" }
`;

test('a file runs without a registry, where no configuration names one', async () => {
  writeFileSync(path.join(root, 'greeting.yaml'), GREETING);
  expect(await dispatched('run', 'greeting.yaml', '--root', root, '--arg', 'user=Ada')).toEqual({
    code: 0,
    out: 'Hello Ada\n',
    err: expect.any(String),
  });
});

test('a registry that the options name is needed for files as well', async () => {
  const { code, err } = await dispatched('run', 'greeting.yaml', '--root', root, '--registry', 'no.js');
  expect(code).toBe(1);
  expect(err).toContain('no.js');
});
