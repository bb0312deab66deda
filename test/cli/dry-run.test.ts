import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nightlyTest, smoke } from '../nightly.js';
import { type CliProject, cliProject } from './cli-project.fixture.js';

const TOOLS = `import { writeFileSync } from 'node:fs';
import { Tool, type ToolContext } from 'stepwright';

const touch = (name: string) => writeFileSync(\`touched-\${name}\`, '');

@Tool({ name: 'save', description: 'Writes a file', retrySafety: 'idempotent' })
export class Save {
  constructor(private readonly folder: string) {
    touch('constructor');
  }
  execute({ text }: { text: string }): { id: number; path: string } {
    touch('execute');
    return { id: text.length, path: this.folder };
  }
}

@Tool({ name: 'drop', description: 'Removes a file' })
export class Drop {
  execute(_input: { id: number }): void {
    touch('drop');
  }
}

@Tool({ name: 'login', description: 'Logs in', secret: ['password'] })
export class Login {
  execute(_input: { password: string }): { token: string } {
    return { token: '' };
  }
}

@Tool({
  name: 'far_look',
  description: 'Looks somewhere else',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
  upstream: { server: 'far', tool: 'look' },
})
export class FarLook {
  execute(input: { at?: string }, context: ToolContext): Promise<any> {
    return context.callUpstream(input);
  }
}
`;

const FILE = `workflows:
  keep:
    description: Keeps a note twice
    on_failure: compensate
    params:
      text: { type: str, required: true }
      loud: { type: bool, default: false }
    graph:
      first:
        call: save
        args: { text: $text }
        on_error: { retry: 2, delay: 1h }
        compensate: { call: drop, args: { id: $first.id } }
      shout:
        call: save
        depends_on: [first]
        condition: $loud == true
        args: { text: $text }
      second:
        call: save
        depends_on: [first, shout]
        args: { text: $first.path }
  look:
    description: Looks somewhere else
    graph:
      far: { call: far_look, args: { at: here } }
      saved: { call: save, depends_on: [far], args: { text: $far.name } }
  enter:
    description: Logs in
    params: { password: { type: str, required: true, secret: true } }
    graph:
      in: { call: login, args: { password: $password } }
  pair:
    description: Keeps two notes at once
    graph:
      both:
        branches:
          left: { call: save, args: { text: l } }
          right: { call: save, args: { text: r } }
`;

/** A file that codegen reads. */
const REGISTERED = `workflows:
  kept:
    description: Keeps a note
    graph:
      one: { call: save, args: { text: as registered } }
  keeper:
    description: Runs the other one
    graph:
      inner: { workflow: kept }
`;

