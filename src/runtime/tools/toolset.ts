import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ToolContext } from '../../decorators/context.js';
import { readMetadata } from '../../decorators/metadata.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { nearestName } from '../../graph/names.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import { type ToolSafety, toolSafetyOf } from '../../graph/tool-safety.js';
import type { Failure } from '../engine/contract.js';
import { CallMask } from '../secrets/call-mask.js';
import { maskedFailure } from '../secrets/mask.js';
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamPort,
  type UpstreamReference,
  upstreamTexts,
} from '../upstream/port.js';
import { keptJson, type NormalResult, normalizeResult, type SentResult } from './call-result.js';
import { type CheckedInput, checkInput, inWordsOf, parsed } from './check-input.js';
import { isAbort, maskedThrown, thrownFailure, thrownText } from './exceptions.js';
import {
  FactoriesError,
  factoryProblems,
  type InstanceRequest,
  Instances,
  type UntypedFactories,
  type WithFactories,
} from './instances.js';
import { encodedLog, type Log, type LogFunction, subjectOf } from './log.js';
import { type Middleware, MiddlewareChain } from './middleware.js';
import {
  type CallContext,
  type CallPort,
  callerOf,
  type EvaluationOutcome,
  type FunctionReference,
  type ResourceOutcome,
  type ToolOutcome,
} from './port.js';
import {
  type AnyClass,
  type FunctionEntry,
  isPrivateTool,
  type Registry,
  type ToolEntry,
} from './registry.js';
import { Resources, type TemplateInfo, type TemplateRequest } from './resources.js';
import { isOfMoreKeys, type Problem, schemaProblems } from './schema-problems.js';
import type { Telemetry, TraceCarrier } from './telemetry.js';
import { requestContextOf, toolContextOf } from './tool-context.js';
import { inBrackets, message, quoted, toolTexts } from './tool-texts.js';

/** What observers say about a tool. */
export interface ToolDescription {
  readonly description: string;
  /** What another call does. */
  readonly safety: ToolSafety;
  /** Inputs whose values must not be shown. */
  readonly secret?: readonly string[];
}

/** What a toolset may be given beside the factories of its classes. */
export interface ToolsetSettings {
  /** Runs around every tool call, the first one outermost. Default: none. */
  readonly middleware?: readonly Middleware[];
  /** Receives what tools, resources, functions and middleware threw, with stacks. Default: writes to stderr. */
  readonly log?: LogFunction;
  /** Reaches the tools of upstream servers. Default: calls of them fail with `E_UPSTREAM_CONFIG`. */
  readonly upstream?: UpstreamPort;
  /** Reports calls of upstream tools. Default: nothing does. */
  readonly telemetry?: Telemetry;
  /** Compiles the schemas of the tools. Default: one of its own. */
  readonly schemas?: SchemaCompiler;
}

/**
 * The tools, resources and functions of a registry, ready to be called: by workflow steps and by direct calls alike.
 *
 * A call whose signal is aborted before the tool is reached fails with `E_CANCELLED`. Afterwards the signal is the
 * tool's to heed: the promise of a call settles when the tool does, and a host ignores it after its own limit.
 */
export interface Toolset extends CallPort {
  readonly registry: Registry;
  /** The description of a tool; nothing for an unknown name. */
  describeTool(name: string): ToolDescription | undefined;
  /** The names of a tool's inputs whose values must not be shown. The same function every time. */
  readonly secretInputs: (tool: string) => readonly string[];
  /** What another call of a tool does; `none` for an unknown name. The same function every time. */
  readonly toolSafety: (name: string) => ToolSafety;
  /** Whether only steps of workflows may call a tool. The same function every time. */
  readonly isPrivate: (name: string) => boolean;
  /** Why a value does not fit the output schema of a tool; nothing where it does. The same function every time. */
  readonly resultFailure: (tool: string, value: Json) => Failure | undefined;
  /** The names of the tools whose `execute` has not returned yet, each once. */
  toolsInCall(): readonly string[];
  /** The name of the resource at an address; one with an address of its own goes before templates. */
  resourceAt(uri: string): string | undefined;
  /** The middleware around its calls and reads; the server asks it about prompts. */
  readonly middleware: MiddlewareChain;
  /** What is known about a template of addresses, by its text, for a request. */
  template(uriTemplate: string, request: TemplateRequest): TemplateInfo | undefined;
}

