import { setTimeout } from 'node:timers/promises';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { bodyText, jsonText } from '../../graph/printable-text.js';
import type { StepwrightServer, ToolResult } from '../../runtime/index.js';
import type { Envelope } from '../../runtime/runs/run/envelope.js';
import { readArguments } from '../../runtime/server/catalogue/arguments.js';
import type { LocalOutcome, LocalRun } from '../../runtime/server/local-run.js';
import { untypedServer } from '../../runtime/transports/start-server.js';
import { runProgram, type Terminal } from './terminal.js';

/** How the client of a terminal does work. */
export interface ClientChoice {
  /** Whether commands are run without a question. */
  readonly yes?: boolean;
  readonly 'deny-shell'?: boolean;
  /** A command that does tasks: instructions on stdin, the response on stdout. */
  readonly agent?: string;
}

/** A run that a terminal plays the client of. */
interface ClientRun extends Omit<LocalRun, 'progress'> {
  readonly graph: Graph;
  readonly terminal: Terminal;
  readonly choice: ClientChoice;
}

type Action = Envelope['actions'][number];

/** What is sent for an action. */
type Answer =
  | { readonly result?: Json }
  | { readonly error: { readonly code?: string; readonly message: string } };

/** Runs a workflow to its end, and does the work of its client on a terminal. */
export async function runAsClient(run: ClientRun): Promise<LocalOutcome> {
  const reading = readArguments(run.graph.inputs, run.args, new SchemaCompiler());
  if (!reading.ok) return { status: 'refused', problems: reading.problems };
  const { terminal, registry, options, workflows = [] } = run;
  const server = untypedServer(registry, { ...options, workflows });
  try {
    return await new TerminalClient(server, run).start(reading.input);
  } finally {
    terminal.close();
    await server.drain();
  }
}

const POLL_MS = 50;

/** After so many refused results a run is not continued: a question may be for other people. */
const MOST_REFUSALS = 20;

class TerminalClient {
  readonly #server: StepwrightServer;
  readonly #run: ClientRun;
  #refusals = 0;

  constructor(server: StepwrightServer, run: ClientRun) {
    this.#server = server;
    this.#run = run;
  }

