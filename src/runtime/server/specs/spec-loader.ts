import { lookup as systemLookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import path from 'node:path';
import { environmentOf } from '../../../check/environment.js';
import type { SpecFiles } from '../../../formats/load-files.js';
import type { SpecWorkflow, SpecWorkflows } from '../../../formats/spec-files.js';
import { formatOf, type TextFormat } from '../../../formats/text/read-text.js';
import { hashGraph } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { formatDiagnostics } from '../../../graph/diagnostics/format.js';
import type { Domain, Graph } from '../../../graph/model.js';
import { toolsIn } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Registry } from '../../tools/registry.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { SpecSources } from '../options.js';
import { SpecError, shownUrl, type UrlRules } from './url-rules.js';
import type { SpecChanges } from './watch-files.js';

/** The workflows of spec files, or a report of all that is wrong. */
export type LoadedSpecs =
  | {
      readonly ok: true;
      readonly workflows: readonly SpecWorkflow[];
      /** What the files say about their domains. */
      readonly domains: readonly Domain[];
      /** Empty if there is nothing to say. */
      readonly warnings: string;
    }
  | { readonly ok: false; readonly report: string };

/** What the workflows of files and addresses may use. */
export interface SpecBase {
  readonly registry: Registry;
  /** What clients get below them. */
  readonly catalogue: Catalogue;
  /** All workflows below them, offered or not. */
  readonly graphs: readonly Graph[];
}

/** Finds the files of patterns, in the order of their names. A pattern that is a name is a file, there or not. */
async function filesOf(
  patterns: readonly string[],
  root: string,
): Promise<{ readonly files: readonly string[]; readonly unmatched: readonly string[] }> {
  const { glob, isDynamicPattern } = await import('tinyglobby');
  const files = new Set<string>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const isName = !isDynamicPattern(pattern);
    const matches = isName ? [pattern] : await glob(pattern, { cwd: root, ignore: ['**/node_modules/**'] });
    if (matches.length === 0) unmatched.push(pattern);
    for (const file of matches.toSorted()) files.add(file);
  }
  return { files: [...files], unmatched };
}

/** The files of some patterns, which are read again when they change. */
export class SourceFiles {
  readonly #patterns: readonly string[];
  readonly #root: string;
  #reader: SpecFiles | undefined;
  /** Absolute. */
  #paths: ReadonlyMap<string, string> = new Map();
  /** The patterns without a file. */
  unmatched: readonly string[] = [];

  constructor(patterns: readonly string[], root: string) {
    this.#patterns = patterns;
    this.#root = root;
  }

