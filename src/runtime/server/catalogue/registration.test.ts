import { describe, expect, test } from 'vitest';
import { fromStep, sequential, step, toolHandle } from '../../../formats/builder/index.js';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Node } from '../../../graph/kinds/node.js';
import type { Graph } from '../../../graph/model.js';
import type { Registry } from '../../tools/registry.js';
import { type BuiltWorkflow, RegistrationError } from '../registrations.js';
import { register } from './registration.js';

class Ping {
  execute() {
    return { text: 'pong' };
  }
}

const loud = ({ text }: { text: string }): string => text.toUpperCase();
const hash = 'a'.repeat(64);

const registry: Registry = {
  registryVersion: 1,
  checksum: '',
  tools: { ping: { class: Ping, description: 'Pings', inputSchema: { type: 'object' }, fingerprint: '' } },
  resources: {},
  workflows: {},
  functions: { shout: { function: loud, hash } },
};

const shouting = (by: (out: { text: string }) => string, name = 'shout-it') =>
  sequential(name, 'shout')
    .step(step(toolHandle('ping')).bind('shouted').transform(by))
    .returns(fromStep('shouted'))
    .build();

const refusal = (run: () => unknown): readonly string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof RegistrationError) return error.message.split('\n  - ').slice(1);
    throw error;
  }
  return [];
};

describe('what is registered', () => {
  test('differs from a value that is neither a workflow nor a prompt', () => {
    const junk = { workflows: [{}, null, { graph: {} }], prompts: [{}, 'x', { name: 'a', handler: 5 }] };
    expect(refusal(() => register(registry, junk as never))).toEqual([
      'workflows[0] is an object, not a built workflow: make it with build() of stepwright/builder',
      'workflows[1] is null, not a built workflow: make it with build() of stepwright/builder',
      'workflows[2] is an object, not a built workflow: make it with build() of stepwright/builder',
      'prompts[0] is an object, not a plain prompt: make it with simplePrompt(name, handler)',
      'prompts[1] is a string, not a plain prompt: make it with simplePrompt(name, handler)',
      'prompts[2] is an object, not a plain prompt: make it with simplePrompt(name, handler)',
    ]);
  });

  test('brings no schema of an argument that values cannot be checked by', () => {
    const { graph } = sequential('echo', 'echo')
      .step(step(toolHandle('ping')))
      .build();
    const declared = { name: 'n', description: 'n', required: false };
    const inputs = [
      { ...declared, schema: { $ref: 'http://evil.example/' } },
      { ...declared, name: 'd', schema: { type: 'number', maximum: 3 }, default: 4 },
    ];
    const problems = refusal(() =>
      register(registry, { workflows: [{ graph: { ...graph, inputs } }], prompts: [] }),
    );
    expect(problems).toEqual([
      expect.stringContaining('workflow `echo`: the schema of argument `n` cannot be used: '),
      'workflow `echo`: the default of argument `d` does not fit: the value must be <= 3',
    ]);
  });

  test('has no tool whose schemas clients refuse, unless it is not listed', () => {
    const tool = { class: Ping, description: 'Pings', fingerprint: '' };
    const list = { type: 'array', items: { type: 'string' } };
    const input = { type: 'object' };
    const tools = {
      rows: { ...tool, inputSchema: input, outputSchema: list },
      any: { ...tool, inputSchema: {} },
      odd: {
        ...tool,
        inputSchema: { ...input, properties: { 'a/b': 5, c: {} }, required: 'c' } as never,
        outputSchema: { type: ['object', 'null'] },
      },
      inner: { ...tool, visibility: 'workflow' as const, inputSchema: input, outputSchema: list },
    };
    const repair =
      'and the tools of MCP take and return objects: write { "type": "object", "properties": … }, with the value as a property, or give the tool the visibility \'workflow\'';
    expect(refusal(() => register({ ...registry, tools }, { workflows: [], prompts: [] }))).toEqual([
      `tool \`rows\`: its \`outputSchema\` at \`/type\` is "array", ${repair}`,
      `tool \`any\`: its \`inputSchema\` at \`/type\` is missing, ${repair}`,
      'tool `odd`: its `inputSchema` at `/properties/a~1b` is not a JSON Schema: write an object',
      'tool `odd`: its `inputSchema` at `/required` is not a list of names',
      `tool \`odd\`: its \`outputSchema\` at \`/type\` is ["object","null"], ${repair}`,
    ]);
  });

  test('leaves the schemas of the registry to their first use', () => {
    const compiled: unknown[] = [];
    class Recorder extends SchemaCompiler {
      override faults(...args: Parameters<SchemaCompiler['faults']>) {
        compiled.push(args[0]);
        return super.faults(...args);
      }
      override check(...args: Parameters<SchemaCompiler['check']>) {
        compiled.push(args[0]);
        return super.check(...args);
      }
    }
    const { graph } = sequential('echo', 'echo')
      .step(step(toolHandle('ping')))
      .build();
    const input = { name: 'n', description: 'n', required: false };
    const decorated = { ...graph, name: 'shout', inputs: [{ ...input, schema: { type: 'number' } }] };
    const schema = { type: 'string' };
    const registered: Registry = {
      ...registry,
      workflows: { shout: { class: Ping, graph: decorated, hash, fingerprint: '' } },
    };
    const built = { graph: { ...graph, inputs: [{ ...input, schema }] } };
    register(registered, { workflows: [built], prompts: [] }, new Recorder());
    expect(compiled).toEqual([schema]);
  });
});

