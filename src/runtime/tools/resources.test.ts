import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResourceContext } from '../../decorators/context.js';
import { CallMask } from '../secrets/call-mask.js';
import { Mask } from '../secrets/mask.js';
import type { CallContext } from './port.js';
import type { AnyClass, Registry, ResourceEntry } from './registry.js';
import { UriTemplate } from './resources.js';
import { createToolset } from './toolset.js';

const context: CallContext = {
  signal: new AbortController().signal,
  requestId: 'r1',
  auth: { clientId: 'desk', scopes: [] },
  progress() {},
};

class Page {
  read(variables: Record<string, string>, given: ResourceContext) {
    return JSON.stringify({ variables, uri: given.uri, who: given.auth?.clientId ?? null });
  }
}

class Empty {}

const entryOf = (uri: string, more: Partial<ResourceEntry> = {}, cls: AnyClass = Page): ResourceEntry => ({
  class: cls,
  uri,
  fingerprint: '',
  ...more,
});

const registryOf = (resources: Registry['resources'], module?: string): Registry => ({
  registryVersion: 1,
  checksum: '',
  ...(module === undefined ? {} : { module }),
  tools: {},
  resources,
  workflows: {},
});

async function read(entry: ResourceEntry, uri: string, given = context) {
  const outcome = await createToolset<Registry>(registryOf({ page: entry })).readResource('page', uri, given);
  return outcome.ok ? JSON.parse(String(outcome.value.text)) : outcome.failure;
}

test('a resource whose content is too large cannot be read', async () => {
  const MIB = 1024 * 1024;
  const large = (content: unknown): AnyClass =>
    class {
      read() {
        return content;
      }
    };
  for (const content of ['x'.repeat(4 * MIB), new Uint8Array(3.5 * MIB)]) {
    expect(await read(entryOf('page://a', {}, large(content)), 'page://a')).toMatchObject({
      code: 'E_RESULT_TOO_LARGE',
      message: expect.stringContaining('the content is too large'),
      details: { limit: 4 * MIB },
    });
  }
});

describe('a list of contents', () => {
  const listing = (content: unknown): AnyClass =>
    class {
      read() {
        return content;
      }
    };
  const outcomeOf = (content: unknown) =>
    createToolset<Registry>(
      registryOf({ all: entryOf('all://', { mimeType: 'text/csv' }, listing(content)) }),
    ).readResource('all', 'all://', context);

  test('is one text as well', async () => {
    expect(await outcomeOf(['a', { text: 'b', uri: 'all://b', mimeType: 'text/html' }])).toEqual({
      ok: true,
      value: { uri: 'all://', mimeType: 'text/plain', text: 'a\nb' },
      contents: [
        { uri: 'all://', mimeType: 'text/csv', text: 'a' },
        { uri: 'all://b', mimeType: 'text/html', text: 'b' },
      ],
    });
  });

  test('of one content is that content', async () => {
    const blob = 'AQ==';
    expect(await outcomeOf([{ blob, uri: 'all://b' }])).toEqual({
      ok: true,
      value: { uri: 'all://', mimeType: 'text/csv', blob },
      contents: [{ uri: 'all://b', mimeType: 'text/csv', blob }],
    });
  });

  test('may be empty', async () => {
    const value = { uri: 'all://', mimeType: 'text/plain', text: '' };
    expect(await outcomeOf([])).toEqual({ ok: true, value, contents: [] });
  });

  test('is limited as a whole', async () => {
    const half = 'x'.repeat(2 * 1024 * 1024);
    expect(await outcomeOf([half, half])).toMatchObject({ failure: { code: 'E_RESULT_TOO_LARGE' } });
  });

  test.each([
    [[undefined], 'nothing'],
    [['a', null], 'null'],
    [[7], 'a number'],
    [[['a']], 'a list'],
    [[{}], 'an object of another shape'],
    [[{ text: 'a', blob: 'AQ==' }], 'an object of another shape'],
    [[{ blob: 'nope!' }], 'a blob whose text is not base64'],
    [[{ text: 'a', uri: 7 }], 'an object whose uri is not text'],
    [[{ text: 'a', uri: 'all://a b' }], 'an object whose uri `all://a b` is not an absolute URI'],
  ])('with %j is refused', async (content, why) => {
    expect(await outcomeOf(content)).toMatchObject({
      ok: false,
      failure: {
        code: 'E_RESOURCE_READ',
        message: expect.stringContaining(`item ${content.length - 1} of it is ${why}`),
      },
    });
  });
});