  async start(inputs: JsonObject): Promise<LocalOutcome> {
    const { workflow } = this.#run;
    let reply = await this.#call('start_workflow', { name: workflow, inputs });
    for (;;) {
      const envelope = reply as unknown as Envelope;
      const { workflow_id, status, actions } = envelope;
      if (status !== 'running' && status !== 'waiting') return outcomeOf(envelope);
      const action = actions.find(({ type }) => type !== 'wait');
      if (action === undefined) {
        await this.#pause();
        reply = await this.#call('get_workflow_status', { workflow_id });
      } else if ('children' in action.parameters) {
        for (const child of action.parameters.children) await this.#child(child.workflow_id, child.item);
        reply = await this.#call('get_workflow_status', { workflow_id });
      } else {
        const { action_id } = action;
        const sent = { workflow_id, action_id, ...(await this.#answer(action)) };
        reply =
          (await this.#submit('submit_result', sent)) ??
          (await this.#call('get_workflow_status', { workflow_id }));
      }
    }
  }

  /** Does the steps of an item of a loop that agents drive. */
  async #child(workflow_id: string, item: Json): Promise<void> {
    this.#run.terminal.print(`Task for item ${jsonText(item)}`);
    let reply = await this.#call('get_next_step', { workflow_id });
    for (;;) {
      const { status, step } = reply as unknown as { readonly status: string; readonly step?: Action };
      if (status === 'waiting') {
        await this.#pause();
        reply = await this.#call('get_next_step', { workflow_id });
      } else if (step === undefined) return;
      else {
        const { step_id, action_id } = step;
        const sent = { workflow_id, step_id, action_id, ...(await this.#answer(step)) };
        reply =
          (await this.#submit('submit_step_result', sent)) ??
          (await this.#call('get_next_step', { workflow_id }));
      }
    }
  }

  async #answer(action: Action): Promise<Answer> {
    const { step_id, schema = {} } = action;
    const refused = action.refused_values?.at(-1)?.problems ?? [];
    for (const problem of refused) this.#run.terminal.print(`Step '${step_id}': ${problem}`);
    try {
      switch (action.type) {
        case 'shell':
          return await this.#shell(step_id, action.parameters);
        case 'mcp_call':
          return await this.#tool(step_id, action.parameters);
        case 'delegate':
          if ('children' in action.parameters) throw new Error('Nested agents are not driven here');
          return await this.#delegate(step_id, action.parameters);
        case 'prompt':
          return await this.#prompt(action.parameters, schema);
        default:
          throw new Error(`Step '${step_id}' has no answer`);
      }
    } catch (fault) {
      this.#run.signal.throwIfAborted();
      if (!(fault instanceof Error)) return { error: { message: String(fault) } };
      const isLate = fault.name === 'TimeoutError';
      return { error: { ...(isLate ? { code: 'E_TIMEOUT' } : {}), message: fault.message } };
    }
  }

  async #shell(step: string, { command, argv, env, timeout }: ParametersOf<'shell'>): Promise<Answer> {
    const { terminal, choice, signal } = this.#run;
    const shown =
      argv === undefined
        ? bodyText(command.trim())
        : [command, ...argv].map((word) => jsonText(word)).join(' ');
    const variables = Object.entries(env ?? {}).map(
      ([name, value]) => `${bodyText(name)}=${jsonText(value)}`,
    );
    const what = argv === undefined ? 'command' : 'program to run without a shell';
    const more = variables.length === 0 ? '' : `, with the variables ${variables.join(' ')}`;
    terminal.print(`Step '${step}' has a ${what}${more}:\n  ${shown.replaceAll('\n', '\n  ')}`);
    if (choice['deny-shell'] === true) return denied('Commands are denied by --deny-shell');
    if (choice.yes !== true && !isYes(await terminal.ask('Run it? [y/N]')))
      return denied('The user does not run the command');
    const program = { command, ...defined({ argv, env }), timeoutMs: timeout * 1_000, signal };
    const printed = await runProgram(program);
    return { result: { ...printed } };
  }

  /** Calls a tool that the server has as well, or asks for its result. */
  async #tool(step: string, { tool, args }: ParametersOf<'mcp_call'>): Promise<Answer> {
    const { terminal, registry } = this.#run;
    terminal.print(`Step '${step}' calls ${tool} ${jsonText(args)}`);
    if (Object.hasOwn(registry.tools, tool)) {
      const result = await this.#server.callTool(tool, args, this.#request());
      return { result: result as unknown as Json };
    }
    const line = await terminal.ask('Its result, as JSON or text:');
    return line === undefined ? unanswered() : { result: jsonOrText(line) };
  }

  async #delegate(step: string, parameters: ParametersOf<'delegate'>): Promise<Answer> {
    const { instructions, agent } = parameters;
    const { terminal, choice, signal } = this.#run;
    terminal.print(
      `Step '${step}' has a task for ${agent ?? 'you'}:\n  ${instructions.replaceAll('\n', '\n  ')}`,
    );
    if (choice.agent === undefined) {
      const line = await terminal.ask('The response:');
      return line === undefined ? unanswered() : { result: { response: line } };
    }
    const env = agent === null ? {} : { env: { STEPWRIGHT_AGENT: agent } };
    const printed = await runProgram({ command: choice.agent, input: instructions, ...env, signal });
    if (printed.exit_code === 0) return { result: { response: printed.stdout.trimEnd() } };
    const why = printed.stderr.trim();
    throw new Error(`The agent ended with exit code ${printed.exit_code}${why === '' ? '' : `: ${why}`}`);
  }

  async #prompt({ message, type, options }: ParametersOf<'prompt'>, schema: JsonObject): Promise<Answer> {
    const { terminal } = this.#run;
    terminal.print(message);
    if (type === 'info') return { result: { acknowledged: true } };
    const hint = { confirm: '[y/N]', text: '>', choice: `[${options?.join('/')}]` };
    const line = await terminal.ask(
      type in hint ? hint[type as keyof typeof hint] : `JSON ${jsonText(schema)}:`,
    );
    if (line === undefined) return unanswered();
    if (type === 'confirm') return { result: { confirmed: isYes(line) } };
    if (type === 'text') return { result: { input: line } };
    return { result: type === 'choice' ? { selected: line.trim() } : jsonOrText(line) };
  }

  async #pause(): Promise<void> {
    await setTimeout(POLL_MS, undefined, { signal: this.#run.signal });
  }

  async #call(tool: string, args: JsonObject): Promise<JsonObject> {
    const result = await this.#server.callTool(tool, args, this.#request());
    if (result.structuredContent !== undefined) return result.structuredContent as JsonObject;
    throw new Error(textIn(result));
  }

  /** Undefined for a result that is refused: its action is still open, and the person reads why. */
  async #submit(tool: string, args: JsonObject): Promise<JsonObject | undefined> {
    const result = await this.#server.callTool(tool, args, this.#request());
    if (result.structuredContent !== undefined) return result.structuredContent as JsonObject;
    this.#refusals += 1;
    if (this.#refusals === MOST_REFUSALS) throw new Error(textIn(result));
    this.#run.terminal.print(textIn(result));
    return undefined;
  }

  #request() {
    const { signal } = this.#run;
    return { requestId: 'terminal', local: true, peer: {}, progress: () => {}, signal };
  }
}

type ParametersOf<T extends Action['type']> = Exclude<
  Extract<Action, { type: T }>['parameters'],
  { readonly children: unknown }
>;

function outcomeOf({ status, result, error }: Envelope): LocalOutcome {
  if (status === 'completed') return { status: 'succeeded', ...(result === undefined ? {} : { result }) };
  const { code = 'E_FAIL', message = status } = error ?? {};
  return { status: status === 'cancelled' ? 'cancelled' : 'failed', failure: { code, message } };
}

function denied(message: string): Answer {
  return { error: { message } };
}

function unanswered(): Answer {
  return { error: { code: 'E_NOBODY_TO_ASK', message: 'The input ended without an answer' } };
}

function isYes(line: string | undefined): boolean {
  return /^\s*y(es)?\s*$/i.test(line ?? '');
}

function jsonOrText(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return line;
  }
}

function textIn({ content }: ToolResult): string {
  return content.map((part) => ('text' in part ? part.text : '')).join('\n');
}