describe('a dry run', { timeout: 120_000 }, () => {
  let project: CliProject;
  let root = '';

  const write = (file: string, text: string): void => project.write(file, text);
  const stepwright = (...args: string[]) => project.stepwright(...args);
  const dry = (...args: string[]) => stepwright('run', 'notes.yaml', '--dry', ...args);
  const keep = (...args: string[]) => dry('--workflow', 'keep', '--arg', 'text=hello', ...args);
  const stubs = (text: string, file = 'stubs.yaml'): string => {
    write(file, text);
    return file;
  };
  const touched = () =>
    ['constructor', 'execute', 'drop', 'options', 'upstream'].filter((name) =>
      existsSync(path.join(root, `touched-${name}`)),
    );

  beforeAll(() => {
    project = cliProject();
    root = project.root;
    const registries = [{ include: ['src/*.ts'], specs: ['specs/*.yaml'], out: 'generated/registry.ts' }];
    const touchUpstream = "require('fs').writeFileSync('touched-upstream', '')";
    const upstream = { far: { command: process.execPath, args: ['-e', touchUpstream] } };
    write('stepwright.config.json', JSON.stringify({ server: 'options.ts', registries, upstream }));
    write('src/tools.ts', TOOLS);
    write(
      'options.ts',
      `import { writeFileSync } from 'node:fs';
writeFileSync('touched-options', '');
import { Save } from './src/tools.js';
export default { tools: { save: () => new Save('.') } };
`,
    );
    write('notes.yaml', FILE);
    write('specs/kept.yaml', REGISTERED);
    expect(stepwright('codegen')).toMatchObject({ code: 0, err: '' });
  }, 300_000);

  afterAll(() => project.remove());

  nightlyTest('warns of the chosen workflow and of what it runs, and not of the others in the file', () => {
    const risky = (name: string, more = '') =>
      `  ${name}:
    description: Removes a file
    graph:
      gone_${name}: { call: drop, args: { id: 1 }, on_error: { retry: 2 } }
${more}`;
    const inner = '      sub: { workflow: inner, depends_on: [gone_chosen] }\n';
    write(
      'risky.yaml',
      `workflows:\n${risky('before')}${risky('chosen', inner)}${risky('inner')}${risky('after')}`,
    );
    const { err } = stepwright('run', 'risky.yaml', '--dry', '--workflow', 'chosen');
    const named = [...err.matchAll(/step `(\w+)` is tried again/g)].map(([, step]) => step);
    expect(named).toEqual(['gone_chosen', 'gone_inner']);
    const several = stepwright('run', 'risky.yaml', '--dry');
    expect(several.code).toBe(2);
    expect(several.err).not.toContain('is tried again');
  });

  test('shows the path, the joins, the skips and the input of each call, and reaches nothing', () => {
    expect(keep()).toEqual({
      code: 0,
      err: '',
      out: `keep: dry run, no tool was called
  first: call save
    input {"text":"hello"}
    result {"id":0,"path":"stub"} (made up from the schema)
  shout: skipped, its condition does not hold: loud == true
  second: call save
    join none_failed_min_one_success: first succeeded, shout skipped
    input {"text":"stub"}
    result {"id":0,"path":"stub"} (made up from the schema)
succeeded: {"id":0,"path":"stub"}
`,
    });
    expect(touched()).toEqual([]);
  });

  test('takes stubs by step and by tool, one for each call, errors among them', () => {
    const file = stubs(`first:
  - error: { code: E_TOOL_ERROR, message: The disk is busy }
  - { id: 7, path: a }
save: { id: 9, path: b }
`);
    const { code, out } = keep('--stubs', file, '--format', 'json', '--arg', 'loud=yes');
    const { path: steps, ...report } = JSON.parse(out);
    expect([code, report]).toEqual([
      0,
      { workflow: 'keep', status: 'succeeded', result: { id: 9, path: 'b' } },
    ]);
    const calls = steps.filter(({ event }: { event: string }) => event === 'call');
    expect(calls).toMatchObject([
      { step_id: 'first', attempt: 1, failure: { message: 'The disk is busy' }, stub: 'given' },
      { step_id: 'first', attempt: 2, result: { id: 7 } },
      { step_id: 'shout', tool: 'save', input: { text: 'hello' }, result: { id: 9 } },
      { step_id: 'second', input: { text: 'a' }, result: { id: 9 } },
    ]);
    expect(touched()).toEqual([]);
  });

  nightlyTest('shows a failing path', () => {
    const file = stubs('{ "second": { "error": { "code": "E_FULL", "message": "full" } } }', 'stubs.json');
    const { code, out } = keep('--stubs', file);
    expect(code).toBe(1);
    expect(out).toContain('error E_FULL: full (stub)\n    failed: E_FULL: full\n');
    expect(out).toMatch(/\nfailed: E_FULL: full\n$/);
  });

  nightlyTest('tells what happens at once one step after the other', () => {
    expect(dry('--workflow', 'pair').out).toBe(`pair: dry run, no tool was called
  both: parallel
    branch left
      left: call save
        input {"text":"l"}
        result {"id":0,"path":"stub"} (made up from the schema)
    branch right
      right: call save
        input {"text":"r"}
        result {"id":0,"path":"stub"} (made up from the schema)
succeeded: {"left":{"id":0,"path":"stub"},"right":{"id":0,"path":"stub"}}
`);
    const { path: steps } = JSON.parse(dry('--workflow', 'pair', '--json').out);
    const calls = steps.filter(({ event }: { event: string }) => event === 'call');
    expect(calls).toMatchObject([
      { step_id: 'left', depth: 1, in: { step_id: 'both', arm: 'left' } },
      { step_id: 'right', depth: 1, in: { step_id: 'both', arm: 'right' } },
    ]);
  });

  nightlyTest('runs the workflows of the file in place of those that the registry has of it', () => {
    write('edited.yaml', REGISTERED.replace('as registered', 'as edited'));
    const edited = stepwright('run', 'edited.yaml', '--workflow', 'keeper', '--dry');
    expect(edited).toMatchObject({ code: 0, err: '', out: expect.stringContaining('{"text":"as edited"}') });
    expect(stepwright('run', 'keeper', '--dry').out).toContain('{"text":"as registered"}');
  });

  nightlyTest('names the stub that is missing, and starts no upstream server', () => {
    const { code, out, err } = dry('--workflow', 'look');
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('notes.yaml:26:7');
    expect(err).toContain(
      'SW9026: step `far` of workflow `look` has no stub: `far_look` has no output schema',
    );
    expect(err).toContain('write `far: RESULT` in a file');
    const file = stubs('far: { name: stone }\n');
    expect(dry('--workflow', 'look', '--stubs', file).out).toContain('input {"text":"stone"}');
    expect(touched()).toEqual([]);
  });

  nightlyTest('masks secrets', () => {
    const { code, out } = dry('--workflow', 'enter', '--arg', 'password=hunter2hunter2');
    expect([code, out]).toEqual([0, expect.stringContaining('input {"password":"')]);
    expect(out).not.toContain('hunter2');
  });

  nightlyTest.each(
    smoke<[string, string, string]>(
      [
        ['first: { id: one, path: a }', 'stubs.yaml:1:14', 'SW9027: the stub of `first` does not fit: `/id`'],
        ['frist: 1', 'stubs.yaml:1:1', 'did you mean `first`?'],
        ['- 1', 'stubs.yaml:1:1', 'SW9029: the stubs are not an object'],
        ['first: []', 'stubs.yaml:1:8', 'SW9029: the stubs of `first` are an empty list'],
        ['first: { error: { code: E_X } }', 'stubs.yaml:1:8', 'SW9029: the error of `first` has no text'],
        ['first: {', 'stubs.yaml:1:', 'error SW5'],
        ['a: 1\na: 2', 'stubs.yaml:2:1', 'SW5004'],
      ],
      3,
    ),
  )('refuses %j', (text, place, message) => {
    const { code, out, err } = keep('--stubs', stubs(text));
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(place);
    expect(err).toContain(message);
  });

  nightlyTest('refuses a command line that makes no sense', () => {
    expect(dry('--workflow', 'keep')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--arg NAME=TEXT'),
    });
    expect(stepwright('run', 'notes.yaml', '--stubs', 'a.yaml').err).toContain(
      'is for `stepwright run --dry`',
    );
    expect(keep('--record', 'a.json').err).toContain('`--dry` makes none');
    expect(keep('--stubs', 'none.yaml')).toMatchObject({ code: 1, err: expect.stringContaining('SW5019') });
    expect(keep('--stubs', 'notes.xml').err).toContain('SW5019');
  });
});