  /**
   * Reads the workflows of the files. They may run each other, and everything that is registered.
   *
   * @param changes what has changed since they were read. Default: anything.
   */
  async load(base: SpecBase, others: readonly SpecWorkflow[], changes?: SpecChanges): Promise<LoadedSpecs> {
    if (this.#patterns.length === 0) return { ok: true, workflows: [], domains: [], warnings: '' };
    if (changes?.isContent !== true) {
      const { files, unmatched } = await filesOf(this.#patterns, this.#root);
      this.unmatched = unmatched;
      this.#paths = new Map(files.map((file) => [file, path.resolve(this.#root, file)]));
    }
    if (this.#paths.size === 0) return { ok: true, workflows: [], domains: [], warnings: '' };
    const { SpecFiles } = await import('../../../formats/load-files.js');
    this.#reader ??= new SpecFiles(this.#root);
    const graphs = [...base.graphs, ...others.map(({ graph }) => graph)];
    const registered = environmentOf(base.registry, graphs);
    const isChanged = (file: string): boolean => changes?.files.has(this.#paths.get(file) ?? '') ?? true;
    const loaded = await this.#reader.load([...this.#paths.keys()], registered, isChanged);
    return loadedOf(loaded, loaded.readSource);
  }
}

/**
 * Reads the workflows of an address that the rules allow. They may use what clients may use: no private tools, and no
 * workflows that only others run. A client needs the scopes of all that they call.
 *
 * @throws SpecError when it cannot be read; `log` gets the reason.
 */
export async function loadUrl(
  url: URL,
  base: SpecBase,
  options: FetchOptions & { readonly log: (text: string) => void },
): Promise<LoadedSpecs> {
  const fetched = await fetchSpec(url, options).catch((error: unknown) => {
    if (!(error instanceof FetchFault)) throw error;
    // What the network is like is the operator's concern: every refusal reads the same.
    options.log(`the workflows at ${clip(shownUrl(url))} cannot be read: ${error.message}`);
    throw new SpecError(
      'E_SPEC_FETCH',
      `The workflows at ${clip(shownUrl(url))} cannot be read; the log of the server says why`,
    );
  });
  const { text, format } = fetched;
  const { clientTools, workflows } = base.catalogue;
  const tools = Object.fromEntries(
    Object.entries(base.registry.tools).filter(([name]) => clientTools.has(name)),
  );
  const graphs = base.graphs.filter(({ name }) => workflows.get(name)?.isExposed === true);
  const registered = environmentOf({ ...base.registry, tools }, graphs);
  const { parseUntrustedWorkflows } = await import('../../../formats/untrusted/parse-untrusted.js');
  const result = await parseUntrustedWorkflows(text, { file: shownUrl(url), format, registered });
  const needed = scopesOf(base.registry, graphs);
  return loadedOf(
    { ...result, workflows: result.workflows.map((workflow) => withScopes(workflow, needed)) },
    () => undefined,
  );
}

function loadedOf(
  { workflows, domains, diagnostics }: SpecWorkflows,
  readSource: (file: string) => string | undefined,
): LoadedSpecs {
  const report = formatDiagnostics(diagnostics, readSource).trimEnd();
  return diagnostics.some(({ severity }) => severity === 'error')
    ? { ok: false, report }
    : { ok: true, workflows, domains, warnings: diagnostics.length === 0 ? '' : report };
}

/** The scopes of a tool or a workflow, which its callers need. */
function scopesOf({ tools }: Registry, graphs: readonly Graph[]) {
  const ofGraph = new Map(graphs.map(({ name, scopes = [] }) => [name, scopes]));
  return {
    tool: (name: string): readonly string[] =>
      (Object.hasOwn(tools, name) ? tools[name]?.scopes : undefined) ?? [],
    workflow: (name: string): readonly string[] => ofGraph.get(name) ?? [],
  };
}

/** A workflow acts for its caller whatever the scopes of its steps: one that others wrote needs those of all steps. */
function withScopes({ graph, earlier }: SpecWorkflow, needed: ReturnType<typeof scopesOf>): SpecWorkflow {
  const scoped = (each: Graph): Graph => graphWithScopes(each, needed);
  return { graph: scoped(graph), ...defined({ earlier: earlier?.map(scoped) }) };
}

function graphWithScopes(graph: Graph, needed: ReturnType<typeof scopesOf>): Graph {
  const { tasks = [], ...own } = graph;
  const called = [...toolsIn({ nodes: own.nodes, tasks })].flatMap(needed.tool);
  const run = tasks.flatMap(({ name }) => needed.workflow(name));
  const scopes = [...new Set([...(graph.scopes ?? []), ...called, ...run])].sort();
  return scopes.length === 0 ? graph : { ...graph, scopes };
}

/** Describes workflows as resources. One that is offered as well, the same, is both. */
export function asResources(
  workflows: readonly SpecWorkflow[],
  described: readonly SpecWorkflow[],
): readonly SpecWorkflow[] {
  if (described.length === 0) return workflows;
  const alike = new Map(described.map(({ graph }) => [hashGraph(graph), graph.name]));
  const both = new Set<string>();
  const offered = workflows.map((workflow): SpecWorkflow => {
    const { graph } = workflow;
    const name = alike.get(hashGraph(graph));
    if (name === undefined) return workflow;
    both.add(name);
    const { expose = ['prompt', 'tool'] } = graph;
    return { ...workflow, graph: { ...graph, expose: [...new Set([...expose, 'resource' as const])] } };
  });
  const alone = described.filter(({ graph }) => !both.has(graph.name));
  return [...offered, ...alone.map(({ graph }) => ({ graph: { ...graph, expose: ['resource' as const] } }))];
}

export function hasSources({ files = [], urls = [] }: SpecSources = {}): boolean {
  return files.length > 0 || urls.length > 0;
}

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** How much reading one address may take. */
interface FetchLimits {
  readonly connectMs: number;
  /** All redirects together. */
  readonly totalMs: number;
  readonly bytes: number;
  readonly redirects: number;
}

export interface FetchOptions {
  readonly rules: UrlRules;
  /** Default: that of the system. */
  readonly lookup?: (host: string) => Promise<readonly HostAddress[]>;
  readonly limits?: Partial<FetchLimits>;
}

const LIMITS: FetchLimits = { connectMs: 3_000, totalMs: 10_000, bytes: 262_144, redirects: 3 };

/** The content types of spec files. */
const TYPES: Readonly<Record<string, TextFormat>> = {
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-yaml': 'yaml',
  'application/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
};

const SHOWN_TYPES = ['application/yaml', 'application/json', 'application/xml'];

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What was read from an address. */
interface FetchedSpec {
  readonly text: string;
  readonly format: TextFormat;
}

/** Why an address was not read, for the operator: it says what the network is like. */
class FetchFault extends Error {
  override readonly name = 'FetchFault';
}

/**
 * Reads the text of a spec file from an address that the rules allow. Each redirect is checked as the first address is,
 * and the addresses of each host are checked before it is connected to: the connection goes to one of those that were
 * checked, whatever its name resolves to then.
 *
 * @throws FetchFault
 */
export async function fetchSpec(start: URL, options: FetchOptions): Promise<FetchedSpec> {
  const limits = { ...LIMITS, ...options.limits };
  const controller = new AbortController();
  const late = new FetchFault(`it is not complete within ${limits.totalMs} ms`);
  let fail: (fault: Error) => void = () => {};
  const expired = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const timer = setTimeout(() => {
    fail(late);
    controller.abort(late);
  }, limits.totalMs);
  try {
    return await Promise.race([follow(start, options, limits, controller.signal), expired]);
  } finally {
    clearTimeout(timer);
    controller.abort(late);
  }
}

async function follow(
  start: URL,
  options: FetchOptions,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedSpec> {
  let url = start;
  for (let hop = 0; hop <= limits.redirects; hop += 1) {
    const addresses = await addressesOf(url, options);
    const response = await requested(url, addresses, options.rules, limits, signal);
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status)) {
      if (status !== 200) throw new FetchFault(`the server answers with the status ${status}`);
      return await readResponse(url, response, limits);
    }
    response.destroy();
    url = redirected(url, status, response.headers.location, options.rules);
  }
  throw new FetchFault(`it is redirected more than ${limits.redirects} times`);
}

function redirected(from: URL, status: number, location: string | undefined, rules: UrlRules): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw new FetchFault(`the status ${status} comes without an address`);
  const to = new URL(location, from.href);
  to.hash = '';
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new FetchFault(`it is redirected from https to ${clip(shownUrl(to))}`);
  if (!rules.allows(to))
    throw new FetchFault(
      `it is redirected to ${clip(shownUrl(to))}, which is not among the addresses of specs.remote.allow`,
    );
  return to;
}

/** The addresses of a host. One that is not allowed refuses all of them. */
async function addressesOf(
  url: URL,
  { rules, lookup = everyAddress }: FetchOptions,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolved(host, lookup) : [{ address: host, family }];
  for (const { address } of addresses) {
    const fault = rules.addressFault(url, address);
    if (fault !== undefined) throw new FetchFault(fault);
  }
  return addresses;
}

async function resolved(
  host: string,
  lookup: NonNullable<FetchOptions['lookup']>,
): Promise<readonly HostAddress[]> {
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    const { code = thrownText(error) } = error as { readonly code?: unknown };
    throw new FetchFault(`the name ${host} is not resolved (${String(code)})`);
  }
  throw new FetchFault(`the name ${host} is not resolved (no address)`);
}

function everyAddress(host: string): Promise<readonly HostAddress[]> {
  return systemLookup(host, { all: true });
}

/** Sends one request, to one of these addresses. */
async function requested(
  url: URL,
  addresses: readonly HostAddress[],
  rules: UrlRules,
  { connectMs }: FetchLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:';
  const { request, Agent } = isTls ? await import('node:https') : await import('node:http');
  const options: RequestOptions = {
    // An agent of its own: no connection of another request is used, and no proxy of the environment.
    agent: new Agent({ keepAlive: false }),
    lookup: pinned(addresses),
    signal,
    headers: {
      ...rules.headersFor(url),
      accept: [...Object.keys(TYPES), 'text/plain'].join(', '),
      'accept-encoding': 'identity',
      'user-agent': 'stepwright',
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(url, options);
    const timer = setTimeout(
      () => outgoing.destroy(new FetchFault(`there is no connection within ${connectMs} ms`)),
      connectMs,
    );
    const stopTimer = (): void => clearTimeout(timer);
    outgoing.once('socket', (socket) => socket.once(isTls ? 'secureConnect' : 'connect', stopTimer));
    outgoing.once('close', stopTimer);
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => reject(faultOf(error)));
    outgoing.end();
  });
}

