import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Result } from '@modelcontextprotocol/sdk/types.js';
import { Cluster } from '../examples/deploy/cluster.js';
import { compileProgram } from './compile-program.js';
import { check, say } from './story.js';

// A prompt that is resumed by calls of tools, also after its server was killed, and a second client that follows the
// task: `npm run deploy`.

/** What `_meta` of a prompt, and of a call that continues its task, says of the task. */
interface TaskMeta {
  readonly task_id: string;
  readonly task_status: string;
  readonly steps: readonly { readonly name: string; readonly status: string }[];
  readonly pause_reason?: { readonly code?: string };
  readonly next?: readonly {
    readonly step: string;
    readonly tool: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'stepwright-deploy-'));

// Compiled once: it starts four times.
const PROGRAM = compileProgram('examples/deploy/main.ts', 'stepwright-deploy');

/** A client with a server of its own. The servers share the runs and the cluster in the folder. */
class Connection {
  private constructor(
    readonly client: Client,
    private readonly transport: StdioClientTransport,
  ) {}

  static async open(name: string): Promise<Connection> {
    const client = new Client({ name, version: '0.1.0' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, folder],
      // Its log repeats the failures that the task shows.
      stderr: 'ignore',
    });
    await client.connect(transport);
    return new Connection(client, transport);
  }

  async kill(): Promise<void> {
    const { pid } = this.transport;
    if (pid !== null) process.kill(pid, 'SIGKILL');
    await this.client.close();
  }
  /** Gets the prompt, and returns what it says of its task. */
  async prompt(args: Record<string, string>): Promise<TaskMeta> {
    return taskOf(await this.client.getPrompt({ name: 'deploy_service', arguments: args }));
  }

  /** Makes the call that a task says is next, with arguments beside its own. */
  async continue({ task_id, next = [] }: TaskMeta, args: Record<string, string> = {}): Promise<TaskMeta> {
    const [call] = next;
    if (call === undefined) throw new Error(`no call is next in task ${task_id}`);
    const { step, tool } = call;
    say(`  the client calls ${tool} ${JSON.stringify(args)} for step '${step}'`);
    const _meta = { _task_id: task_id, _step: step };
    return taskOf(
      await this.client.callTool({ name: tool, arguments: { ...call.arguments, ...args }, _meta }),
    );
  }

  /** The status of a task, as `tasks/get` returns it. */
  async status(task: string): Promise<string> {
    return (await this.client.experimental.tasks.getTask(task)).status;
  }
}

function taskOf({ _meta }: Result): TaskMeta {
  return _meta as unknown as TaskMeta;
}

/** Compares where a task is, for the client that continues it and for the one that watches, with what is expected. */
async function checkTask(watcher: Connection, task: TaskMeta, steps: string, reason?: string): Promise<void> {
  check('steps', task.steps.map(({ name, status }) => `${name} ${status}`).join(', '), steps);
  if (reason !== undefined) check('paused', task.pause_reason?.code, reason);
  check('the watcher sees', await watcher.status(task.task_id), task.task_status);
}

async function main(): Promise<void> {
  const cluster = new Cluster(join(folder, 'cluster.jsonl'));
  const connect = () => Promise.all([Connection.open('deployer'), Connection.open('watcher')]);
  const [deployer, watcher] = await connect();

  say("A client gets the prompt 'deploy_service'. No approval is among its arguments.");
  const paused = await deployer.prompt({ service: 'shop' });
  const done = 'config completed, resources completed';
  await checkTask(watcher, paused, `${done}, deployment failed, verified pending`, 'APPROVAL_MISSING');

  say('All servers are killed, and started again.');
  await Promise.all([deployer.kill(), watcher.kill()]);
  const [again, watching] = await connect();
  check('the watcher sees', await watching.status(paused.task_id), 'working');

  say('The client names who approved. The server continues by itself, and the replicas are not ready.');
  const deployed = await again.continue(paused, { approved_by: 'Grace' });
  await checkTask(watching, deployed, `${done}, deployment completed, verified failed`, 'NOT_READY');

  const [deployment] = cluster.deployments();
  if (deployment === undefined) throw new Error('the cluster has no deployment');
  cluster.markReady(deployment.id);
  say('The replicas are ready.');
  const verified = await again.continue(deployed);
  await checkTask(watching, verified, `${done}, deployment completed, verified completed`);
  check('status', verified.task_status, 'completed');
  check('deployments', cluster.deployments().length, 1);
  await Promise.all([again.kill(), watching.kill()]);
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
