import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompletionContext } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import { type JsonObject, ownProperty } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import { parseUriTemplate, type TemplatePart, uriFault, variableNames } from '../../graph/uri.js';
import type { Failure } from '../engine/contract.js';
import { CallMask } from '../secrets/call-mask.js';
import { maskedFailure } from '../secrets/mask.js';
import { RESULT_LIMIT_BYTES } from './call-result.js';
import { isAbort, maskedThrown, thrownText } from './exceptions.js';
import { hasMethod, type InstanceRequest, Instances, type UntypedFactories } from './instances.js';
import { type Log, subjectOf } from './log.js';
import { type CallContext, callerOf, type ResourceOutcome } from './port.js';
import type { Registry, ResourceEntry } from './registry.js';
import { jsonSize } from './to-json.js';
import { requestContextOf } from './tool-context.js';
import { inBrackets, kindOf, message, quoted, toolTexts } from './tool-texts.js';

/** A template of addresses, and who knows what its variables may be. */
export interface TemplateInfo {
  /** Names of its variables. */
  readonly names: readonly string[];
  /** The resource's own `complete`, where its class has one. It may return anything. */
  readonly complete?: (variable: string, value: string, context: CompletionContext) => unknown;
}

/** What a template knows about the request that asks for it. */
export type TemplateRequest = Pick<InstanceRequest, 'peer'>;

/** The resources of a registry: where they are, and how their content is come by. */
export class Resources {
  /** What is wrong with them, one sentence each. */
  readonly problems: readonly string[];
  readonly #entries: Registry['resources'];
  readonly #instances: Instances<'read'>;
  readonly #addresses: ReadonlyMap<string, Address>;
  readonly #fixed: ReadonlyMap<string, string>;
  readonly #root: string;
  readonly #log: Log;

