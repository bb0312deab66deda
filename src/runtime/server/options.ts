import type { Icon } from '../../decorators/decorate.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import { isRole } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { DEFAULT_TIMEOUT_MS, MAX_DURATION_MS } from '../../graph/limits.js';
import type { Domain } from '../../graph/model.js';
import type { PlanningHints } from '../../infer/tool.js';
import type { ModelFunction } from '../runs/actions/model-values.js';
import { type RunStoreSource, STORE_FORMS, sourceOf } from '../runs/operate/run-stores.js';
import { type OwnerRule, randomId } from '../runs/run/owner.js';
import { DEFAULT_LIMITS, FILE_LIMITS, type RunLimits } from '../runs/run-store.js';
import type { Journal } from '../runs/store/journal.js';
import type { WithFactories } from '../tools/instances.js';
import { encodedLog, type Log, type LogFunction, RECORD_LEVELS, type RecordLevel } from '../tools/log.js';
import type { Middleware } from '../tools/middleware.js';
import type { Registry } from '../tools/registry.js';
import type { Telemetry } from '../tools/telemetry.js';
import type { UpstreamPort } from '../upstream/port.js';
import { DEFAULT_PREFIX } from './composite/served-workflows.js';
import type { LifecycleHooks } from './lifecycle.js';
import type { BuiltWorkflow } from './registrations.js';
import type { ServerInfo } from './stepwright-server.js';
import type { TaskRouter } from './tasks/task-router.js';