/** Resolves every name to addresses that were checked. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first = { address: '', family: 4 }] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

async function readResponse(
  url: URL,
  response: IncomingMessage,
  { bytes }: FetchLimits,
): Promise<FetchedSpec> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = response.headers;
  try {
    if (encoding.trim().toLowerCase() !== 'identity')
      throw new FetchFault(`its content is compressed (${clip(encoding)}): send it as it is`);
    const format = formatFor(type, url);
    if (format === undefined)
      throw new FetchFault(
        `its content type is '${clip(type)}': use ${SHOWN_TYPES.join(', ')}, or text/plain for a path that ends with .yaml, .yml, .json or .xml`,
      );
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > bytes) throw new FetchFault(`it has more than ${bytes} bytes`);
    }
    return { text: utf8(Buffer.concat(chunks)), format };
  } catch (error) {
    throw faultOf(error);
  } finally {
    response.destroy();
  }
}

function formatFor(type: string, { pathname }: URL): TextFormat | undefined {
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return media === 'text/plain' ? formatOf(pathname) : TYPES[media];
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FetchFault('it is not UTF-8');
  }
}

function faultOf(error: unknown): FetchFault {
  if (error instanceof FetchFault) return error;
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof FetchFault ? cause : new FetchFault(`the connection failed: ${thrownText(error)}`);
}
