import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  inputRequired,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from '../../../decorators/client.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { skillFolder } from '../../../graph/names.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { ConnectionClosed, type RequestContext } from '../../runs/request.js';
import { ownerKey } from '../../runs/run/owner.js';
import type { QuestionRound } from '../../server/question-rounds.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import {
  type CacheSubject,
  FAILURE_META,
  faultCodes,
  invalidResponses,
  invalidState,
  ProtocolFault,
  type ToolResult,
} from '../../server/wire.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import type { Peer } from '../../tools/port.js';
import type { ObservedRequest } from '../../tools/telemetry.js';
import type { PromptTrace } from '../../trace/messages.js';
import {
  answerRequest,
  type ClientState,
  checkedParams,
  page,
  parseParams,
  text,
} from '../../transports/answer-request.js';
import { continuedTask, LISTENING, reportsOf, requestFault, withHeaders } from '../../transports/messages.js';
import type { StatelessCaller } from '../../transports/protocol-adapter.js';
import { type Askable, OpenCall, OpenCalls } from './open-calls.js';
import {
  answerTask,
  checkAnswers,
  inputRequestsOf,
  isTaskMethod,
  startTask,
  TASK_METHODS,
  TASKS_EXTENSION,
  type TaskClient,
  taskClientOf,
  UNCHECKED,
} from './tasks.js';

/** The methods that the server of the SDK does not answer itself. */
const METHODS = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
] as const;

const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

const CAPABILITIES = {
  ...LISTENING,
  extensions: { [TASKS_EXTENSION]: {}, [SKILLS_EXTENSION]: {} },
};

/** The SDK would make a compiler of schemas for each request, for answers that are requests of their own here. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('no question is put to a client during its request');
  },
};

/** A client is forgotten after its request. */
const FORGETFUL: ClientState = { subscribe() {}, unsubscribe() {}, setLogLevel() {} };

/** Who a server of the SDK answers. */
export interface Caller extends StatelessCaller {
  /** Whether the connection of its requests has ended. Default: its requests have no connection. */
  readonly hasEnded?: () => boolean;
  /** Whether its calls may be tasks. Default: true. */
  readonly hasTasks?: boolean;
}

export type HandlerContext = ServerContext;

/** A request of a client. */
interface Asked {
  readonly method: string;
  readonly params?: unknown;
}

/** What a request says of its client. The SDK has checked it. */
interface Envelope {
  readonly protocolVersion: string | undefined;
  readonly info: Implementation | undefined;
  readonly capabilities: JsonObject | undefined;
  readonly logLevel: LogLevel | undefined;
}

/** A request, as its envelope describes it. */
interface Received {
  readonly context: ServerContext;
  readonly envelope: Envelope;
  readonly client: TaskClient;
}

/** Makes the servers of the SDK that answer clients of revision 2026-07-28. */
export class StatelessServers {
  readonly #server: StepwrightServer;
  readonly #log: Log;
  readonly #calls = new OpenCalls();