describe('a resource with variables', () => {
  test('is given them decoded, and the address that was asked for', async () => {
    const uri = 'page://caf%C3%A9%20%2F%20bar/%24%7Bx%7D';
    expect(await read(entryOf('page://{name}/{part}'), uri)).toEqual({
      variables: { name: 'café / bar', part: '$' + '{x}' },
      uri,
      who: 'desk',
    });
  });

  test('is at no other address', async () => {
    expect(await read(entryOf('page://{name}'), 'page://a/b')).toEqual({
      code: 'E_RESOURCE_UNKNOWN',
      message: 'resource `page` is at `page://{name}`, not at `page://a/b`',
    });
  });

  test.each(['%', '%zz', '%C3', '%C3%28', 'a%'])('refuses what is not percent-encoded: %s', async (value) => {
    expect(await read(entryOf('page://{name}'), `page://${value}`)).toEqual({
      code: 'E_RESOURCE_URI',
      message: `variable \`name\` is not percent-encoded text: \`${value}\``,
    });
  });

  const climbing = [
    '..',
    '.',
    '../secret',
    'a/../../secret',
    '..%2Fsecret',
    '%2e%2e/secret',
    '%2E%2E%2Fsecret',
    'a%2F..',
    '..%5Csecret',
    'a%5C..%5Csecret',
    '%2Fetc%2Fpasswd',
    '/etc/passwd',
    '%5Cserver',
    'C:%5Cboot.ini',
    'c:/boot.ini',
    'a%00',
  ];

  test.each(climbing)('refuses a value that climbs: %s', async (value) => {
    expect(await read(entryOf('page://{+name}'), `page://${value}`)).toMatchObject({
      code: 'E_RESOURCE_URI',
      message: expect.stringMatching(
        /^variable `name` must not leave its folder: `.*`dotSegments: \["name"\]` of its @Resource allows/,
      ),
    });
  });

  test.each(climbing)('lets it where the author declares it: %s', async (value) => {
    expect(await read(entryOf('page://{+name}', { dotSegments: ['name'] }), `page://${value}`)).toMatchObject(
      {
        variables: { name: decodeURIComponent(value) },
      },
    );
  });

  test.each(['...', '..a', 'a..b', 'a.b', 'a/b', 'a%2Fb', '%252e%252e', 'C:', 'https:%2F%2Fx', '~'])(
    'lets what only looks like it: %s',
    async (value) => {
      expect(await read(entryOf('page://{+name}'), `page://${value}`)).toMatchObject({
        variables: { name: decodeURIComponent(value) },
      });
    },
  );

  test('a template that is none is a fault at the start', () => {
    const registry = registryOf({ page: entryOf('page://{a,b}'), other: entryOf('page://{a') });
    expect(() => createToolset<Registry>(registry)).toThrow(
      [
        'the server cannot start:',
        '  - resource `page`: `page://{a,b}` is not a URI template: it holds `{a,b}`: a variable is written {name}, {+name} or {#name}',
        '  - resource `other`: `page://{a` is not a URI template: it holds a brace without its other half',
      ].join('\n'),
    );
  });
});

describe('which resource is at an address', () => {
  const toolset = createToolset<Registry>(
    registryOf({
      zeta: entryOf('page://home'),
      beta: entryOf('page://{name}'),
      alpha: entryOf('page://{+path}'),
    }),
  );

  test.each([
    ['page://home', 'zeta'],
    ['page://other', 'alpha'],
    ['page://a/b', 'alpha'],
    ['pages://a', undefined],
  ])('%s: %s', (uri, name) => {
    expect(toolset.resourceAt(uri)).toBe(name);
  });
});

describe('a resource in a file', () => {
  const root = mkdtempSync(join(tmpdir(), 'stepwright-'));
  const bytes = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff]);
  writeFileSync(join(root, 'package.json'), '{}');
  writeFileSync(join(root, 'guide.md'), '# Grüße');
  writeFileSync(join(root, 'dot.png'), bytes);
  const module = pathToFileURL(join(root, 'dist', 'generated', 'registry.js')).href;
  const readFile = async (file: string, mimeType?: string, signal = context.signal) => {
    const entry = entryOf('file://x', { file, ...(mimeType === undefined ? {} : { mimeType }) }, Empty);
    const toolset = createToolset<Registry>(registryOf({ page: entry }, module));
    const outcome = await toolset.readResource('page', 'file://x', { ...context, signal });
    return outcome.ok ? outcome.value : outcome.failure;
  };
  const blob = Buffer.from(bytes).toString('base64');

  test('is read from the root of the package, as text or as bytes', async () => {
    expect(await readFile('guide.md', 'text/markdown')).toEqual({
      uri: 'file://x',
      mimeType: 'text/markdown',
      text: '# Grüße',
    });
    expect(await readFile('dot.png', 'image/png')).toEqual({ uri: 'file://x', mimeType: 'image/png', blob });
  });

  test('without a type it is text where it can be', async () => {
    expect(await readFile('guide.md')).toEqual({ uri: 'file://x', text: '# Grüße' });
    expect(await readFile('dot.png')).toEqual({ uri: 'file://x', blob });
  });

  test('what is called text and is none is sent as bytes', async () => {
    expect(await readFile('dot.png', 'text/plain')).toEqual({
      uri: 'file://x',
      mimeType: 'text/plain',
      blob,
    });
    expect(await readFile('guide.md', 'application/json')).toHaveProperty('text');
    expect(await readFile('guide.md', 'image/svg+xml; charset=utf-8')).toHaveProperty('text');
    expect(await readFile('guide.md', 'application/octet-stream')).toHaveProperty('blob');
  });

  test('that is not there is a fault at the start', () => {
    const entry = entryOf('file://x', { file: 'lost.md' }, Empty);
    expect(() => createToolset<Registry>(registryOf({ page: entry }, module))).toThrow(
      `resource \`page\`: there is no file \`lost.md\` in \`${root}\``,
    );
  });

  test('a read that was aborted fails', async () => {
    expect(await readFile('guide.md', undefined, AbortSignal.abort())).toMatchObject({
      code: 'E_RESOURCE_READ',
    });
  });
});