/** Options of a server beside the factories of its classes. */
export interface ServerSettings extends OwnerRule, LifecycleHooks {
  /**
   * The longest result of a run that a workflow's tool, `submit_result` and `get_workflow_status` return, in UTF-16 code
   * units of its text. A longer one is read in parts, or as the resource that the answer links. Default: 50 000, since
   * hosts cut off more.
   */
  readonly maxResultChars?: number;
  /** What the server calls itself. Default: `stepwright`. */
  readonly name?: string;
  /** Default: `0.0.0`. */
  readonly version?: string;
  /** A name for people. Default: `name`. */
  readonly title?: string;
  /** What the server is, for people. Default: none. */
  readonly description?: string;
  /** An absolute URL (`https:` or `http:`) of a page about the server. Default: none. */
  readonly websiteUrl?: string;
  /** Icons of the server. Default: none. */
  readonly icons?: readonly Icon[];
  /** What a client should know about the server as a whole. */
  readonly instructions?: string;
  /**
   * What the overviews of workflows (`workflow://{domain}/overview`) say about their domains: rules, and documents in
   * Markdown. `parseWorkflows` returns those of a spec file. Default: none.
   */
  readonly domains?: readonly Domain[];
  /** Items per page of a list, at least 1. Default: 100. */
  readonly pageSize?: number;
  /**
   * How much the tool of a workflow says about it. `'full'` adds a box with its flow, what happens on a failure, and its
   * parameters, within 1,024 characters. Default: `'short'`, the description of the workflow and whether it may wait.
   */
  readonly describe?: 'short' | 'full';
  /** Whether listed tools have their output schemas. Default: true. */
  readonly outputSchemas?: boolean;
  /**
   * Whether clients get the order of tools: the descriptions of listed tools end with their hints, declared or derived from
   * the workflows, and the instructions say what to choose first. Default: true. Without it the `_meta` of a tool still
   * has its declared hints.
   */
  readonly hints?: boolean;
  /**
   * Whether clients get the tool `_plan`, which suggests workflows or a sequence of tools for a goal. Default: false.
   */
  readonly planTool?: boolean;
  /** Whether clients get the tool `get_workflow_state`, which shows the state of a run. Default: false. */
  readonly debug?: boolean;
  /**
   * Whether clients get the tool `validate_workflow`, which checks the text of a file of workflows. Default: false.
   */
  readonly validateTool?: boolean;
  /**
   * What the names of workflows' tools begin with: at most 32 letters, digits, `_` and `-`, or nothing. Default: `w_`.
   */
  readonly workflowPrefix?: string;
  /**
   * How long clients of version 2026-07-28 may keep results without asking again, in ms: `0` for not at all.
   */
  readonly cache?: CacheSettings;
  /** How long a prompt may run in all, in ms. Default: 45 000, since clients time out after 60 s. */
  readonly promptTimeoutMs?: number;
  /** How long a direct call of a tool may take, in ms. Default: 60 000. */
  readonly toolTimeoutMs?: number;
  /**
   * How long the call of a workflow's tool waits for its run, in ms; a run that takes longer goes on, and can be asked
   * for. Default: 45 000, since clients time out after 60 s.
   */
  readonly toolAnswerMs?: number;
  /**
   * How long requests and runs in flight may take to finish once the server is drained, in ms; what is left then ends
   * with a hand-off. Default: 8 000, since containers are killed 10 s after SIGTERM.
   */
  readonly drainTimeoutMs?: number;
  /** How much of its clients' runs the server keeps. */
  readonly runs?: Partial<RunLimits>;
  /**
   * Where the steps of runs are written before they are executed, secrets included. A run that cannot
   * be written down is lost. Default: nowhere, since runs end with the process.
   */
  readonly journal?: Journal;
  /**
   * Where runs are kept that outlast a request. `'memory'`: they end with the process. `'sqlite:PATH'`: in a file, so that
   * a later process goes on with them. One server uses a file at a time. Values are not encrypted: a workflow with
   * secrets is refused with `E_STORE_SECRETS`. `'temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE'`, or `temporal()` of
   * `stepwright/temporal`: on a Temporal server. Default: `'memory'`.
   */
  readonly store?: 'memory' | `sqlite:${string}` | `temporal://${string}` | RunStoreSource;
  /**
   * Supplies the values of `ask.model`: JSON that fits `schema`. A value that does not fit is asked for again at most
   * twice, with the `errors`; then the step fails with `E_MODEL_VALUE`, as it does if the function throws. Its time
   * counts to the step's `timeoutMs`. Default: the client's model if `allowSampling`, else the caller.
   */
  readonly model?: ModelFunction;
  /**
   * Whether the client's model is asked for values of `ask.model`, and does tasks without an agent, where the client
   * offers sampling. Default: false.
   */
  readonly allowSampling?: boolean;
  /**
   * The roles of the user of this process, who speaks over stdio: which questions with `answerBy: role(…)` it may
   * answer. Default: none.
   */
  readonly localRoles?: readonly string[];
  /**
   * Pages on which people answer the questions of workflows, over HTTP. Default: they have no pages, and a workflow with `human()` is refused.
   */
  readonly questions?: QuestionSettings;
  /** Makes the id of a run, which must be impossible to guess. Default: 128 random bits, in hexadecimal digits. */
  readonly newRunId?: () => string;
  /**
   * Runs around every tool call, of clients and of workflow steps alike; the first one outermost. Default: none.
   */
  readonly middleware?: readonly Middleware[];
  /**
   * Reaches the tools of upstream servers: `upstreamServers(config.upstream)`. The server closes it when it stops.
   * Default: calls of such tools fail with `E_UPSTREAM_CONFIG`.
   */
  readonly upstream?: UpstreamPort;
  /**
   * Replaces the router of tasks: gets that over the runs of the server, and returns the one that `server.tasks` and
   * clients reach. Default: that over the runs.
   */
  readonly taskRouter?: (runs: TaskRouter) => TaskRouter;
  /** Reports requests, runs and calls: `openTelemetry()` of `stepwright/opentelemetry`. Default: nothing does. */
  readonly telemetry?: Telemetry;
  /** Workflows a program has built, offered beside those of the registry. Default: none. */
  readonly workflows?: readonly BuiltWorkflow[];
  /** Workflows in YAML, JSON and XML, offered beside those of the registry. Default: none. */
  readonly specs?: SpecSettings;
  /** Other catalogues by name, which clients choose over HTTP: `/mcp/<name>`. Default: none. */
  readonly profiles?: Readonly<Record<string, Profile>>;
  /**
   * Whether clients get workflows. Without them there are no tools, prompts and resources of workflows, no `_plan`, and
   * nothing about them in the instructions; spec files are not read. Default: true.
   */
  readonly offerWorkflows?: boolean;
  /** Prompts without a class, offered beside those of the registry. Default: none. */
  readonly prompts?: readonly SimplePrompt[];
  /**
   * Receives what clients must not see, an entry at a time: what tools, resources, functions and prompts threw, with its
   * stack, its causes and the run; errors in middleware; warnings at the start. An entry comes as text and as a record
   * for programs. Secrets are masked, and ids of runs left out. Default: writes the text to stderr.
   */
  readonly log?: LogFunction;
  /** What matters less is not logged. `debug` has the start and the end of every run. Default: `info`. */
  readonly logLevel?: RecordLevel;
}