  constructor(registry: Registry, factories: UntypedFactories, log: Log) {
    this.#log = log;
    this.#entries = registry.resources;
    this.#instances = new Instances('resource', 'read', factories.resources ?? {}, factories);
    const entries = Object.entries(this.#entries);
    this.#root = entries.some(([, { file }]) => file !== undefined) ? packageRoot(registry) : '';
    const problems: string[] = [];
    const addresses = new Map<string, Address>();
    for (const [name, entry] of entries) {
      const address = addressOf(name, entry);
      if ('problem' in address) problems.push(address.problem);
      else addresses.set(name, address);
      if (
        entry.file !== undefined &&
        entry.text === undefined &&
        !existsSync(resolve(this.#root, entry.file))
      )
        problems.push(
          `resource ${quoted(name)}: there is no file ${quoted(entry.file)} in ${quoted(this.#root)}`,
        );
    }
    this.problems = problems;
    this.#addresses = addresses;
    this.#fixed = new Map(
      [...addresses].flatMap(([name, address]) => (address.kind === 'fixed' ? [[address.uri, name]] : [])),
    );
  }

  /** The name of the resource at an address. Of several templates that match, the first by name. */
  at(uri: string): string | undefined {
    const fixed = this.#fixed.get(uri);
    if (fixed !== undefined) return fixed;
    return [...this.#addresses]
      .filter(([, address]) => address.kind === 'template' && address.template.match(uri) !== undefined)
      .map(([name]) => name)
      .sort()[0];
  }

  /** What is known about a template, by its text, for a request. */
  template(uriTemplate: string, { peer }: TemplateRequest): TemplateInfo | undefined {
    for (const [name, address] of this.#addresses) {
      const entry = this.#entries[name];
      if (address.kind !== 'template' || entry?.uri !== uriTemplate) continue;
      const { names } = address.template;
      if (!hasMethod(entry.class.prototype, 'complete')) return { names };
      return {
        names,
        complete: async (variable, value, context) => {
          const creation = await this.#instances.get(name, entry.class, { ...context, peer });
          if (!creation.ok) throw new Error(creation.failure.message);
          return hasMethod(creation.instance, 'complete')
            ? creation.instance.complete(variable, value, context)
            : [];
        },
      };
    }
    return undefined;
  }

  /** Reads a resource, as {@link CallPort.readResource}. */
  async read(name: string, uri: string, context: CallContext): Promise<ResourceOutcome> {
    const outcome = await this.#read(name, uri, context);
    if (outcome.ok || context.mask === undefined) return outcome;
    return { ok: false, failure: maskedFailure(outcome.failure, context.mask) };
  }

  async #read(name: string, uri: string, context: CallContext): Promise<ResourceOutcome> {
    const entry = ownProperty(this.#entries, name);
    const address = this.#addresses.get(name);
    if (entry === undefined || address === undefined) {
      const near = nearestName(name, Object.keys(this.#entries));
      return failed('E_RESOURCE_UNKNOWN', `no resource is named ${quoted(name)}${inBrackets(near)}`);
    }
    const raw = variablesIn(uri, address);
    if (raw === undefined)
      return failed(
        'E_RESOURCE_UNKNOWN',
        `resource ${quoted(name)} is at ${quoted(entry.uri)}, not at ${quoted(uri)}`,
      );
    const variables = readVariables(raw, entry);
    if (!variables.ok) return variables;
    return this.#content(name, entry, uri, variables.variables, context);
  }

  async #content(
    name: string,
    entry: ResourceEntry,
    uri: string,
    variables: Variables,
    context: CallContext,
  ): Promise<ResourceOutcome> {
    const { text, file, mimeType } = entry;
    const onThrown = (error: unknown): void => {
      if (isAbort(error, context.signal)) return;
      const shown = maskedThrown(error, context.mask ?? new CallMask());
      this.#log(toolTexts.threw('resource', name, callerOf(context.origin), shown), {
        event: 'resource.threw',
        resource: name,
        ...subjectOf(context.origin),
      });
    };
    if (text !== undefined) return readContent(entry, uri, () => text, onThrown);
    if (file !== undefined)
      return readContent(
        entry,
        uri,
        () => readPackageFile(this.#root, file, mimeType, context.signal),
        onThrown,
      );
    const creation = await this.#instances.get(name, entry.class, context);
    if (!creation.ok) {
      if (creation.thrown !== undefined) onThrown(creation.thrown);
      return { ok: false, failure: creation.failure };
    }
    return readContent(
      entry,
      uri,
      () => creation.instance.read(variables, { ...requestContextOf(context), uri }),
      onThrown,
    );
  }
}

function variablesIn(uri: string, address: Address): Variables | undefined {
  if (address.kind === 'template') return address.template.match(uri);
  return uri === address.uri ? {} : undefined;
}

function failed(code: RunTimeCode, text: string): ResourceOutcome {
  return { ok: false, failure: { code, message: message(text) } };
}

/** Where a resource is: at one address, or at every address of a template. */
export type Address =
  | { readonly kind: 'fixed'; readonly uri: string }
  | { readonly kind: 'template'; readonly template: UriTemplate };

/** The variables of one address, decoded, or why the address is refused. */
type ReadVariables =
  | { readonly ok: true; readonly variables: Variables }
  | { readonly ok: false; readonly failure: Failure };

/** The address of an entry, or what is wrong with its template, as a sentence. */
function addressOf(name: string, { uri }: ResourceEntry): Address | { readonly problem: string } {
  // An address never holds a brace.
  if (!/[{}]/.test(uri)) return { kind: 'fixed', uri };
  const template = UriTemplate.parse(uri);
  return 'why' in template
    ? { problem: `resource ${quoted(name)}: ${quoted(uri)} is not a URI template: ${template.why}` }
    : { kind: 'template', template };
}

/**
 * Decodes the variables of an address. Values that would climb out of a folder are refused, whatever way the dots and
 * slashes are written, unless the entry lets this variable: authors join such values to paths.
 */
function readVariables(raw: Variables, { dotSegments = [] }: ResourceEntry): ReadVariables {
  const variables: [string, string][] = [];
  for (const [name, encoded] of Object.entries(raw)) {
    const value = decode(encoded);
    if (value === undefined)
      return refuse(`variable ${quoted(name)} is not percent-encoded text: ${quoted(encoded)}`);
    if (climbs(value) && !dotSegments.includes(name))
      return refuse(
        `variable ${quoted(name)} must not leave its folder: ${quoted(value)}. \`dotSegments: [${JSON.stringify(name)}]\` of its @Resource allows such values`,
      );
    variables.push([name, value]);
  }
  return { ok: true, variables: Object.fromEntries(variables) };
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Absolute paths of POSIX and Windows, segments `.` and `..`, and the end that C code sees in a NUL. */
function climbs(value: string): boolean {
  const segments = value.split(/[\\/]/);
  return (
    segments.some((segment) => segment === '.' || segment === '..') ||
    (segments.length > 1 && (segments[0] === '' || /^[A-Za-z]:$/.test(segments[0] ?? ''))) ||
    value.includes('\0')
  );
}

function refuse(text: string): ReadVariables {
  return { ok: false, failure: { code: 'E_RESOURCE_URI', message: message(text) } };
}

/** The variables of an address, still percent-encoded or decoded. */
export type Variables = Readonly<Record<string, string>>;

/** Addresses longer than this match no template, in UTF-16 code units. */
const MAX_LENGTH = 8_192;

/** A template of addresses, to be compared with addresses. */
export class UriTemplate {
  /** In the order of the template. */
  readonly names: readonly string[];
  readonly #parts: readonly TemplatePart[];

  private constructor(
    readonly text: string,
    parts: readonly TemplatePart[],
  ) {
    this.#parts = parts;
    this.names = variableNames(parts);
  }

  /** The template, or why the text is none, as the end of a sentence: ``it holds `{?q}`, …``. */
  static parse(text: string): UriTemplate | { readonly why: string } {
    const parsed = parseUriTemplate(text);
    return 'why' in parsed ? parsed : new UriTemplate(text, parsed.parts);
  }

  /** The variables of an address, still encoded; nothing if it does not match this template. */
  match(uri: string): Variables | undefined {
    if (uri.length > MAX_LENGTH) return undefined;
    const reachable = this.#reachable(uri);
    const values: [string, string][] = [];
    let at = 0;
    for (const [index, part] of this.#parts.entries()) {
      if (reachable[index]?.[at] !== true) return undefined;
      if (typeof part === 'string') {
        at += part.length;
        continue;
      }
      const from = at;
      // The shortest value after which the rest still fits.
      do at++;
      while (reachable[index + 1]?.[at] !== true);
      values.push([part.name, uri.slice(from, at)]);
    }
    return Object.fromEntries(values);
  }

  /** Per part and position, whether the parts from there on can make up the rest of the address: in linear time. */
  #reachable(uri: string): readonly (readonly boolean[])[] {
    const end = uri.length;
    let next: boolean[] = Array.from({ length: end + 1 }, (_, at) => at === end);
    const table = [next];
    for (const part of this.#parts.toReversed()) {
      const after = next;
      const current: boolean[] = Array.from({ length: end + 1 }, () => false);
      for (let at = end; at >= 0; at--) {
        current[at] =
          typeof part === 'string'
            ? uri.startsWith(part, at) && after[at + part.length] === true
            : at < end &&
              mayHold(part.reserved, uri.charAt(at)) &&
              (after[at + 1] === true || current[at + 1] === true);
      }
      table.unshift(current);
      next = current;
    }
    return table;
  }
}

/** Braces are for templates: an address with one has an unfilled variable. */
function mayHold(reserved: boolean, character: string): boolean {
  if (character === '{' || character === '}') return false;
  return reserved || (character !== '/' && character !== '?' && character !== '#');
}

/**
 * The folder that {@link ResourceEntry.file} starts from: the nearest one with a `package.json`, above the generated
 * module or else above the working directory; the latter itself where there is none.
 */
function packageRoot({ module }: Registry): string {
  const start = module?.startsWith('file:') ? dirname(fileURLToPath(module)) : process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/**
 * The content of a file of the package: text where it is UTF-8 and its media type does not say otherwise, else bytes.
 *
 * @throws whatever reading a file throws.
 */
async function readPackageFile(
  root: string,
  file: string,
  mimeType: string | undefined,
  signal: AbortSignal,
): Promise<string | Uint8Array> {
  const bytes = await readFile(resolve(root, file), { signal });
  if (mimeType !== undefined && !isText(mimeType)) return bytes;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

function isText(mimeType: string): boolean {
  const [type = ''] = mimeType.toLowerCase().split(';');
  return (
    type.startsWith('text/') ||
    /[/+](?:json|xml|yaml|javascript|typescript|sql|toml)$/.test(type) ||
    type === 'application/x-yaml'
  );
}

/** What a read content is made with. */
interface Head {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * Reads the content of a resource. Fails with `E_RESOURCE_READ` where `read` throws or returns a value that is not a
 * `ResourceContent`, and with `E_RESULT_TOO_LARGE` for more than {@link RESULT_LIMIT_BYTES} as JSON.
 *
 * @param onThrown receives what `read` threw.
 */
async function readContent(
  { mimeType }: Pick<ResourceEntry, 'mimeType'>,
  uri: string,
  read: () => unknown,
  onThrown: (error: unknown) => void,
): Promise<ResourceOutcome> {
  let content: unknown;
  try {
    content = await read();
  } catch (error) {
    onThrown(error);
    return unreadable(thrownText(error));
  }
  const head = { uri, mimeType };
  if (!Array.isArray(content)) {
    const value = contentOf(content, head);
    return typeof value === 'string'
      ? unreadable(
          `read() gave ${value}: it may return text, bytes (Uint8Array), { text }, { blob } or a list of these`,
        )
      : fitting({ value });
  }
  const contents: JsonObject[] = [];
  for (const [index, item] of content.entries()) {
    const part = itemOf(item, head);
    if (typeof part === 'string')
      return unreadable(
        `read() gave a list, and item ${index} of it is ${part}: an item is text, bytes (Uint8Array), { text, uri? } or { blob, uri? }`,
      );
    contents.push(part);
  }
  return fitting({ value: asOne(contents, uri), contents });
}

/** Contents of one resource as one text: a workflow binds one value, and a conversation shows one block. */
function asOne(contents: readonly JsonObject[], uri: string): JsonObject {
  const [only, ...others] = contents;
  if (only !== undefined && others.length === 0) return { ...only, uri };
  const texts = contents.map(({ text, uri: own }) =>
    typeof text === 'string' ? text : `[Resource: ${String(own)}]`,
  );
  return { uri, mimeType: 'text/plain', text: texts.join('\n') };
}

function fitting(outcome: {
  readonly value: JsonObject;
  readonly contents?: readonly JsonObject[];
}): ResourceOutcome {
  const size = jsonSize([...(outcome.contents ?? [outcome.value])], RESULT_LIMIT_BYTES);
  return size > RESULT_LIMIT_BYTES ? tooLarge(size) : { ok: true, ...outcome };
}

/** One of several contents, as {@link contentOf}. Its address is its own where it has one. */
function itemOf(item: unknown, head: Head): JsonObject | string {
  if (!isRecord(item) || item.uri === undefined) return contentOf(item, head);
  const { uri } = item;
  if (typeof uri !== 'string') return 'an object whose uri is not text';
  const fault = uriFault(uri);
  return fault === undefined
    ? contentOf(item, { ...head, uri })
    : `an object whose uri ${quoted(uri)} is not an absolute URI (${fault})`;
}

/** `{ uri, mimeType?, text }` or `{ uri, mimeType?, blob }`, or in words what was found in place of text or bytes. */
function contentOf(content: unknown, { uri, mimeType }: Head): JsonObject | string {
  const head = (type: string | undefined) => ({ uri, ...defined({ mimeType: type }) });
  if (typeof content === 'string') return { ...head(mimeType), text: content };
  if (content instanceof Uint8Array) return { ...head(mimeType), blob: base64(content) };
  if (!isRecord(content)) return content === undefined ? 'nothing' : kindOf(content);
  const { text, blob } = content;
  const type = typeof content.mimeType === 'string' ? content.mimeType : mimeType;
  if (typeof text === 'string' && blob === undefined) return { ...head(type), text };
  if (text !== undefined) return toolTexts.contentOfOtherShape();
  if (blob instanceof Uint8Array) return { ...head(type), blob: base64(blob) };
  if (typeof blob !== 'string') return toolTexts.contentOfOtherShape();
  return isBase64(blob) ? { ...head(type), blob } : 'a blob whose text is not base64';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooLarge(size: number): ResourceOutcome {
  const text = message(
    `the content is too large: its JSON text has at least ${size} bytes, and ${RESULT_LIMIT_BYTES} are allowed`,
  );
  const details = { size, limit: RESULT_LIMIT_BYTES };
  return { ok: false, failure: { code: 'E_RESULT_TOO_LARGE', message: text, details } };
}

function unreadable(text: string): ResourceOutcome {
  return { ok: false, failure: { code: 'E_RESOURCE_READ', message: message(text) } };
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Whether a value is base64 as clients accept it: the standard alphabet, padded. */
export function isBase64(value: unknown): value is string {
  if (typeof value !== 'string' || value.length % 4 !== 0) return false;
  return !/[^A-Za-z0-9+/]/.test(value.replace(/={1,2}$/, ''));
}
