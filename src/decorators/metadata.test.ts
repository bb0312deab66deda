import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Arg } from './arg.js';
import {
  type FingerprintInput,
  fingerprint,
  fromMetadata,
  type RegistryTables,
  readMetadata,
  registryChecksum,
} from './metadata.js';
import { Prompt } from './prompt.js';
import { Resource } from './resource.js';
import { Tool, type ToolOptions } from './tool.js';
import { State, Step, Workflow } from './workflow.js';

@Resource({ name: 'intro', file: './intro.md' })
class Intro {
  static readonly uri = 'resource://intro';
}

@Tool({ name: 'ping', description: 'Answers', input: z.object({}), annotations: { readOnlyHint: true } })
class Ping {
  execute(): void {}
}

@State({ name: 'seen', initial: ['a'] })
class Seen {
  value!: string[];
}

@Workflow({ name: 'w', description: 'w', instructions: [Intro], needsState: [Seen], failFast: false })
class Sample {
  @Arg({ description: 'Labels', default: ['a'] }) labels!: Arg<string[], 'default'>;
  @Step() first = 1;
  @Step({ guidance: 'For {labels}', after: [] }) second = 2;
}

@Resource({ name: 'page' })
class Page {
  static readonly uriTemplate = 'logseq://pages/{name}';
  read({ name }: { name: string }): string {
    return name;
  }
}

@Tool({
  name: 'hinted',
  description: 'Says what comes next',
  hints: { category: 'c', next: [() => Ping], requires: [() => Hinted], examples: [{ a: 1 }] },
  icons: [{ src: 'data:,', sizes: ['any'] }],
  needsState: [Seen],
  secret: ['key'],
})
class Hinted {
  execute({ key }: { key: string }): string {
    return key;
  }
}

const likely = (typed: string) => [typed];

@Prompt({ name: 'p', description: 'p' })
class Review {
  @Arg({ description: 'Language', complete: (typed) => [typed] }) language?: Arg<string>;
  @Arg({ description: 'Code', minLength: 1, complete: likely }) code!: Arg<string>;
  render(): [] {
    return [];
  }
}

function recorded(cls: abstract new (...deps: never[]) => object): FingerprintInput {
  const metadata = readMetadata(cls);
  if (!metadata) throw new Error(`${cls.name} is not decorated`);
  return fromMetadata(metadata);
}

// What codegen reads from the classes above.
const declared: Record<string, FingerprintInput> = {
  Intro: { kind: 'resource', options: { name: 'intro', file: './intro.md' }, uri: 'resource://intro' },
  Page: { kind: 'resource', options: { name: 'page' }, uriTemplate: 'logseq://pages/{name}' },
  Hinted: {
    kind: 'tool',
    options: {
      name: 'hinted',
      description: 'Says what comes next',
      hints: {
        category: 'c',
        next: [{ $class: 'Ping' }],
        requires: [{ $class: 'Hinted' }],
        examples: [{ a: 1 }],
      },
      icons: [{ src: 'data:,', sizes: ['any'] }],
      needsState: [{ $class: 'Seen' }],
      secret: ['key'],
    },
  },
  Seen: { kind: 'state', options: { name: 'seen', initial: ['a'] } },
  Review: {
    kind: 'prompt',
    options: { name: 'p', description: 'p' },
    args: [
      { name: 'language', options: { description: 'Language', complete: { $function: true } } },
      { name: 'code', options: { description: 'Code', minLength: 1, complete: { $function: true } } },
    ],
  },
  Ping: {
    kind: 'tool',
    options: { name: 'ping', title: undefined, description: 'Answers', annotations: { readOnlyHint: true } },
  },
  Sample: {
    kind: 'workflow',
    options: {
      name: 'w',
      description: 'w',
      instructions: [{ $class: 'Intro' }],
      needsState: [{ $class: 'Seen' }],
      failFast: false,
    },
    args: [{ name: 'labels', options: { description: 'Labels', default: ['a'] } }],
    steps: [
      { name: 'first', options: {} },
      { name: 'second', options: { after: [], guidance: 'For {labels}' } },
    ],
  },
};

