import path from 'node:path';
import { createServer, type Registry } from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { smoke } from '../nightly.js';
import { createProject, type Project, tsc } from './project.fixture.js';

const server = `import { Arg, type ArgsOf, call, done, Prompt, type PromptMessages, run, Step, Tool, user, Workflow } from 'stepwright';

@Tool({ name: 'getUser', description: 'Finds a user' })
export class GetUser {
  async execute({ id }: { id: string }): Promise<{ name: string; seen: string }> {
    return { name: id.toUpperCase(), seen: id };
  }
}

@Tool({ name: 'user.get', description: 'The same, by an older name' })
export class UserGet extends GetUser {
  override async execute({ id }: { id: string }): Promise<{ name: string; seen: string }> {
    return super.execute({ id });
  }
}

@Workflow({ name: 'AddTask', description: 'add a task', expose: ['prompt', 'tool'] })
export class AddTask {
  @Arg({ name: 'task-name', description: 'What', minLength: 2, complete: (typed) => [typed + '!'] }) taskName!: Arg<string>;
  @Arg({ name: 'at-most', description: 'At most', type: 'integer', default: 3 }) atMost!: Arg<number, 'default'>;
  @Step({ guidance: 'Who is {taskName}, that is {task-name}?' }) user = call(GetUser, { id: this.taskName });
  output = done({ name: this.user.name, atMost: this.atMost, text: \`for \${this.taskName}\` });
}

@Workflow({ name: 'Add-Two', description: 'add two tasks', expose: ['tool'] })
export class AddTwo {
  @Arg({ name: 'task-name', description: 'What' }) what!: Arg<string>;
  @Step() one = run(AddTask, { taskName: this.what });
  @Step() two = run(AddTask, { taskName: this.one.name, atMost: 7 });
  output = done({ first: this.one.text, second: this.two.text, atMost: this.two.atMost });
}

@Tool({ name: 'stamp', description: 'Stamps', visibility: 'workflow' })
export class Stamp {
  async execute(): Promise<{ at: string }> {
    return { at: 'noon' };
  }
}

@Workflow({ name: 'StampIt', description: 'stamp it' })
export class StampIt {
  @Step() stamped = call(Stamp);
  output = done({ at: this.stamped.at });
}

@Prompt({ name: 'code.review', description: 'Review code' })
export class CodeReview {
  @Arg({ name: 'max-depth', description: 'Depth', type: 'integer' }) maxDepth!: Arg<number>;
  @Arg({ description: 'Language' }) language?: Arg<string>;
  render({ maxDepth, language }: ArgsOf<CodeReview>): PromptMessages {
    return [user(\`Review \${language ?? 'all'} to the depth of \${maxDepth + 1}\`)];
  }
}
`;

const use = `import { createServer, type RequestContext, type StepwrightServer } from 'stepwright/runtime';
import { type PromptName, registry, type ToolName, type WorkflowArgs, type WorkflowResult } from '../generated/registry.js';

export const names: [ToolName, ToolName, PromptName] = ['getUser', 'user.get', 'code.review'];
export const args: WorkflowArgs<'AddTask'> = { 'task-name': 'a' };
export const result: WorkflowResult<'AddTask'> = { name: 'a', atMost: 1, text: 'b' };
// @ts-expect-error Assert callers know the argument by its name, and not by the field
export const fields: WorkflowArgs<'AddTask'> = { taskName: 'a' };

const server = createServer(registry);
export const plain: StepwrightServer = server;
declare const request: RequestContext;
declare const anyName: string;
export const typed = async () => {
  const user = await server.callTool('user.get', { id: 'a' }, request);
  const name: string | undefined = user.structuredContent?.name;
  const run = await server.callTool('w_AddTask', { 'task-name': 'a', 'at-most': 3 }, request);
  const most: number | undefined = run.structuredContent && 'atMost' in run.structuredContent ? run.structuredContent.atMost : 0;
  await server.getPrompt('AddTask', { 'task-name': 'a', 'at-most': '3' }, request);
  await server.getPrompt('code.review', { 'max-depth': '3' }, request);
  await server.callTool('cancel_workflow', { workflow_id: 'a' }, request);
  await server.callTool('w_StampIt', {}, request);
  await server.getPrompt('StampIt', {}, request);
  const prefixed = createServer(registry, { workflowPrefix: 'run-' });
  await prefixed.callTool('run-AddTask', { 'task-name': 'a', 'at-most': 3 }, request);
  // @ts-expect-error Assert the tools of workflows have another prefix
  await prefixed.callTool('w_AddTask', { 'task-name': 'a' }, request);
  await server.getPrompt(anyName, { whatever: 1 }, request);
  await server.callTool(anyName, { whatever: 1 }, request);
  await plain.getPrompt('unknown', {}, request);
  return [name, most];
};
export const refused = () => [
  // @ts-expect-error Assert the tool has an input
  server.callTool('getUser', {}, request),
  // @ts-expect-error Assert the input is text
  server.callTool('getUser', { id: 1 }, request),
  // @ts-expect-error Assert the registry has no such tool
  server.callTool('getUsr', { id: 'a' }, request),
  // @ts-expect-error Assert the tool is private
  server.callTool('stamp', {}, request),
  // @ts-expect-error Assert the workflow is not a prompt
  server.getPrompt('Add-Two', { 'task-name': 'a' }, request),
  // @ts-expect-error Assert the registry has no such prompt
  server.getPrompt('code-review', { 'max-depth': '3' }, request),
  // @ts-expect-error Assert arguments of prompts are text
  server.getPrompt('code.review', { 'max-depth': 3 }, request),
  // @ts-expect-error Assert the argument is required
  server.getPrompt('AddTask', { 'at-most': '3' }, request),
  // @ts-expect-error Assert tools of workflows take values as they are
  server.callTool('w_AddTask', { 'task-name': 'a', 'at-most': '3' }, request),
];
`;

