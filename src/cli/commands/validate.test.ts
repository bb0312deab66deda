import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dispatched } from '../dispatched.fixture.js';

const FILE = `workflows:
  greet:
    description: Greets
    params: { name: { type: str, required: true } }
    graph:
      hello: { call: greet, args: { name: $name } }
`;

describe('stepwright validate, without a registry', () => {
  let root = '';

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'stepwright-validate-'));
    writeFileSync(join(root, 'good.yaml'), FILE);
    writeFileSync(join(root, 'bad.yaml'), FILE.replace('$name', '$nam'));
  });

  afterAll(() => rmSync(root, { recursive: true }));

  const validate = (...args: readonly string[]) => dispatched('validate', '--root', root, ...args);

  test('accepts a file, and warns of its tools', async () => {
    const { code, out, err } = await validate('good.yaml');
    expect(code).toBe(0);
    expect(out).toBe('1 workflow without errors: greet\n');
    expect(err).toContain('good.yaml:6:7 - warning SW5034: ');
  });

  test('fails with an error, and shows its line', async () => {
    const { code, out, err } = await validate('bad.yaml', 'good.yaml');
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('bad.yaml:6:43 - error SW5013: nothing here is named `$nam`');
    expect(err).toContain('did you mean `$name`?');
    expect(err).toContain('`greet` is written twice');
  });

  test('reads a file once that is named twice', async () => {
    expect(await validate('good.yaml', './good.yaml')).toMatchObject({
      code: 0,
      out: '1 workflow without errors: greet\n',
    });
  });

  test('says that an object is empty', async () => {
    writeFileSync(join(root, 'empty.yaml'), 'workflows: {}\n');
    expect((await validate('empty.yaml')).err).toContain(
      'an object with one or more workflows, not an empty object',
    );
  });

  test('makes warnings errors with --strict', async () => {
    expect((await validate('good.yaml', '--strict')).code).toBe(1);
  });

  test('prints for programs and for GitHub', async () => {
    const [first] = (await validate('bad.yaml', '--format', 'json')).out.split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ code: 'SW5034', file: 'bad.yaml', line: 6 });
    expect((await validate('bad.yaml', '--format', 'github')).out).toContain('::error file=bad.yaml,line=6');
  });

  test('needs files that exist', async () => {
    expect(await validate()).toMatchObject({
      code: 2,
      err: 'stepwright: `stepwright validate` needs a file, such as `flights.yaml`\n',
    });
    expect((await validate('none.yaml')).err).toContain('`none.yaml` cannot be read: there is no such file');
  });
});