describe('the functions of a built workflow', () => {
  test('go by what the registry says of them', () => {
    const built = shouting(loud);
    const { workflows, functions } = register(registry, { workflows: [built], prompts: [] });
    expect(workflows[0]?.graph.nodes[1]).toMatchObject({ function: { name: 'shout', hash } });
    expect(functions).toEqual(registry.functions);
  });

  test('of another kind come along', () => {
    const quiet = ({ text }: { text: string }): string => text.toLowerCase();
    const { functions } = register(registry, { workflows: [shouting(quiet)], prompts: [] });
    expect(Object.keys(functions)).toEqual(['shout', 'shout-it#quiet']);
    expect(functions['shout-it#quiet']?.function).toBe(quiet);
  });

  test('of a registered name are kept beside the registered one', () => {
    const shout = () => 'mine';
    const { workflows, functions } = register(registry, { workflows: [shouting(shout)], prompts: [] });
    expect(functions.shout?.function).toBe(loud);
    expect(functions['shout-it#shout']?.function).toBe(shout);
    expect(workflows[0]?.graph.nodes[1]).toMatchObject({ function: { name: 'shout-it#shout' } });
  });

  test('are kept apart where they share a name and a source, and only what they close over differs', () => {
    const tagging = (tag: string) => ({ label: ({ text }: { text: string }) => `${tag} ${text}` }).label;
    const { functions } = register(registry, {
      workflows: [shouting(tagging('a'), 'first'), shouting(tagging('b'), 'second')],
      prompts: [],
    });
    const results = ['first#label', 'second#label'].map((name) => functions[name]?.function({ text: 'x' }));
    expect(results).toEqual(['a x', 'b x']);
    expect(functions['first#label']?.hash).toBe(functions['second#label']?.hash);
  });

  test('brought under a name that another function has are refused, even with its hash', () => {
    const { graph } = shouting(loud);
    const own = (text: (out: { text: string }) => string): BuiltWorkflow => {
      const [call, compute, end] = graph.nodes as readonly [Node, Node, Node];
      const nodes = [call, { ...compute, function: { name: 'label', hash } }, end] as readonly Node[];
      const name = text({ text: 'w' });
      return { graph: { ...graph, name, nodes }, functions: new Map([['label', { function: text, hash }]]) };
    };
    const workflows = [own(({ text }) => `${text}-a`), own(({ text }) => `${text}-b`)];
    expect(refusal(() => register(registry, { workflows, prompts: [] }))).toEqual([
      expect.stringMatching(/^workflow `w-b`: it names the function `label`, but another function/),
    ]);
  });
});

describe('a supplied graph', () => {
  const { graph } = sequential('echo', 'echo')
    .step(step(toolHandle('ping')))
    .build();
  const base = { after: [], join: 'none_failed', executor: 'server' } as const;
  const literal = { kind: 'literal', value: [1] } as const;
  const caller: Graph = {
    ...graph,
    name: 'caller',
    nodes: [{ ...base, kind: 'workflow', id: 'run', workflow: 'echo', input: { kind: 'dict', entries: [] } }],
  };

  test('may run another supplied graph, and none that is missing', () => {
    expect(
      register(registry, { workflows: [{ graph: caller }, { graph }], prompts: [] }).workflows,
    ).toHaveLength(2);
    expect(refusal(() => register(registry, { workflows: [{ graph: caller }], prompts: [] }))).toEqual([
      expect.stringMatching(/^workflow `caller`: SW4026: .*echo/),
    ]);
  });

  test('is asked for the functions it names in its loops, too', () => {
    const compute: Node = {
      ...{ ...base, kind: 'compute', id: 'made', value: { kind: 'list', items: [] } },
      function: { name: 'gone', hash },
    };
    const each: Node = {
      ...{ ...base, kind: 'foreach', id: 'each', items: literal, as: 'item', max: 10, concurrency: 1 },
      ...{ onItemError: 'fail', body: { nodes: [compute] } },
    };
    const looping: Graph = { ...graph, nodes: [each] };
    expect(refusal(() => register(registry, { workflows: [{ graph: looping }], prompts: [] }))).toEqual([
      expect.stringContaining('gone'),
    ]);
  });
});