describe('secrets of a run', () => {
  test('stay out of why a read failed', async () => {
    class Vault {
      read(): never {
        throw new Error('no hunter22');
      }
    }
    const failure = await read(entryOf('vault://x', {}, Vault), 'vault://x', {
      ...context,
      mask: new CallMask(new Mask(['hunter22'])),
    });
    expect(failure).toEqual({ code: 'E_RESOURCE_READ', message: 'no ••••' });
  });
});

function templateOf(text: string): UriTemplate {
  const template = UriTemplate.parse(text);
  if ('why' in template) throw new Error(template.why);
  return template;
}

describe('parse', () => {
  test.each([
    ['page://x', 'it holds no variable'],
    ['page://{a', 'it holds a brace without its other half'],
    ['page://{a}}', 'it holds a brace without its other half'],
    ['page://{}', 'it holds `{}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{?q}', 'it holds `{?q}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{a,b}', 'it holds `{a,b}`: a variable is written {name}, {+name} or {#name}'],
    ['page://{a}/{a}', 'it holds `a` twice'],
    ['page://{a}{b}', '`{b}` follows a variable with no text between them'],
  ])('%s is none', (text, why) => {
    expect(UriTemplate.parse(text)).toEqual({ why });
  });

  test('knows its variables in order', () => {
    expect(templateOf('page://{b}/{+a}{#c}').names).toEqual(['b', 'a', 'c']);
  });
});

describe('match', () => {
  test.each<[string, string, Record<string, string> | undefined]>([
    ['page://{name}', 'page://home', { name: 'home' }],
    ['page://{name}', 'page://a%2Fb', { name: 'a%2Fb' }],
    ['page://{name}', 'page://', undefined],
    ['page://{name}', 'page://a/b', undefined],
    ['page://{name}', 'page://a?b', undefined],
    ['page://{name}', 'pages://a', undefined],
    ['page://{+path}', 'page://a/b?c#d', { path: 'a/b?c#d' }],
    ['page://{name}{#part}', 'page://a#b/c', { name: 'a', part: 'b/c' }],
    ['page://{name}{#part}', 'page://a', undefined],
    ['page://{name}/{file}.md', 'page://a/b.md.md', { name: 'a', file: 'b.md' }],
    ['page://{a}-{b}', 'page://1-2-3', { a: '1', b: '2-3' }],
    ['page://{+a}/end/{b}', 'page://x/end/y/end/z', { a: 'x/end/y', b: 'z' }],
    ['{kind}://home', 'page://home', { kind: 'page' }],
    ['page://{name}/', 'page://a', undefined],
    ['page://{+name}', 'page://{+name}', undefined],
  ])('%s at %s', (template, uri, variables) => {
    expect(templateOf(template).match(uri)).toEqual(variables);
  });

  test('gives back what was filled in, encoded', () => {
    const value = fc.string({ minLength: 1, unit: 'grapheme' }).map(encodeURIComponent);
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(templateOf('page://{a}/x/{b}').match(`page://${a}/x/${b}`)).toEqual({ a, b });
      }),
    );
  });

  test('what it finds makes up the address again', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab/]{0,12}$/), (rest) => {
        const found = templateOf('p:{x}a{+y}b{z}').match(`p:${rest}`);
        if (found !== undefined) expect(`${found.x}a${found.y}b${found.z}`).toBe(rest);
        // A slow matcher that cannot be wrong.
        const matches = /^[^/?#]+a.+b[^/?#]+$/.test(rest);
        expect(found !== undefined).toBe(matches);
      }),
      { numRuns: 500 },
    );
  });

  test('an address of absurd length is of no template', () => {
    expect(templateOf('page://{+name}').match(`page://${'a'.repeat(10_000)}`)).toBe(undefined);
  });
});