/** Settings with their defaults. */
export interface ResolvedSettings
  extends Required<
    Omit<
      ServerSettings,
      | keyof ServerInfo
      | 'instructions'
      | 'runs'
      | 'journal'
      | 'store'
      | 'model'
      | 'upstream'
      | 'specs'
      | 'questions'
      | 'telemetry'
      | 'taskRouter'
      | 'log'
      | 'logLevel'
      | keyof OwnerRule
      | keyof LifecycleHooks
    >
  > {
  readonly info: ServerInfo;
  readonly hooks: LifecycleHooks;
  readonly log: Log;
  readonly ownerRule: OwnerRule;
  readonly runs: RunLimits;
  readonly journal?: Journal;
  /** Whether the options say where runs are kept. */
  readonly keepsRuns: boolean;
  /** Missing for a store in memory, and with a journal. */
  readonly storeSource?: RunStoreSource;
  readonly model?: ModelFunction;
  readonly upstream?: UpstreamPort;
  /** Whether hosts that show apps get the app of questions. */
  readonly questionApp: boolean;
  readonly questionRounds: number;
  readonly questions?: QuestionSettings;
  readonly telemetry?: Telemetry;
  readonly taskRouter?: ServerSettings['taskRouter'];
  readonly instructions?: string;
  readonly specs: SpecSettings & Required<Pick<SpecSettings, 'root' | 'watch'>>;
  /** Whether the options have spec files or profiles. */
  readonly hasSpecs: boolean;
}

/**
 * Options of a server: its settings, and a factory for each class whose constructor takes parameters. The options as
 * a whole may be left out where no class needs one.
 *
 * @typeParam W the workflows that a program has built.
 * @typeParam P its prompts without a class.
 * @typeParam X what the names of workflows' tools begin with.
 */
export type ServerOptions<
  R extends Registry,
  W extends readonly BuiltWorkflow[] = readonly BuiltWorkflow[],
  P extends readonly SimplePrompt[] = readonly SimplePrompt[],
  X extends string = string,
> = WithFactories<
  R,
  ServerSettings & { readonly workflows?: W; readonly prompts?: P; readonly workflowPrefix?: X }
>;

/**
 * Fills defaults in.
 *
 * @throws RangeError for a limit that is not a positive whole number.
 */