/**
 * Makes the toolset of a registry. Instances are made on first use; see {@link InstanceOptions}.
 *
 * Failure codes of a call: `E_TOOL_UNKNOWN`, `E_REFUSED` (or the code of the error middleware threw), `E_MIDDLEWARE`,
 * `E_INPUT_INVALID`, `E_SCHEMA_INVALID`, `E_TOOL_FACTORY` and `E_CANCELLED`, none of them attempted; then `E_TOOL_ERROR`
 * (or the code of the error the tool threw), `E_RESULT_NOT_JSON`, `E_RESULT_TOO_LARGE` and `E_OUTPUT_SCHEMA`. Of a read:
 * `E_RESOURCE_UNKNOWN`, `E_RESOURCE_URI`, `E_RESOURCE_FACTORY`, `E_RESOURCE_READ`, `E_RESULT_TOO_LARGE`. What failures
 * say holds no secret.
 * @throws FactoriesError listing every class that cannot be instantiated, every superfluous factory, and every resource
 *   whose file is missing or whose template is none.
 */
export function createToolset<R extends Registry>(
  registry: R,
  ...[options]: WithFactories<R, ToolsetSettings>
): Toolset {
  const settings = (options ?? {}) as UntypedFactories & ToolsetSettings;
  const log = encodedLog(settings.log);
  const resources = new Resources(registry, settings, log);
  const problems = [...factoryProblems(registry, settings), ...resources.problems];
  if (problems.length > 0) throw new FactoriesError(problems);
  return new RegistryToolset(registry, resources, { ...settings, log });
}

class RegistryToolset implements Toolset {
  /** Inputs are copied by their check, results by their normalisation. */
  readonly isolates = true;
  readonly #tools: Instances<'execute'>;
  readonly middleware: MiddlewareChain;
  readonly #schemas: SchemaCompiler;
  readonly #standards = new StandardSchemas();
  readonly #log: Log;
  readonly #upstream: UpstreamPort | undefined;
  readonly #telemetry: Telemetry | undefined;
  readonly #inCall = new Map<OpenCall, string>();

  constructor(
    readonly registry: Registry,
    readonly resources: Resources,
    settings: UntypedFactories & ToolsetSettings & { readonly log: Log },
  ) {
    const { tools = {}, middleware = [], log, schemas, upstream, telemetry } = settings;
    this.#upstream = upstream;
    this.#telemetry = telemetry;
    this.#tools = new Instances('tool', 'execute', tools, settings);
    this.#log = log;
    this.middleware = new MiddlewareChain(middleware, log);
    this.#schemas = schemas ?? new SchemaCompiler();
  }

  readonly secretInputs = (tool: string): readonly string[] =>
    ownProperty(this.registry.tools, tool)?.secret ?? [];

  describeTool(name: string): ToolDescription | undefined {
    const entry = ownProperty(this.registry.tools, name);
    if (entry === undefined) return undefined;
    const { description, secret } = entry;
    return {
      description,
      safety: toolSafetyOf(entry),
      ...defined({ secret }),
    };
  }

  readonly toolSafety = (name: string): ToolSafety => {
    const entry = ownProperty(this.registry.tools, name);
    return entry === undefined ? 'none' : toolSafetyOf(entry);
  };

  readonly resultFailure = (name: string, value: Json): Failure | undefined => {
    const entry = ownProperty(this.registry.tools, name);
    if (entry?.outputSchema === undefined) return undefined;
    const result = this.#matched(name, entry, { ok: true, value }, []);
    return result.ok ? undefined : result.failure;
  };

  readonly isPrivate = (name: string): boolean => {
    const entry = ownProperty(this.registry.tools, name);
    return entry !== undefined && isPrivateTool(entry);
  };

