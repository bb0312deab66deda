import { type Inputs, States } from './inputs.js';
import { CodegenSession } from './session.js';
import { FileMemory } from './source/file-memory.js';
import { WorkflowMemory } from './workflow-memory.js';

/** What the runs of a session leave for the next ones. */
export class SessionMemory {
  readonly states = new States();
  readonly #registries = new Map<string, RegistryMemory>();

  /** @param out - the registry, relative to the root. */
  of(out: string): RegistryMemory {
    const memory = this.#registries.get(out) ?? new RegistryMemory();
    this.#registries.set(out, memory);
    return memory;
  }
}

/** A session that users hold says nothing of what is in here. */
const memories = new WeakMap<CodegenSession, SessionMemory>();

/** @param session - default: one that ends with the run. */
export function memoryOf(session = new CodegenSession()): SessionMemory {
  const memory = memories.get(session) ?? new SessionMemory();
  memories.set(session, memory);
  return memory;
}

/** What is remembered of the sources of one registry. */
export class RegistryMemory {
  readonly files = new FileMemory();
  readonly workflows = new WorkflowMemory();
  #names = '';
  /** Where modules and packages were looked for, with the states at that time. */
  #lookups: ReadonlyMap<string, string> = new Map();

  /** Forgets all if modules may be found elsewhere now: a file was added or removed, or a package was installed. */
  refresh(names: string, inputs: Inputs): void {
    const isCurrent =
      names === this.#names && [...this.#lookups].every(([path, state]) => inputs.stateOf(path) === state);
    if (!isCurrent) this.files.clear();
    else for (const [path, state] of this.#lookups) inputs.paths.set(path, state);
  }

  /** @param sources - the paths that count by their content alone. */
  keepLookups(names: string, inputs: Inputs, sources: ReadonlySet<string>): void {
    this.#names = names;
    this.#lookups = new Map([...inputs.paths].filter(([path]) => !sources.has(path)));
  }
}