export function resolveSettings(settings: ServerSettings): ResolvedSettings {
  const limits = {
    pageSize: settings.pageSize ?? 100,
    maxResultChars: settings.maxResultChars ?? 50_000,
    promptTimeoutMs: settings.promptTimeoutMs ?? 45_000,
    toolTimeoutMs: settings.toolTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    toolAnswerMs: settings.toolAnswerMs ?? 45_000,
    drainTimeoutMs: settings.drainTimeoutMs ?? 8_000,
  };
  const ofRuns = Object.entries(settings.runs ?? {}).map(([name, limit]) => [`runs.${name}`, limit] as const);
  checkLimits([...Object.entries(limits), ...ofRuns]);
  const store = storeOf(settings);
  const outlivesProcess = store.storeSource !== undefined;
  const runs = { ...(outlivesProcess ? FILE_LIMITS : DEFAULT_LIMITS), ...settings.runs };
  return {
    ...limits,
    runs,
    hooks: hooksOf(settings),
    ownerRule: ownerRuleOf(settings),
    info: serverInfoOf(settings),
    newRunId: settings.newRunId ?? randomId,
    describe: oneOf('describe', settings.describe ?? 'short', ['short', 'full']),
    outputSchemas: settings.outputSchemas ?? true,
    hints: settings.hints ?? true,
    planTool: settings.planTool ?? false,
    debug: settings.debug ?? false,
    validateTool: settings.validateTool ?? false,
    domains: settings.domains ?? [],
    workflowPrefix: prefixOf(settings),
    middleware: settings.middleware ?? [],
    workflows: settings.workflows ?? [],
    prompts: settings.prompts ?? [],
    cache: settings.cache ?? {},
    specs: { ...settings.specs, root: settings.specs?.root ?? '.', watch: settings.specs?.watch ?? true },
    keepsRuns: settings.store !== undefined || settings.journal !== undefined,
    hasSpecs: settings.specs !== undefined || settings.profiles !== undefined,
    profiles: settings.profiles ?? {},
    offerWorkflows: settings.offerWorkflows ?? true,
    log: encodedLog(settings.log, oneOf('logLevel', settings.logLevel ?? 'info', RECORD_LEVELS)),
    allowSampling: settings.allowSampling ?? false,
    localRoles: localRolesOf(settings),
    ...defined({ model: settings.model, upstream: settings.upstream }),
    ...questionsOf(settings),
    ...telemetryOf(settings),
    ...taskRouterOf(settings),
    ...store,
    ...defined({ journal: settings.journal, instructions: settings.instructions }),
  };
}

/** Programs in JavaScript may pass anything. */
function oneOf<T extends string>(option: string, value: T, values: readonly T[]): T {
  if (values.includes(value)) return value;
  throw new RangeError(`${option} must be '${values.join("' or '")}', not ${JSON.stringify(value)}`);
}

/** @throws RangeError for any other value. */
function taskRouterOf({ taskRouter }: ServerSettings): Pick<ServerSettings, 'taskRouter'> {
  if (taskRouter === undefined || typeof taskRouter === 'function') return defined({ taskRouter });
  throw new RangeError(
    `taskRouter must be a function that returns a TaskRouter, not a value of type ${typeof taskRouter}`,
  );
}

function telemetryOf({ telemetry }: ServerSettings): Pick<ServerSettings, 'telemetry'> {
  if (telemetry === undefined) return {};
  if (typeof telemetry.request === 'function') return { telemetry };
  throw new RangeError(
    `telemetry must be the value that openTelemetry() returns, not a value of type ${typeof telemetry}`,
  );
}

/** @throws RangeError for a malformed store, and for one beside a journal. */
function storeOf({ store = 'memory', journal }: ServerSettings): Pick<ResolvedSettings, 'storeSource'> {
  if (store === 'memory') return {};
  const source = typeof store === 'object' && typeof store?.open === 'function' ? store : undefined;
  const storeSource = typeof store === 'string' ? sourceOf(store) : source;
  if (storeSource === undefined) {
    throw new RangeError(
      `store must be 'memory', ${STORE_FORMS} or the value that temporal() returns, not ${JSON.stringify(store)}`,
    );
  }
  if (journal === undefined) return { storeSource };
  const shown = typeof store === 'string' ? `'${store}' ` : '';
  throw new RangeError(`store ${shown}has a journal of its own: leave the option journal out`);
}