// It starts Node processes with a compiler in them.
describe('a migrated server keeps the names that its clients use', { timeout: 240_000 }, () => {
  const request = { signal: new AbortController().signal, requestId: '1', progress: () => {} };
  let project: Project;
  let found: string;
  let registry: Registry;
  beforeAll(async () => {
    project = await createProject({ 'src/server.ts': server, 'src/use.ts': use });
    const result = await runCodegen({ root: project.root });
    found = formatDiagnostics(result.diagnostics, result.readSource);
    ({ registry } = await import(path.join(project.root, 'generated/registry.ts')));
  }, 240_000);
  afterAll(() => project?.remove());

  test('and codegen warns of names that some hosts refuse', () => {
    expect(found.match(/(?:error|warning) SW\d+: .*/g)).toEqual([
      'warning SW1050: some hosts refuse the tool name `user.get`',
      'warning SW1050: some hosts refuse the prompt name `code.review`',
    ]);
  });

  test.each(smoke(['typescript-7', 'typescript-5', 'typescript']))(
    'in types as well: %s',
    async (compiler) => {
      expect(await tsc(project, compiler)).toEqual({ code: 0, stdout: '', stderr: '' });
    },
  );

  test('in lists and schemas', () => {
    const served = createServer(registry, { describe: 'full' });
    expect(served.listTools().tools.map(({ name }) => name)).toEqual([
      'getUser',
      'user.get',
      'w_Add-Two',
      'w_AddTask',
      'w_StampIt',
      'get_workflow_status',
      'cancel_workflow',
    ]);
    expect(
      served
        .listPrompts()
        .prompts.map(({ name, arguments: list }) => [name, ...list.map((each) => each.name)]),
    ).toEqual([['AddTask', 'task-name', 'at-most'], ['StampIt'], ['code.review', 'max-depth', 'language']]);
    const addTask = served.listTools().tools.find(({ name }) => name === 'w_AddTask');
    expect(addTask?.inputSchema).toMatchObject({
      properties: { 'task-name': { minLength: 2 }, 'at-most': { default: 3 } },
      required: ['task-name'],
    });
    expect(addTask?.description).toContain('task-name');
  });

  test('in a run, its guidance and its trace', async () => {
    const trace = await createServer(registry).getPrompt(
      'AddTask',
      { 'task-name': 'ada', 'at-most': '5' },
      request,
    );
    const text = JSON.stringify(trace);
    expect(text).toContain('Who is ada, that is ada?');
    expect(text).toContain('task-name');
    expect(text).not.toContain('taskName');
    expect(trace).toMatchObject({
      _meta: { status: 'succeeded', result: { name: 'ADA', atMost: 5, text: 'for ada' } },
    });
  });

  test('where one workflow runs another', async () => {
    const { structuredContent } = await createServer(registry).callTool(
      'w_Add-Two',
      { 'task-name': 'ada' },
      request,
    );
    expect(structuredContent).toEqual({ first: 'for ada', second: 'for ADA', atMost: 7 });
  });

  test('in what is refused', async () => {
    const served = createServer(registry);
    const refusal = (given: Readonly<Record<string, string>>) =>
      served.getPrompt('AddTask', given, request).catch((fault: Error) => fault.message);
    expect(await refusal({ taskName: 'ada' })).toContain(
      "Unknown argument 'taskName'. Did you mean 'task-name'?",
    );
    expect(await refusal({ 'task-name': 'ada', 'at-most': 'x' })).toContain("argument 'at-most'");
    const { content } = await served.callTool('w_AddTask', { 'task-name': 'a' }, request);
    expect(JSON.stringify(content)).toContain('task-name');
  });

  test('in completions', async () => {
    const { completion } = await createServer(registry).complete(
      { kind: 'prompt', name: 'AddTask' },
      { argument: 'task-name', value: 'ad', given: {} },
      request,
    );
    expect(completion.values).toEqual(['ad!']);
  });

  test('and a prompt renders by its fields', async () => {
    const { messages } = await createServer(registry).getPrompt('code.review', { 'max-depth': '2' }, request);
    expect(JSON.stringify(messages)).toContain('Review all to the depth of 3');
  });
});