  toolsInCall(): readonly string[] {
    return [...new Set(this.#inCall.values())];
  }

  callTool(name: string, input: JsonObject, context: CallContext): Promise<ToolOutcome> {
    const entry = ownProperty(this.registry.tools, name);
    if (entry === undefined) {
      const near = nearestName(name, Object.keys(this.registry.tools));
      return Promise.resolve(refused('E_TOOL_UNKNOWN', toolTexts.toolUnknown(name, near)));
    }
    const { secret = [] } = entry;
    // Most calls have nothing to mask, and end without anybody asking.
    let mask: CallMask | undefined;
    const maskOf = (): CallMask => {
      mask ??= context.mask ?? new CallMask();
      return mask;
    };
    const { upstream } = entry;
    const toolContext = toolContextOf(
      context,
      maskOf,
      upstream && ((upstreamInput, call) => this.#callUpstream(upstream, upstreamInput, call)),
    );
    // What needs no waiting for takes no turn of its own: there is one promise for each call.
    const work: Work = (callInput, onThrown) => {
      if (secret.length > 0) maskOf().giveMembers(callInput, secret);
      const report = (error: unknown): void => {
        onThrown?.(error);
        if (isAbort(error, context.signal)) return;
        const shown = maskedThrown(error, maskOf());
        this.#log(toolTexts.threw('tool', name, callerOf(context.origin), shown), {
          event: 'tool.threw',
          tool: name,
          ...subjectOf(context.origin),
        });
      };
      const call = (checked: CheckedInput): ToolOutcome | Promise<ToolOutcome> => {
        if (!checked.ok) {
          this.#logBrokenSchema(name, checked.failure);
          const failure = maskedFailure(checked.failure, checked.isOwnText ? maskOf().searched : maskOf());
          return { ok: false, attempted: false, failure };
        }
        if (context.isAborted ?? context.signal.aborted)
          return refused('E_CANCELLED', `the call of ${quoted(name)} was cancelled before it began`);
        return this.#call(name, entry, checked.input, { context, toolContext, maskOf }, report);
      };
      const checking = this.#check(name, entry, callInput);
      return checking instanceof Promise ? checking.then(call) : Promise.resolve(call(checking));
    };
    return this.middleware.isEmpty
      ? work(input)
      : this.middleware.around({ tool: name, input, secret, context, toolContext, mask: maskOf() }, work);
  }

  async readResource(name: string, uri: string, context: CallContext): Promise<ResourceOutcome> {
    if (this.middleware.isEmpty) return this.resources.read(name, uri, context);
    const request = { ...(context.origin ?? { source: 'client' as const }), resource: name, uri };
    const admitted = await this.middleware.admit(
      `the resource ${uri}`,
      (middleware) => middleware.onRead?.(request, requestContextOf(context)),
      context.mask ?? new CallMask(),
    );
    if ('failure' in admitted) return { ok: false, failure: admitted.failure };
    const outcome = await this.resources.read(name, uri, context);
    await admitted.end(outcome.ok ? undefined : outcome.failure);
    return outcome;
  }

  resourceAt(uri: string): string | undefined {
    return this.resources.at(uri);
  }

  template(uriTemplate: string, request: TemplateRequest): TemplateInfo | undefined {
    return this.resources.template(uriTemplate, request);
  }

  evaluate(
    reference: FunctionReference,
    args: readonly Json[],
    context: CallContext,
  ): Promise<EvaluationOutcome> {
    return evaluateFunction(this.registry, reference, args, context, this.#log);
  }

  async #callUpstream(reference: UpstreamReference, input: JsonObject, call: UpstreamCall): Promise<unknown> {
    const upstream = this.#upstream;
    if (upstream !== undefined) {
      const send = (meta?: TraceCarrier): Promise<unknown> =>
        upstream.call(reference, input, meta === undefined ? call : { ...call, meta });
      return this.#telemetry === undefined ? send() : this.#telemetry.upstream(reference, send);
    }
    const text = upstreamTexts.unknownServer(reference.server, undefined);
    throw new UpstreamError('E_UPSTREAM_CONFIG', text);
  }

  /** Logs a schema that cannot be used: schemas are compiled on first use, so the start did not report it. */
  #logBrokenSchema(tool: string, { code, message }: Failure): void {
    if (code === 'E_SCHEMA_INVALID')
      this.#log(`${message}; every call of the tool fails until it is corrected`, {
        event: 'tool.schema',
        tool,
      });
  }

  #check(name: string, entry: ToolEntry, input: JsonObject): CheckedInput | Promise<CheckedInput> {
    const standard = this.#standards.of(entry.class, 'input');
    return checkInput(
      input,
      { tool: name, jsonSchema: entry.inputSchema, standard, secret: entry.secret },
      this.#schemas,
    );
  }

  async #call(
    name: string,
    entry: ToolEntry,
    input: unknown,
    open: OpenCall,
    onThrown: (error: unknown) => void,
  ): Promise<ToolOutcome> {
    const { context, toolContext, maskOf } = open;
    const failed = (outcome: Omit<FailedCall, 'ok'>) => masked({ ok: false, ...outcome }, maskOf());
    const making = this.#tools.get(name, entry.class, context);
    const creation = making instanceof Promise ? await making : making;
    if (!creation.ok) {
      if (creation.thrown !== undefined) onThrown(creation.thrown);
      return failed({ attempted: false, failure: creation.failure });
    }

    let raw: unknown;
    this.#inCall.set(open, name);
    try {
      raw = await creation.instance.execute(input, toolContext);
    } catch (error) {
      onThrown(error);
      const failure = thrownFailure(error, 'E_TOOL_ERROR');
      const code = maskOf().repeatedBy(failure.code) ? 'E_TOOL_ERROR' : failure.code;
      return failed({ attempted: true, failure: { ...failure, code } });
    } finally {
      this.#inCall.delete(open);
    }
    const sent = normalizeResult(raw, entry.outputSchema);
    if (!sent.ok) {
      // With a result of its own, the tool has said that it failed.
      return failed({ attempted: true, ...(sent.callResult === undefined && ACTED), ...sent });
    }
    const checking = this.#checkOutput(name, entry, sent);
    const result = checking instanceof Promise ? await checking : checking;
    if (result.ok) return result;
    this.#logBrokenSchema(name, result.failure);
    return failed({ attempted: true, ...ACTED, failure: result.failure });
  }

  /** What the tool's own schema makes of a result, if that matches the JSON Schema, by which clients check it. */
  #checkOutput(name: string, entry: ToolEntry, sent: SentResult): NormalResult | Promise<NormalResult> {
    const { class: cls, outputSchema } = entry;
    if (outputSchema === undefined) return sent;
    const standard = this.#standards.of(cls, 'output');
    if (standard === undefined) return this.#matched(name, entry, sent, []);
    const { callResult, value } = sent;
    const structure = callResult?.structuredContent;
    return parsed(standard, structure ?? value).then((parsing) => {
      if (!parsing.ok) return this.#matched(name, entry, sent, parsing.problems);
      const json = keptJson(parsing.value);
      if (!json.ok) return json;
      const result =
        structure === undefined
          ? { ...sent, value: json.value }
          : normalizeResult({ ...callResult, structuredContent: json.value }, outputSchema);
      return result.ok ? this.#matched(name, entry, result, []) : result;
    });
  }

  /** @param issues what the tool's own schema finds wrong. */
  #matched(
    name: string,
    { outputSchema = {}, class: cls, upstream }: ToolEntry,
    result: SentResult,
    issues: readonly Problem[],
  ): NormalResult {
    try {
      const patterns = this.#standards.of(cls, 'output') === undefined ? 'all' : 'usable';
      const value = result.callResult?.structuredContent ?? result.value;
      const faults = this.#schemas.check(outputSchema, value, patterns);
      if (faults.length + issues.length === 0) return result;
      // No step reads what an upstream server has added to its results since.
      const counted = upstream === undefined ? faults : faults.filter((fault) => !isOfMoreKeys(fault));
      const problems =
        issues.length === 0
          ? schemaProblems(counted, outputSchema)
          : inWordsOf(counted, outputSchema, issues).problems;
      const invalid = outputInvalid(problems.map((problem) => problem.message));
      return invalid === undefined ? result : { ok: false, failure: invalid };
    } catch (error) {
      const text = toolTexts.schemaBroken('output', name, thrownText(error));
      return { ok: false, failure: failure('E_SCHEMA_INVALID', text) };
    }
  }
}