function prefixOf({ workflowPrefix = DEFAULT_PREFIX }: ServerSettings): string {
  if (/^[A-Za-z0-9_-]{0,32}$/.test(workflowPrefix)) return workflowPrefix;
  const shown = JSON.stringify(workflowPrefix);
  throw new RangeError(
    `workflowPrefix must be at most 32 characters of A-Z, a-z, 0-9, _ and -, not ${shown}`,
  );
}

function localRolesOf({ localRoles = [] }: ServerSettings): readonly string[] {
  const fault = localRoles.find((role) => !isRole(role));
  if (fault === undefined) return localRoles;
  const shown = JSON.stringify(fault);
  throw new RangeError(
    `localRoles must list roles of 1 to 128 printable characters without quotes, not ${shown}`,
  );
}

/** @throws RangeError for a limit that is not a positive whole number. */
export function checkLimits(limits: Iterable<readonly [name: string, limit: number]>): void {
  for (const [name, limit] of limits) {
    const most = name.endsWith('Ms') ? MAX_DURATION_MS : 0x7fffffff;
    if (!Number.isInteger(limit) || limit < 1 || limit > most) {
      throw new RangeError(`${name} must be a whole number from 1 to ${most}, not ${limit}`);
    }
  }
}

function ownerRuleOf({ owner, subjectClaim }: ServerSettings): OwnerRule {
  if (owner !== undefined) oneOf('owner', owner, ['subject', 'client+subject']);
  if (subjectClaim === '') throw new RangeError('subjectClaim must name a claim, and is empty');
  return { ...defined({ owner, subjectClaim }) };
}

/**
 * What a server says about itself.
 *
 * @throws RangeError for an address that is not absolute.
 */
function serverInfoOf(settings: ServerSettings): ServerInfo {
  const { name = 'stepwright', version = '0.0.0', title, description, websiteUrl, icons } = settings;
  if (websiteUrl !== undefined) checkAddress('websiteUrl', websiteUrl, ['https:', 'http:']);
  for (const [index, { src }] of (icons ?? []).entries())
    checkAddress(`icons[${index}].src`, src, ['https:', 'http:', 'data:']);
  return {
    name,
    version,
    ...defined({ title, description, websiteUrl, icons }),
  };
}

function checkAddress(option: string, address: string, schemes: readonly string[]): void {
  const scheme = URL.canParse(address) ? new URL(address).protocol : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return;
  throw new RangeError(
    `${option} must be an absolute URL (${schemes.join(', ')}), not ${JSON.stringify(address)}`,
  );
}

/** @throws RangeError for a hook that is not a function. */
function hooksOf({ onStart, onStop }: ServerSettings): LifecycleHooks {
  for (const [name, hook] of Object.entries({ onStart, onStop })) {
    if (hook !== undefined && typeof hook !== 'function')
      throw new RangeError(`${name} must be a function, not a value of type ${typeof hook}`);
  }
  return { ...defined({ onStart, onStop }) };
}

/** The shortest key of questions. */
const KEY_LENGTH = 32;

/** @throws RangeError for an address that is not one, and for a short key. */
function questionsOf({
  questions,
}: ServerSettings): Pick<ResolvedSettings, 'questions' | 'questionApp' | 'questionRounds'> {
  const { page, publicUrl, key, app = false, rounds = 5 } = questions ?? {};
  checkLimits([['questions.rounds', rounds]]);
  if (typeof app !== 'boolean')
    throw new RangeError(`questions.app must be true or false, not ${JSON.stringify(app)}`);
  if (page !== undefined && typeof page !== 'boolean')
    throw new RangeError(`questions.page must be true or false, not ${JSON.stringify(page)}`);
  if (publicUrl !== undefined) checkAddress('questions.publicUrl', publicUrl, ['https:', 'http:']);
  if (publicUrl !== undefined && page !== true)
    throw new RangeError(
      'questions.publicUrl is the address of pages: set questions.page to true, or remove it',
    );
  if (key !== undefined && (typeof key !== 'string' || key.length < KEY_LENGTH))
    throw new RangeError(
      `questions.key must be a text of ${KEY_LENGTH} characters or more: \`openssl rand -base64 32\` makes one`,
    );
  const has = page === true || key !== undefined;
  return {
    questionApp: app,
    questionRounds: rounds,
    ...(has ? { questions: { page: page === true, ...defined({ publicUrl, key }) } } : {}),
  };
}

