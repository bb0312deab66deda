import type { CompletionContext } from '../../decorators/context.js';
import { ownProperty } from '../../graph/json.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import { nearestName } from '../../graph/suggest.js';
import { type Address, addressOf, readVariables } from './address.js';
import { CallMask } from './call-mask.js';
import { hasMethod } from './factories.js';
import { Instances } from './instances.js';
import { callerOf, type Log } from './log.js';
import { maskedFailure, maskedThrown } from './mask.js';
import { hasFile, packageRoot, readPackageFile } from './package-files.js';
import type { CallContext, ResourceOutcome } from './port.js';
import { readContent, resourceContext } from './read-resource.js';
import type { Registry, ResourceEntry } from './registry.js';
import { message, texts } from './texts.js';
import { isAbort } from './thrown.js';
import type { Variables } from './uri-template.js';

/** A template of addresses, and who knows what its variables may be. */
export interface TemplateInfo {
  /** Names of its variables. */
  readonly names: readonly string[];
  /** The resource's own `complete`, where its class has one: anything may come of it. */
  readonly complete?: (variable: string, value: string, context: CompletionContext) => unknown;
}

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

  constructor(registry: Registry, factories: Readonly<Record<string, () => object>>, log: Log) {
    this.#log = log;
    this.#entries = registry.resources;
    this.#instances = new Instances('resource', 'read', factories);
    const entries = Object.entries(this.#entries);
    this.#root = entries.some(([, { file }]) => file !== undefined) ? packageRoot(registry) : '';
    const problems: string[] = [];
    const addresses = new Map<string, Address>();
    for (const [name, entry] of entries) {
      const address = addressOf(name, entry);
      if ('problem' in address) problems.push(address.problem);
      else addresses.set(name, address);
      if (entry.file !== undefined && entry.text === undefined && !hasFile(this.#root, entry.file))
        problems.push(texts.fileMissing(name, entry.file, this.#root));
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

  /** What is known about a template, by its text. */
  template(uriTemplate: string): TemplateInfo | undefined {
    for (const [name, address] of this.#addresses) {
      const entry = this.#entries[name];
      if (address.kind !== 'template' || entry?.uri !== uriTemplate) continue;
      const { names } = address.template;
      if (!hasMethod(entry.class.prototype, 'complete')) return { names };
      return {
        names,
        complete: (variable, value, context) => {
          const made = this.#instances.get(name, entry.class);
          if (!made.ok) throw new Error(made.failure.message);
          return hasMethod(made.instance, 'complete') ? made.instance.complete(variable, value, context) : [];
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
      return failed('E_RESOURCE_UNKNOWN', texts.resourceUnknown(name, near));
    }
    const raw = variablesIn(uri, address);
    if (raw === undefined) return failed('E_RESOURCE_UNKNOWN', texts.resourceElsewhere(name, entry.uri, uri));
    const read = readVariables(raw, entry);
    if (!read.ok) return read;
    return this.#content(name, entry, uri, read.variables, context);
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
      this.#log(texts.threw('resource', name, callerOf(context.origin), shown));
    };
    if (text !== undefined) return readContent(entry, uri, () => text, onThrown);
    if (file !== undefined)
      return readContent(
        entry,
        uri,
        () => readPackageFile(this.#root, file, mimeType, context.signal),
        onThrown,
      );
    const made = this.#instances.get(name, entry.class);
    if (!made.ok) {
      if (made.thrown !== undefined) onThrown(made.thrown);
      return { ok: false, failure: made.failure };
    }
    return readContent(
      entry,
      uri,
      () => made.instance.read(variables, resourceContext(uri, context)),
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
