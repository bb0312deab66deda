import type { LinkedWorkflow } from './declarations.js';
import { DeferredWork } from './deferred-work.js';
import { type Inputs, States } from './inputs.js';
import { type KeptHeader, parseKept, printKept } from './kept-texts.js';
import { readText, writeText } from './schemas/cache/cache-file.js';
import type { CodegenSession } from './session.js';
import { FileMemory } from './source/file-memory.js';
import type { SpecMemory } from './spec-workflows.js';
import { WorkflowMemory } from './workflow-memory.js';

/** What the runs of a session leave for the next ones. */
export class SessionMemory {
  readonly states = new States();
  readonly #deferred = new DeferredWork();
  readonly #isLasting: boolean;
  #hasWritten = false;
  readonly #registries = new Map<string, RegistryMemory>();

  /** @param isLasting - whether more runs than one are to come. */
  constructor(isLasting: boolean) {
    this.#isLasting = isLasting;
  }

  /** A run begins: what the last one has left to be written would be in its way. */
  begin(): void {
    this.#deferred.pause();
  }

  /** A run is over. Where it has nothing to write itself, it leaves what an earlier one has. */
  end(): void {
    this.#deferred.resume();
  }

  /**
   * Writes what other processes may use, the first time at once, later while nothing else is to do: where it is never
   * written, they work with what an earlier run has written, which costs them work.
   */
  write(records: () => void): void {
    if (this.#isLasting && this.#hasWritten) this.#deferred.put(records);
    else records();
    this.#hasWritten = true;
  }

  /** Writes at once what is left to be written. */
  finish(): void {
    this.#deferred.finish();
  }

  /** @param out - the registry, relative to the root. */
  of(out: string): RegistryMemory {
    const memory = this.#registries.get(out) ?? new RegistryMemory(this.#isLasting);
    this.#registries.set(out, memory);
    return memory;
  }
}

/** A session that users hold says nothing of what is in here. */
const memories = new WeakMap<CodegenSession, SessionMemory>();

/** @param session - default: one that ends with the run. */
export function memoryOf(session?: CodegenSession): SessionMemory {
  if (session === undefined) return new SessionMemory(false);
  const memory = memories.get(session) ?? new SessionMemory(true);
  memories.set(session, memory);
  return memory;
}

/** What the file of a memory begins with. */
interface Header extends KeptHeader {
  readonly names: string;
  readonly lookups: readonly (readonly [string, string])[];
  readonly privateTools: string;
}

/** What is remembered of the sources of one registry. */
export class RegistryMemory {
  readonly files: FileMemory;
  readonly workflows = new WorkflowMemory();
  readonly specs: SpecMemory = new Map();
  #names = '';
  /** Where modules and packages were looked for, with the states at that time. */
  #lookups: ReadonlyMap<string, string> = new Map();
  #linked: readonly LinkedWorkflow[] = [];
  #isLoaded = false;
  #isSaved = false;
  /** What is in the file. */
  #text: string | undefined;

  /** @param isLasting - see {@link SessionMemory}. */
  constructor(isLasting: boolean) {
    this.files = new FileMemory(isLasting);
  }

  /** Takes what another process has kept, once: this one knows better later. */
  load(file: MemoryFile): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#text = readText(file.folder, file.name);
    const kept = this.#text === undefined ? undefined : parseKept<Header>(this.#text, file.key);
    if (kept === undefined) return;
    const { header, section } = kept;
    this.#names = header.names;
    this.#lookups = new Map(header.lookups);
    this.files.restore(section('files'));
    this.workflows.restore(section('workflows'), header.privateTools);
  }

  /** Forgets all if modules may be found elsewhere now: a file was added or removed, or a package was installed. */
  refresh(names: string, inputs: Inputs): void {
    const isCurrent =
      names === this.#names && [...this.#lookups].every(([path, state]) => inputs.stateOf(path) === state);
    if (isCurrent) for (const [path, state] of this.#lookups) inputs.paths.set(path, state);
    else {
      this.files.clear();
      this.workflows.clear();
    }
  }

  /** @param sources - the paths that count by their content alone. */
  keep(names: string, inputs: Inputs, sources: ReadonlySet<string>, linked: readonly LinkedWorkflow[]): void {
    this.#names = names;
    this.#lookups = new Map([...inputs.paths].filter(([path]) => !sources.has(path)));
    this.#linked = linked;
  }

  /** Keeps it for other processes, once: a process that watches would write all of it for each edit. */
  save({ folder, name, key }: MemoryFile): void {
    if (this.#isSaved) return;
    this.#isSaved = true;
    const { privateTools } = this.workflows;
    const header: Header = { key, names: this.#names, lookups: [...this.#lookups], privateTools };
    const text = printKept(header, {
      files: this.files.texts(),
      workflows: this.workflows.texts(this.#linked),
    });
    if (text !== this.#text) writeText(folder, name, text);
    this.#text = undefined;
  }
}

/** Where a memory is kept between processes. */
export interface MemoryFile {
  /** The folder of the cache. */
  readonly folder: string;
  /** Of the entry there. */
  readonly name: string;
  /** Of the software: what other versions have kept is worthless. */
  readonly key: string;
}