  constructor(server: StepwrightServer, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** @param only the method of the one request that it answers. Default: all. */
  serverFor(caller: Caller, only?: string): Server {
    const { info, instructions } = this.#server;
    const protocol = new TaskServer(info as Implementation, {
      capabilities: CAPABILITIES,
      jsonSchemaValidator: NO_VALIDATOR,
      cacheHints: { 'server/discover': this.#server.cacheHint('lists', caller) },
      ...defined({ instructions }),
    });
    const answer = (request: { method: string; params?: unknown }, context: ServerContext) =>
      this.#answerWith(caller, request, context) as Promise<never>;
    const isAsked = (method: string): boolean => only === undefined || only === method;
    for (const method of [...METHODS, ...TASK_METHODS, ...SKILL_METHODS].filter(isAsked))
      protocol.setRequestHandler(method, UNCHECKED, (params, context) => answer({ method, params }, context));
    return protocol;
  }

  /**
   * Declares the extensions of the server on one of the SDK that exists, and answers their methods.
   *
   * @param handlers of that server by method: it keeps them.
   * @returns what answers any request for what the server has.
   */
  addTo(host: Server, handlers: ReadonlyMap<string, unknown>, callerOf: (context: ServerContext) => Caller) {
    // An id does not say whether a task is the server's own or a run's.
    const hasTasks = !handlers.has('tasks/get');
    const answer = async (request: Asked, context: ServerContext): Promise<object> => {
      const { inputResponses } = context.mcpReq;
      checkAnswers(request.method, defined({ inputResponses }));
      return this.#answerWith({ ...callerOf(context), hasTasks }, request, context);
    };
    const methods = [...(hasTasks ? TASK_METHODS : []), ...SKILL_METHODS];
    for (const method of methods.filter((each) => !handlers.has(each)))
      host.setRequestHandler(
        method,
        UNCHECKED,
        (params, context) => answer({ method, params }, context) as Promise<never>,
      );
    host.registerCapabilities({
      extensions: { ...(hasTasks ? { [TASKS_EXTENSION]: {} } : {}), [SKILLS_EXTENSION]: {} },
    });
    return answer;
  }

  /** Logs a message of a client that the SDK has refused. */
  refused(error: Error): void {
    this.#log(`a request of a client was refused: ${oneLine(error.message, 200)}`, {
      event: 'connection.message',
      level: 'warning',
    });
  }

  /** Cancels the requests that wait for answers of their clients. */
  end(reason: Error): void {
    this.#calls.end(reason);
  }

