import type { AuthInfo, Owner } from '../../../decorators/context.js';
import { readHintsHeader } from '../../server/specs/tool-hints.js';
import type { ViewSelection } from '../../server/stepwright-server.js';
import type { Log } from '../../tools/log.js';

/** Who sends a header. */
export interface HeaderCaller {
  readonly principal: Owner;
  /** The token of the caller. Missing for an anonymous one. */
  readonly auth?: AuthInfo;
  readonly remoteAddress?: string;
}

/** Says whether a caller may use a header. */
export type HeaderRule = (caller: HeaderCaller) => boolean;

/** The headers by which clients may bring workflows and hints. Each is ignored, and logged once, without its rule. */
export interface ClientHeaders {
  /** `X-Tool-Hints`: hints by tool, as JSON, or `base64url:` and JSON in base64url. Default: ignored. */
  readonly toolHints?: HeaderRule;
  /** `X-Workflow-URL`: the address of a spec file whose workflows are offered. Default: ignored. */
  readonly workflowUrl?: HeaderRule;
  /** `X-Workflow-Resources`: the address of a spec file whose workflows are described as resources. Default: ignored. */
  readonly workflowResources?: HeaderRule;
}

/** The headers of a request as a selection, or why it is refused. */
export type ReadHeaders =
  | { readonly ok: true; readonly selection: Omit<ViewSelection, 'profile' | 'caller'> }
  | { readonly ok: false; readonly status: 400 | 403; readonly message: string };

const HEADERS = [
  { name: 'X-Tool-Hints', option: 'toolHints', member: 'hints' },
  { name: 'X-Workflow-URL', option: 'workflowUrl', member: 'workflowUrl' },
  { name: 'X-Workflow-Resources', option: 'workflowResources', member: 'resourcesUrl' },
] as const;

/** Reads the headers by which clients bring workflows and hints. */
export class SpecHeaders {
  readonly #rules: ClientHeaders;
  readonly #log: Log;
  readonly #ignored = new Set<string>();

  /** @throws RangeError for a rule that is not a function. */
  constructor(rules: ClientHeaders, log: Log) {
    for (const { option } of HEADERS) {
      const rule: unknown = rules[option];
      if (rule !== undefined && typeof rule !== 'function')
        throw new RangeError(`headers.${option} must be a function from a caller to true or false`);
    }
    this.#rules = rules;
    this.#log = log;
  }

  /** The names of those that clients may send. */
  get names(): readonly string[] {
    return HEADERS.filter(({ option }) => this.#rules[option] !== undefined).map(({ name }) => name);
  }

  read(headers: Headers, caller: () => HeaderCaller): ReadHeaders {
    const selection: Record<string, unknown> = {};
    for (const { name, option, member } of HEADERS) {
      const value = headers.get(name);
      if (value === null) continue;
      const rule = this.#rules[option];
      if (rule === undefined) {
        this.#ignore(name, option);
        continue;
      }
      if (rule(caller()) !== true)
        return {
          ok: false,
          status: 403,
          message: `This caller may not use the header ${name} of this server`,
        };
      const hints = member === 'hints' ? readHintsHeader(value) : { json: value };
      if ('problem' in hints) return { ok: false, status: 400, message: `${name}: ${hints.problem}` };
      selection[member] = hints.json;
    }
    return { ok: true, selection };
  }

  #ignore(name: string, option: string): void {
    if (this.#ignored.has(name)) return;
    this.#ignored.add(name);
    this.#log(
      `a client sends the header ${name}, which is ignored: set headers.${option} to take it. This is not logged again`,
      { event: 'specs.header_ignored', level: 'warning' },
    );
  }
}