/** How people answer the questions of workflows. */
export interface QuestionSettings {
  /** Whether each question has a page at `/questions/…` of the server over HTTP. Default: false. */
  readonly page?: boolean;
  /**
   * Where people reach the server, as an absolute URL: `https://agents.example.com`. Default: the origin of
   * `auth.resource`, else of the requests of clients, which is not right behind a proxy with TLS.
   */
  readonly publicUrl?: string;
  /**
   * Whether hosts that show apps (`io.modelcontextprotocol/ui`) get a form of each question for a frame of theirs. Default:
   * false.
   */
  readonly app?: boolean;
  /**
   * How often a call of a client of revision 2026-07-28 gets questions. Then its answer is what it waits for, to be answered
   * with `submit_result`. Default: 5.
   */
  readonly rounds?: number;
  /**
   * A secret of at least 32 characters that all servers with the same runs have. Links to pages, and the state that a
   * client of revision 2026-07-28 returns with its answers, can be read by servers with the same key alone. Default: the
   * key of the store. Temporal and journals of your own have none: then that of this process.
   */
  readonly key?: string;
}

/** How long clients may keep results, in ms. */
export interface CacheSettings {
  /**
   * Lists, and what the server says about itself. Default: 60 000, and `0` where files of workflows are watched, which
   * change lists while the server runs.
   */
  readonly listsMs?: number;
  /** Contents by the name of the resource. Default: that of lists for text that is embedded in the registry, else `0`. */
  readonly resourcesMs?: Readonly<Record<string, number>>;
}

/** Where workflows in YAML, JSON and XML are read from. */
export interface SpecSources {
  /** Files, or globs of files such as `workflows/**` + `/*.yaml`, relative to the root. Default: none. */
  readonly files?: readonly string[];
  /** Addresses. Each has to be allowed by `remote`. They are read when the server starts. Default: none. */
  readonly urls?: readonly string[];
}

/** The spec files of a server. */
export interface SpecSettings extends SpecSources {
  /** The folder that files are relative to; files outside of it are refused. Default: the working directory. */
  readonly root?: string;
  /** Whether files are read again when they change, also those of profiles. Default: true. */
  readonly watch?: boolean;
  /** What may be read from other hosts. Default: nothing. */
  readonly remote?: RemoteSpecs;
}

/** What a server may read from other hosts. */
export interface RemoteSpecs {
  /**
   * Origins with an optional path that addresses begin with: `https://team.example.com/workflows/`. `http:` is taken for
   * `localhost`, `127.0.0.1` and `[::1]` alone, for development.
   */
  readonly allow: readonly string[];
  /**
   * Networks that the hosts of `https:` addresses may be in beside the public internet: `10.20.0.0/16`. Default: none.
   */
  readonly allowAddresses?: readonly string[];
  /** Headers of requests by origin, such as `authorization`. A redirect to another origin does not get them. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A catalogue of its own over HTTP, at the path of the server and the name of the profile: `/mcp/flights`. */
export interface Profile {
  /** Workflows beside those of the server. Default: none. */
  readonly specs?: SpecSources;
  /** Workflows that are described as resources, and not offered as tools or prompts. Default: none. */
  readonly resources?: SpecSources;
  /** Hints by tool. They win over the declared ones. Default: none. */
  readonly hints?: Readonly<Record<string, PlanningHints>>;
  /** The tools of the registry that clients get. Default: all. */
  readonly tools?: readonly string[];
  /** The workflows that clients get, those of `specs` among them. `[]`: none. Default: all. */
  readonly workflows?: readonly string[];
}
