import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { CallNode, Graph } from '../../../src/graph/model.js';
import { again, call, chain, graph, input, lit, step } from '../../../src/runtime/engine/graph.fixture.js';
import { type FakeTool, type FreshTool, type Scenario, textInput } from './scenario.js';

export const readOnly = { readOnlyHint: true } as const;

/** `of?.key` and `of.key`. */
export const get = (of: Expr, key: string): Expr => ({ kind: 'get', of, key: lit(key) });
export const isNullish = (of: Expr): Expr => ({ kind: 'call', fn: 'isNullish', args: [of] });

/** A tool that gives back its input, or `value`. */
export const echo = (value?: unknown): FakeTool => ({
  description: 'Give it back',
  run: (given) => value ?? given,
});

export const failing = (message: string, options: Partial<FakeTool> = {}): FakeTool => ({
  description: 'Fail',
  run: () => {
    throw new Error(message);
  },
  ...options,
});

/** Fails with these messages, one after the other, and then gives `value`. */
export function faltering(
  messages: readonly string[],
  value: unknown,
  options: Partial<FakeTool> = {},
): FreshTool {
  return () => {
    const failures = [...messages];
    return {
      description: 'Falter',
      run: () => {
        const why = failures.shift();
        if (why !== undefined) throw new Error(why);
        return value;
      },
      ...options,
    };
  };
}

/** Each step after the one before it, as `collect` is compiled. */
export const collecting = (nodes: readonly Node[]): Graph =>
  graph(
    chain(...nodes).map((node): Node => ({ ...node, join: 'all_done' })),
    { errorStrategy: { kind: 'collect' } },
  );

/** Aborts while a call that failed waits for its next attempt. */
export function abortedBetweenAttempts(): Scenario {
  return {
    graph: sample([use('add', {}, { retry: again(2, { delayMs: 500 }) }), use('next', {})]),
    tools: {
      add: (abort) =>
        failing('busy', {
          run: () => {
            void (async () => {
              for (let turn = 0; turn < 50; turn++) await null;
              abort('the user stopped it');
            })();
            throw new Error('busy');
          },
        }),
      next: echo(),
    },
  };
}

/** The workflow, tools and arguments of the execution examples in the specification of workflow prompts. */
export function projectTask(_project: string, annotations?: FakeTool['annotations']): Scenario {
  const pages = ['Website', 'Mobile', 'Blog'];
  const nodes = chain(
    call('pages', {}, { tool: 'list_pages' }),
    call(
      'verify',
      { project: input('project'), available_pages: get(step('pages'), 'pages') },
      { tool: 'verify_project' },
    ),
    call(
      'add',
      { project: input('project'), task: input('task'), project_path: get(step('verify'), 'path') },
      { tool: 'add_journal_task' },
    ),
  );
  return {
    graph: graph(nodes, {
      name: 'add_task',
      description: 'add a task to a project',
      inputs: [textInput('project'), textInput('task')],
    }),
    tools: {
      list_pages: { description: 'Get all available pages', run: () => ({ pages }), annotations: readOnly },
      verify_project: {
        description: 'Check if project exists',
        run: ({ project: name }: { project: string }) => {
          if (!pages.includes(name)) throw new Error(`Project '${name}' not found in available pages`);
          return { exists: true, path: `/projects/${name}` };
        },
        ...(annotations === undefined ? {} : { annotations }),
      },
      add_journal_task: {
        description: 'Add the task to the project',
        run: () => ({ success: true, task_id: 'task-123' }),
      },
    },
  };
}

export const sample = (nodes: readonly Node[], options: Partial<Graph> = {}): Graph =>
  graph(chain(...nodes), options);

export const use = (
  id: string,
  args: Readonly<Record<string, Expr>>,
  options: Partial<CallNode> = {},
): CallNode => call(id, args, { tool: id, ...options });

/** Every situation whose trace is kept as a golden file, by the file's name. */
