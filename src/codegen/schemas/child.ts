import { join } from 'node:path';
import { inspect } from 'node:util';
import { fingerprint, fromMetadata, readMetadata } from '../../decorators/metadata.js';
import { defined } from '../../graph/defined.js';
import type {
  ChildMessage,
  ClassReading,
  ClassRequest,
  ModuleRequest,
  ReadRequest,
} from './import-modules.js';
import { readJsonSchema, type SchemaReading, type SchemaSide, writtenSchema } from './json-schema.js';
import { type Reads, recordReads } from './loader/reads.js';
import { type Loads, loadModule, registerLoader } from './loader/register.js';
import { importFailure, startWatchdog } from './module-loader.js';

/** The process that imports tool and resource modules and reports what their classes declare. */

process.on('disconnect', () => process.exit(1));
// A module's timers and rejections do not matter here: its classes can be read all the same.
process.on('uncaughtException', print);
process.on('unhandledRejection', print);
process.once('message', (request) => void answer(request as ReadRequest));

function print(error: unknown): void {
  process.stderr.write(`${inspect(error)}\n`);
}

async function answer({ root, loader, modules, limits }: ReadRequest): Promise<void> {
  // The open channel must not keep the event loop alive.
  process.channel?.unref();
  const loads = registerLoader(loader);
  const watchdog = startWatchdog(limits);
  const takeReads = recordReads();
  for (const [index, module] of modules.entries()) {
    watchdog.enter(index);
    await report(root, module, loads, takeReads);
    watchdog.leave();
  }
  // Servers and timers that a module has opened would keep this process alive for ever.
  process.exit(0);
}

async function report(
  root: string,
  { file, classes }: ModuleRequest,
  loads: Loads,
  takeReads: () => Reads,
): Promise<void> {
  // Waits until the message is out: a module that blocks the thread would keep it in here.
  await send({ kind: 'importing', file });
  const path = join(root, file);
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await Promise.race([loadModule(path), emptyLoop()])) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error === UNSETTLED) {
      await send({ kind: 'unsettled', file });
      return;
    }
    await send({ kind: 'failed', file, ...importFailure(error, root), reads: takeReads() });
    return;
  }
  const readings: ClassReading[] = classes.map((wanted) => readClass(exports, wanted, path));
  await send({ kind: 'imported', file, classes: readings, reads: takeReads(), loads: loads.of(path) });
}

const UNSETTLED = Symbol('unsettled');

/** Rejects with {@link UNSETTLED} when nothing is left in this process that could settle a promise. */
function emptyLoop(): Promise<never> {
  return new Promise((_, reject) => {
    rejectUnsettled = () => reject(UNSETTLED);
  });
}

let rejectUnsettled = (): void => {};
process.on('beforeExit', () => rejectUnsettled());

function send(message: ChildMessage): Promise<void> {
  return new Promise((done) => {
    if (process.send === undefined) done();
    else process.send(message, undefined, undefined, () => done());
  });
}

/**
 * Reads what the decorators of one exported class recorded.
 *
 * @param exports - the namespace of its module.
 * @param file - absolute path of the module.
 */
function readClass(
  exports: Readonly<Record<string, unknown>>,
  { kind, exportName }: ClassRequest,
  file: string,
): ClassReading {
  const missing = (reason: string): ClassReading => ({ kind: 'missing', exportName, reason });
  const value = exports[exportName];
  if (typeof value !== 'function') return missing(`the module has no class under the name \`${exportName}\``);
  try {
    const metadata = readMetadata(value as abstract new (...deps: never[]) => object);
    if (metadata === undefined) return missing('no decorator of stepwright has recorded anything on it');
    if (metadata.kind !== kind) return missing(`it is a ${metadata.kind}, not a ${kind}`);
    const recorded = fingerprint(fromMetadata(metadata));
    switch (metadata.kind) {
      case 'tool': {
        const { options } = metadata;
        const schemaOf = (side: SchemaSide): SchemaReading | undefined => {
          const { [side]: schema, [`${side}Schema` as const]: written } = options;
          if (schema !== undefined) return readJsonSchema(schema, side, file);
          return written === undefined ? undefined : writtenSchema(written);
        };
        const [input, output] = [schemaOf('input'), schemaOf('output')];
        return {
          kind: 'tool',
          exportName,
          fingerprint: recorded,
          ...defined({ input, output }),
        };
      }
      case 'resource':
        return { kind: 'resource', exportName, fingerprint: recorded };
      default:
        return metadata satisfies never;
    }
  } catch (error) {
    return missing(error instanceof Error ? error.message : String(error));
  }
}