/** A call of a tool whose input is checked. */
interface OpenCall {
  readonly context: InstanceRequest;
  readonly toolContext: ToolContext;
  /** What must not be shown of it. */
  readonly maskOf: () => CallMask;
}

/** Makes a call with the input that middleware left. */
type Work = (input: JsonObject, onThrown?: (error: unknown) => void) => Promise<ToolOutcome>;

const ACTED = { acted: true } as const;

type FailedCall = Extract<ToolOutcome, { ok: false }>;

/** A failure without secrets: tools and validators repeat their input in what they complain about. */
function masked(outcome: FailedCall, mask: CallMask): ToolOutcome {
  if (mask.isEmpty) return outcome;
  const { failure, callResult } = outcome;
  return {
    ...outcome,
    failure: maskedFailure(failure, mask),
    ...(callResult === undefined ? {} : { callResult: mask.contents(callResult) }),
  };
}

/** A schema in the tool's decorator: JSON Schema alone has no transforms and no checks of the author's own. */
function standardSchema(cls: AnyClass, side: 'input' | 'output'): StandardSchemaV1 | undefined {
  const metadata = readMetadata(cls);
  return metadata?.kind === 'tool' ? metadata.options[side] : undefined;
}

/** The schemas in the decorators of tools, read once for each class. */
class StandardSchemas {
  readonly #schemas = new Map<AnyClass, Readonly<Record<'input' | 'output', StandardSchemaV1 | undefined>>>();