describe('a fingerprint', () => {
  test.each<abstract new (...deps: never[]) => object>([Intro, Page, Ping, Hinted, Seen, Sample, Review])(
    'agrees between source and metadata: %o',
    (cls) => {
      expect(fingerprint(recorded(cls))).toBe(fingerprint(declared[cls.name]!));
    },
  );

  test('ignores the schemas of a tool', () => {
    const options = { name: 't', description: 't' };
    const plain = fingerprint({ kind: 'tool', options });
    expect(
      fingerprint({ kind: 'tool', options: { ...options, input: z.string(), output: z.string() } }),
    ).toBe(plain);
  });

  test('ignores further properties of a declaration', () => {
    const workflow = declared.Sample as Extract<FingerprintInput, { kind: 'workflow' }>;
    const more = {
      ...workflow,
      file: 'sample.ts',
      args: workflow.args.map((arg) => ({ ...arg, optional: false })),
      steps: workflow.steps.map((step) => ({ ...step, place: { line: 1 } })),
    };
    expect(fingerprint(more)).toBe(fingerprint(workflow));
  });

  test.each<[string, FingerprintInput]>([
    ['a name', { kind: 'workflow', options: { name: 'v' }, args: [], steps: [] }],
    ['the kind', { kind: 'tool', options: { name: 'w' } }],
    [
      'an argument',
      { kind: 'workflow', options: { name: 'w' }, args: [{ name: 'a', options: {} }], steps: [] },
    ],
    ['a step', { kind: 'workflow', options: { name: 'w' }, args: [], steps: [{ name: 'a', options: {} }] }],
    [
      'a handle',
      { kind: 'workflow', options: { name: 'w', instructions: [{ $class: 'A' }] }, args: [], steps: [] },
    ],
  ])('changes with %s', (_what, input) => {
    const base: FingerprintInput = { kind: 'workflow', options: { name: 'w' }, args: [], steps: [] };
    expect(fingerprint(input)).not.toBe(fingerprint(base));
  });

  test('changes with the address of a resource', () => {
    const at = (uri: string) => fingerprint({ kind: 'resource', options: { name: 'r' }, uri });
    expect(at('resource://a')).not.toBe(at('resource://b'));
  });

  test('differs between an address and a template', () => {
    const resource = { kind: 'resource', options: { name: 'r' } } as const;
    const address = fingerprint({ ...resource, uri: 'a://{b}' });
    expect(fingerprint({ ...resource, uriTemplate: 'a://{b}' })).not.toBe(address);
  });

  test('changes when an argument of a prompt loses its completion', () => {
    const prompt = (options: Record<string, unknown>) =>
      fingerprint({ kind: 'prompt', options: { name: 'p' }, args: [{ name: 'a', options }] });
    expect(prompt({})).not.toBe(prompt({ complete: { $function: true } }));
  });

  test('depends on the order of steps, not on the order of options', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(names, fc.dictionary(fc.string(), fc.jsonValue()), (steps, options) => {
        const of = (order: readonly string[], given: Record<string, unknown>) =>
          fingerprint({
            kind: 'workflow',
            options: given,
            args: [],
            steps: order.map((name) => ({ name, options: given })),
          });
        const reversed = Object.fromEntries(Object.entries(options).reverse());
        expect(of(steps, reversed)).toBe(of(steps, options));
        expect(of([...steps].reverse(), options)).not.toBe(of(steps, options));
      }),
    );
  });
});

describe('metadata as plain data', () => {
  test('has classes by name and only plain data', () => {
    const options = {
      name: 't',
      description: 't',
      annotations: { title: undefined },
      odd: [Intro, 1n, Number.NaN, new Date(0), null, Symbol('s')],
    };
    expect(fromMetadata({ kind: 'tool', options: options as unknown as ToolOptions })).toEqual({
      kind: 'tool',
      options: {
        name: 't',
        description: 't',
        annotations: {},
        odd: [
          { $class: 'Intro' },
          { $other: 'bigint' },
          { $other: 'NaN' },
          { $other: 'object' },
          null,
          { $other: 'symbol' },
        ],
      },
    });
  });
});

const tables: RegistryTables = {
  tools: { a: { class: class A {}, description: 'a' } },
  resources: {},
  workflows: {},
  prompts: { p: { class: class P {}, description: 'p' } },
  functions: { f: { function: () => 1, hash: 'h' } },
};

describe('the checksum of a registry', () => {
  test('ignores classes and functions', () => {
    expect(registryChecksum(tables)).toMatch(/^[0-9a-f]{64}$/);
    expect(
      registryChecksum({
        ...tables,
        tools: { a: { description: 'a' } },
        prompts: { p: { description: 'p' } },
        functions: { f: { hash: 'h' } },
      }),
    ).toBe(registryChecksum(tables));
  });

  test.each<[string, Partial<RegistryTables>]>([
    ['a tool', { tools: { a: { description: 'b' } } }],
    ['a resource', { resources: { r: {} } }],
    ['a workflow', { workflows: { w: {} } }],
    ['a prompt', { prompts: {} }],
    ['a function', { functions: { f: { hash: 'i' } } }],
  ])('changes with %s', (_what, change) => {
    expect(registryChecksum({ ...tables, ...change })).not.toBe(registryChecksum(tables));
  });

  test('is the same for an absent and an empty table', () => {
    const { tools, resources, workflows } = tables;
    expect(registryChecksum({ tools, resources, workflows })).toBe(
      registryChecksum({ tools, resources, workflows, prompts: {}, functions: {} }),
    );
  });
});
