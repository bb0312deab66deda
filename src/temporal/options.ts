import type { DataConverter } from '@temporalio/common';
import type { NativeConnectionOptions, WorkerOptions } from '@temporalio/worker';
import { defined } from '../graph/defined.js';
import { nearestName } from '../graph/names.js';
import { StoreError } from '../runtime/runs/store/store-error.js';

/** Where runs are kept and executed on Temporal. */
export interface TemporalOptions extends Pick<NativeConnectionOptions, 'tls' | 'apiKey' | 'metadata'> {
  /** The address of the frontend, `HOST:PORT`. Default: `localhost:7233`. */
  readonly address?: string;
  /** Default: `default`. */
  readonly namespace?: string;
  /** Where workers get their work. Default: `stepwright`. */
  readonly taskQueue?: string;
  /**
   * Whether this process executes runs too, and how; the options are those of `Worker.create` of `@temporalio/worker`.
   * Default: true. With `false` it starts, answers and shows runs, which workers of other processes execute.
   */
  readonly worker?: boolean | WorkerTuning;
  /**
   * A file that `writeBundle()` has written with the same version of the SDK. Default: the interpreter that the package has for
   * the version of the SDK it was built with. For another version, and for modules of converters, a worker bundles it when it
   * starts, which takes seconds.
   */
  readonly bundlePath?: string;
  /**
   * How many events the history of a workflow may have, about: then the run continues in another one of the same id.
   * Default: 10 000.
   */
  readonly maxEvents?: number;
  /** How payloads are converted and encrypted. Default: JSON, not encrypted. */
  readonly dataConverter?: DataConverter;
}

/** Options of a worker beside those that a store sets. */
export type WorkerTuning = Omit<
  WorkerOptions,
  | 'activities'
  | 'bundlerOptions'
  | 'connection'
  | 'dataConverter'
  | 'namespace'
  | 'taskQueue'
  | 'workflowBundle'
  | 'workflowsPath'
>;

/** Options with their defaults. */
export interface ResolvedOptions extends TemporalOptions {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly maxEvents: number;
}

/** @throws StoreError for a name that is malformed, and for options that are unknown or have another type. */
export function resolveOptions(options: TemporalOptions | string): ResolvedOptions {
  if (typeof options !== 'string') checkOptions(options);
  return {
    ...{ address: 'localhost:7233', namespace: 'default', taskQueue: 'stepwright', maxEvents: 10_000 },
    // An environment variable that is not set is a default.
    ...defined(typeof options === 'string' ? optionsIn(options) : options),
  };
}

/** With fewer events a run would continue in another workflow before it has done anything. */
const FEWEST_EVENTS = 20;

interface Kind {
  readonly what: string;
  fits(value: unknown): boolean;
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const TEXT: Kind = { what: 'a text', fits: (value) => typeof value === 'string' && value !== '' };
const OBJECT: Kind = { what: 'an object', fits: isObject };
const SWITCH: Kind = {
  what: 'true, false or an object of options',
  fits: (value) => typeof value === 'boolean' || isObject(value),
};

const KINDS: Readonly<Record<keyof TemporalOptions, Kind>> = {
  ...{ address: TEXT, namespace: TEXT, taskQueue: TEXT, bundlePath: TEXT },
  ...{ worker: SWITCH, tls: SWITCH, metadata: OBJECT, dataConverter: OBJECT },
  apiKey: { what: 'a text or a function', fits: (value) => TEXT.fits(value) || typeof value === 'function' },
  maxEvents: {
    what: `a whole number of at least ${FEWEST_EVENTS}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= FEWEST_EVENTS,
  },
};

function checkOptions(options: TemporalOptions): void {
  const problems = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (!Object.hasOwn(KINDS, name)) {
      const near = nearestName(name, Object.keys(KINDS));
      return [`it has no option '${name}'${near === undefined ? '' : `: write '${near}'`}`];
    }
    const { what, fits } = KINDS[name as keyof TemporalOptions];
    return fits(value) ? [] : [`'${name}' has to be ${what}`];
  });
  if (problems.length > 0) throw new StoreError('name', 'temporal({ … })', problems.join('; '));
}

/** The options that a name may have after `?`, and how their texts are read. */
const PARAMETERS: Readonly<Record<string, (text: string) => TemporalOptions | undefined>> = {
  taskQueue: (taskQueue) => (taskQueue === '' ? undefined : { taskQueue }),
  bundlePath: (bundlePath) => (bundlePath === '' ? undefined : { bundlePath }),
  worker: (text) => switchIn('worker', text),
  tls: (text) => switchIn('tls', text),
};

export const FORM = 'temporal://localhost:7233/default?taskQueue=stepwright';

/** Reads `temporal://HOST:PORT/NAMESPACE?OPTION=VALUE&…`. */
function optionsIn(name: string): TemporalOptions {
  // A password is not repeated.
  const shown = name.replace(/^([^/]*\/\/)[^?]*@/, '$1…@');
  const malformed = (why: string): StoreError => new StoreError('name', shown, `${why}: write ${FORM}`);
  const url = URL.canParse(name) ? new URL(name) : undefined;
  if (url === undefined || url.host === '') throw malformed('it has no host and port');
  if (url.username !== '' || url.password !== '')
    throw malformed('it has a user; pass an API key to temporal() instead');
  const [namespace = '', ...rest] = url.pathname.slice(1).split('/');
  if (rest.length > 0) throw malformed('it has more than a namespace after the host');
  if (!isDecodable(namespace))
    throw malformed(
      `its namespace '${namespace}' has a '%' that is not the code of a character ('%25' is a '%')`,
    );
  const options: TemporalOptions = {
    address: url.port === '' ? `${url.hostname}:7233` : url.host,
    ...(namespace === '' ? {} : { namespace: decodeURIComponent(namespace) }),
  };
  for (const [parameter, text] of url.searchParams) {
    if (!Object.hasOwn(PARAMETERS, parameter)) {
      const names = Object.keys(PARAMETERS).join(', ');
      throw malformed(`it has the option '${parameter}', and those of a name are ${names}`);
    }
    const value = PARAMETERS[parameter]?.(text);
    if (value === undefined) throw malformed(`its option '${parameter}' cannot be '${text}'`);
    Object.assign(options, value);
  }
  return options;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

function switchIn(name: 'worker' | 'tls', text: string): TemporalOptions | undefined {
  return text === 'true' || text === 'false' ? { [name]: text === 'true' } : undefined;
}

/** The name of the store, for messages. */
export function nameOf({ address, namespace, taskQueue }: ResolvedOptions): string {
  return `temporal://${address}/${namespace}?taskQueue=${taskQueue}`;
}