  of(cls: AnyClass, side: 'input' | 'output'): StandardSchemaV1 | undefined {
    const schemas = getOrInsert(this.#schemas, cls, () => ({
      input: standardSchema(cls, 'input'),
      output: standardSchema(cls, 'output'),
    }));
    return schemas[side];
  }
}

function outputInvalid(problems: readonly string[]): Failure | undefined {
  return problems.length === 0
    ? undefined
    : failure(
        'E_OUTPUT_SCHEMA',
        `the result does not match the tool's output schema: ${problems.slice(0, 10).join('; ')}`,
      );
}

function failure(code: RunTimeCode, text: string): Failure {
  return { code, message: message(text) };
}

function refused(code: RunTimeCode, text: string): ToolOutcome {
  return { ok: false, attempted: false, failure: failure(code, text) };
}

/**
 * Evaluates a pure function of a registry, on copies of its arguments. It never rejects, and logs what was thrown.
 * Codes: see {@link CallPort.evaluate}.
 */
export async function evaluateFunction(
  { functions = {} }: Registry,
  { name, hash }: FunctionReference,
  args: readonly Json[],
  { signal, mask = new CallMask(), origin }: CallContext,
  log: Log,
): Promise<EvaluationOutcome> {
  const entry = ownProperty(functions, name);
  if (entry === undefined) {
    return failed(
      'E_FUNCTION_UNKNOWN',
      `the registry has no function ${quoted(name)}${inBrackets(nearestName(name, Object.keys(functions)))}`,
    );
  }
  if (entry.hash !== hash)
    return failed(
      'E_FUNCTION_STALE',
      `function ${quoted(name)} is not the one this workflow was made with: run \`npx stepwright codegen\``,
    );
  if (signal.aborted)
    return failed('E_CANCELLED', `the evaluation of ${quoted(name)} was cancelled before it began`);
  const outcome = evaluated(entry, args, (error) => {
    log(toolTexts.threw('function', name, callerOf(origin), maskedThrown(error, mask)), {
      event: 'function.threw',
      function: name,
      ...subjectOf(origin),
    });
  });
  return outcome.ok ? outcome : { ok: false, failure: maskedFailure(outcome.failure, mask) };
}

function evaluated(
  entry: FunctionEntry,
  args: readonly Json[],
  onThrown: (error: unknown) => void,
): EvaluationOutcome {
  let result: unknown;
  try {
    result = entry.function(...structuredClone(args));
  } catch (error) {
    onThrown(error);
    return { ok: false, failure: thrownFailure(error, 'E_FUNCTION') };
  }
  if (result === undefined) return { ok: true };
  // A promise is not a value; its rejection is ignored.
  if (result instanceof Promise) result.catch(() => {});
  return keptJson(result);
}

function failed(code: RunTimeCode, text: string): EvaluationOutcome {
  return { ok: false, failure: { code, message: message(text) } };
}