  async #answerWith(caller: Caller, message: Asked, context: ServerContext): Promise<object> {
    const { signal, requestState, inputResponses, droppedInputResponseKeys = [] } = context.mcpReq;
    const reports = reportsOf(
      context.mcpReq._meta?.progressToken,
      (params) => context.mcpReq.notify({ method: 'notifications/progress', params }),
      this.#log,
    );
    const reason = (): unknown =>
      caller.hasEnded?.() ? new ConnectionClosed('the connection was closed') : signal.reason;
    const envelope = envelopeOf(context);
    const client = taskClientOf(envelope.capabilities, caller.hasTasks);
    const log = logOf(context, envelope);
    const exchange = { context, log, progress: reports?.progress, reason };
    const owner = (): string => this.#ownerOf(caller, message);
    const state = requestState<unknown>();
    if (state !== undefined && typeof state !== 'string') throw invalidState();
    if (droppedInputResponseKeys.length > 0) throw invalidResponses(droppedInputResponseKeys);
    const open = state === undefined ? undefined : this.#calls.take(state, owner, inputResponses);
    open?.resume(exchange);
    const askable = askableOf(envelope, client);
    const call = open ?? new OpenCall(this.#calls, owner, exchange, askable, peerOf(context, envelope));
    const endTurn = await caller.turn?.(message.method, call.signal);
    try {
      if (open === undefined) call.begin(this.#work(caller, message, { context, envelope, client }, call));
      return await call.next();
    } finally {
      await reports?.end();
      endTurn?.();
    }
  }

  /** Who may continue a request, and which one. */
  #ownerOf({ auth }: Caller, { method, params }: Asked): string {
    const holder = auth === undefined ? null : ownerKey(this.#server.ownerOf({ auth }));
    return canonicalJson([subjectOf(method, params), holder]);
  }

  async #work(
    { auth, local, remoteAddress }: Caller,
    { method, params }: Asked,
    { context, envelope, client }: Received,
    call: OpenCall,
  ): Promise<object> {
    const { signal, peer, progress } = call;
    const request: RequestContext = {
      signal,
      requestId: String(context.mcpReq.id),
      peer,
      progress,
      ...continuedTask(context.mcpReq._meta),
      ...defined({ auth: auth as RequestContext['auth'], local, remoteAddress }),
    };
    const work = async (admitted: RequestContext): Promise<object> => {
      if (method === 'tools/call') return this.#call(params, { context, client }, call, admitted);
      if (method === 'prompts/get') return this.#prompt(params, { context, client }, admitted);
      if (isSkillMethod(method)) return answerSkills(this.#server, { method, params }, admitted, this.#log);
      if (isTaskMethod(method))
        return answerTask(this.#server.tasks, { method, params }, client, context.mcpReq, admitted);
      if (context.mcpReq.requestState() !== undefined) throw invalidState();
      const result = await answerRequest(this.#server, FORGETFUL, { method, params }, admitted);
      const subject = cacheSubjectOf(method, params);
      return subject === undefined ? result : { ...this.#server.cacheHint(subject, admitted), ...result };
    };
    const admit = () => this.#server.admit(request, work, (reason) => signal.abort(reason), false);
    try {
      const { telemetry } = this.#server;
      if (telemetry === undefined) return await admit();
      const { protocolVersion } = envelope;
      const transport: ObservedRequest['transport'] =
        context.http !== undefined ? 'http' : local === true ? 'pipe' : undefined;
      const observed = { method, params, requestId: request.requestId };
      return await telemetry.request({ ...observed, ...defined({ protocolVersion, transport }) }, admit);
    } catch (error) {
      throw requestFault(error, method, this.#log);
    }
  }

  /** Calls a tool. What its run asks is the result, and the next request for the call has the answers. */
  async #call(
    params: unknown,
    { context: { mcpReq }, client }: Pick<Received, 'context' | 'client'>,
    open: Pick<OpenCall, 'lacking'>,
    request: RequestContext,
  ): Promise<object> {
    const state = mcpReq.requestState<string>();
    const task = state === undefined ? await startTask(this.#server, params, client, request) : undefined;
    if (task !== undefined) return task;
    const { name = '' } = params as { readonly name?: string };
    const subject = (): string => subjectOf('tools/call', params);
    const { result, call } =
      state === undefined
        ? await this.#firstRound(params, subject, request)
        : await this.#nextRound(state, { tool: name, subject: subject() }, mcpReq, request);
    if (call === undefined || !canPut(client)) return unlessLacking(result, open.lacking);
    const questions = await this.#server.questions();
    const round = await questions.next(call, client, request);
    return round === undefined ? unlessLacking(result, open.lacking) : inputOf(round);
  }

  /** Gives a prompt. What its run asks is the result, as for a call, and the next request gives the whole conversation. */
  async #prompt(
    params: unknown,
    { context: { mcpReq }, client }: Pick<Received, 'context' | 'client'>,
    request: RequestContext,
  ): Promise<object> {
    // Most prompts ask nothing: neither it nor what puts questions is needed then.
    const subject = (): string => subjectOf('prompts/get', params);
    const state = mcpReq.requestState<string>();
    const resumes =
      state === undefined
        ? undefined
        : await (await this.#server.questions()).open(state, subject(), mcpReq.inputResponses ?? {}, request);
    const how = resumes === undefined ? request : { ...request, resumes };
    const trace = await answerRequest(this.#server, FORGETFUL, { method: 'prompts/get', params }, how);
    const { status, workflow_id: run } = ((trace as Partial<PromptTrace>)._meta ?? {}) as Partial<
      PromptTrace['_meta']
    >;
    if (!canPut(client) || status !== 'running' || run === undefined) return trace;
    const { messages: said } = trace as PromptTrace;
    const { rounds = 0, pages } = resumes ?? {};
    const call = { subject: subject(), run, rounds, said, ...defined({ pages }) };
    const questions = await this.#server.questions();
    const round = await questions.next(call, client, request);
    return round === undefined ? trace : inputOf(round);
  }

  async #nextRound(
    state: string,
    call: { readonly tool: string; readonly subject: string },
    { inputResponses = {} }: ServerContext['mcpReq'],
    request: RequestContext,
  ) {
    const questions = await this.#server.questions();
    return questions.answer(state, call, inputResponses, request);
  }

  async #firstRound(params: unknown, subject: () => string, request: RequestContext) {
    const answer = await answerRequest(this.#server, FORGETFUL, { method: 'tools/call', params }, request);
    const result = answer as ToolResult;
    const { status, workflow_id: run } = (result.structuredContent ?? {}) as Readonly<
      Record<string, unknown>
    >;
    const waits = status === 'waiting' && typeof run === 'string';
    return { result, call: waits ? { subject: subject(), run, rounds: 0 } : undefined };
  }
}

/** What a state is of: it cannot be used for another request, nor for the same one with other arguments. */
function subjectOf(method: string, params: unknown): string {
  const { name, uri, arguments: args = {} } = (params ?? {}) as Readonly<Record<string, Json | undefined>>;
  return `${method} ${sha256Hex(canonicalJson([name ?? uri ?? null, args]))}`;
}

/** Whether a client puts questions to its user. */
function canPut({ canAsk, canOpen }: TaskClient): boolean {
  return canAsk || canOpen;
}

/** What a client is asked. */
function inputOf({ questions, state }: QuestionRound): object {
  const inputRequests = inputRequestsOf(questions);
  return inputRequired({ ...(questions.length === 0 ? {} : { inputRequests }), requestState: state });
}

/**
 * The result of a tool.
 *
 * @throws ProtocolFault -32021 for one that has failed because the client lacks a capability.
 */
function unlessLacking(result: ToolResult, lacking: string | undefined): ToolResult {
  const failure = result._meta?.[FAILURE_META] as
    | { readonly code: string; readonly message: string }
    | undefined;
  // A workflow gives what it did before.
  const isOfTool = failure?.code === 'E_CLIENT_UNSUPPORTED' && result.structuredContent === undefined;
  if (!isOfTool || lacking === undefined) return result;
  throw new ProtocolFault(ProtocolErrorCode.MissingRequiredClientCapability, failure.message, {
    requiredCapabilities: { [lacking]: {} },
  });
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * Checks what the SDK does not: over stdio it reads the revision of the first message alone, drops answers that are not
 * an object, and names the params of a call that do not fit by the issues of its schemas.
 *
 * @throws ProtocolFault for a request that is refused.
 */
function checkRequest({ method, params }: JSONRPCRequest, served: string | undefined): void {
  const { [PROTOCOL_VERSION_META_KEY]: requested = served } = (params?._meta ?? {}) as JsonObject;
  if (served !== undefined && typeof requested === 'string' && requested !== served)
    throw new ProtocolFault(
      ProtocolErrorCode.UnsupportedProtocolVersion,
      `Unsupported protocol version: ${clip(requested)}`,
      { supported: [served], requested },
    );
  if (method === 'tools/call') parseParams(method, params);
  checkAnswers(method, params);
}

/** A server of the SDK with tasks: the SDK takes them for results of tools, and adds an empty content. */
class TaskServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const { onmessage } = transport;
    const checked: Transport['onmessage'] = (message, extra) => {
      try {
        if ('method' in message && 'id' in message)
          checkRequest(message, this.getNegotiatedProtocolVersion());
      } catch (error) {
        const { code, message: text, data } = error as ProtocolFault;
        const refusal = { code, message: text, ...defined({ data }) };
        const { id } = message as JSONRPCRequest;
        // A client that has left needs no answer.
        transport.send({ jsonrpc: '2.0', id, error: refusal }).catch(() => {});
        return;
      }
      onmessage?.(message, extra);
    };
    transport.onmessage = checked;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      const result = await wrapped(request, context);
      if (result.resultType !== 'task') return result;
      const { content: _, ...task } = result;
      return task;
    };
  }
}

/** What the client can be asked, by its request. */
function askableOf({ capabilities = {} }: Envelope, { canAsk }: TaskClient): Askable {
  return {
    elicit: canAsk,
    sample: isJsonObject(capabilities.sampling),
    roots: isJsonObject(capabilities.roots),
  };
}

/** What a client may keep of the result of a request. */
function cacheSubjectOf(method: string, params: unknown): CacheSubject | undefined {
  if (method.endsWith('/list')) return 'lists';
  return method === 'resources/read' ? (params as { readonly uri: string }) : undefined;
}

function envelopeOf({ mcpReq }: ServerContext): Envelope {
  const envelope = (mcpReq.envelope ?? {}) as Readonly<Record<string, never>>;
  return {
    protocolVersion: envelope[PROTOCOL_VERSION_META_KEY],
    info: envelope[CLIENT_INFO_META_KEY],
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY],
    logLevel: envelope[LOG_LEVEL_META_KEY],
  };
}

/** The client, as its request describes it. */
function peerOf({ http }: ServerContext, { info, capabilities = {} }: Envelope): Peer {
  const peer: Peer =
    info === undefined
      ? {}
      : {
          client: { name: info.name, version: info.version, ...defined({ title: info.title }), capabilities },
        };
  const headers = http?.req?.headers;
  return headers === undefined ? peer : withHeaders(peer, () => headers.entries());
}

/** Sends log messages. Without a level the client wants none. */
function logOf({ mcpReq: { notify } }: ServerContext, { logLevel: least }: Envelope): Peer['log'] {
  if (least === undefined) return undefined;
  return (level, data, logger) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    // A client that has left reads no log.
    notify({ method: 'notifications/message', params: { level, data, ...defined({ logger }) } }).catch(
      () => {},
    );
  };
}

// Skills as the extension of revision 2026-07-28 has them. Each is a resource, and has one file, `SKILL.md`.

const SKILL_METHODS = ['skills/list', 'skills/get'] as const;

type SkillMethod = (typeof SKILL_METHODS)[number];

function isSkillMethod(method: string): method is SkillMethod {
  return SKILL_METHODS.some((each) => each === method);
}

/**
 * Answers a request about skills. A page of skills is what a page of resources has of them; one that cannot be read is
 * left out, and logged.
 *
 * @throws ProtocolFault for an address that is of no skill, or that the caller cannot read.
 */
async function answerSkills(
  server: StepwrightServer,
  { method, params }: { readonly method: SkillMethod; readonly params?: unknown },
  context: RequestContext,
  log: Log,
): Promise<object> {
  if (method === 'skills/get') {
    const { uri } = checkedParams(method, z.looseObject({ uri: text() }), params);
    return { skill: await skillAt(server, uri, context), ...server.cacheHint({ uri }, context) };
  }
  const { cursor } = checkedParams(method, page(), params);
  const { resources, nextCursor } = await server.listResources(cursor);
  const skills = await Promise.all(
    resources
      .filter(({ uri }) => skillFolder(uri) !== undefined)
      .map(({ uri }) =>
        skillAt(server, uri, context).catch((error: unknown) => {
          log(`the skill ${uri} is not listed: ${thrownText(error)}`, { event: 'resource.threw' });
          return undefined;
        }),
      ),
  );
  return {
    skills: skills.filter((skill) => skill !== undefined),
    ...defined({ nextCursor }),
    ...server.cacheHint('lists', context),
  };
}

/** The entry of a skill, with the digest of its file. */
async function skillAt(server: StepwrightServer, uri: string, context: RequestContext) {
  const folder = skillFolder(uri);
  if (folder === undefined)
    throw new ProtocolFault(
      faultCodes.invalidParams,
      `'${clip(uri)}' is not the address of a skill, such as skill://travel/book-trip/SKILL.md`,
    );
  const { contents } = await server.readResource(uri, context);
  const [content] = contents;
  const { skillEntry } = await import('@modelcontextprotocol/server/ext/skills');
  return skillEntry(folder, { 'SKILL.md': content !== undefined && 'text' in content ? content.text : '' });
}
