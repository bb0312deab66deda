import path from 'node:path';
import { stateOf } from './schemas/cache/dependencies.js';
import type { ModuleRequest } from './schemas/import-modules.js';

/** What a run of codegen has looked at, so that a later one can tell whether anything is different. */
export class Inputs {
  /** Absolute paths of files and folders, those that do not exist among them, with their states when they were first seen. */
  readonly paths = new Map<string, string>();
  /** The modules whose classes were read. */
  readonly modules: ModuleRequest[] = [];
  readonly #root: string;

  /** @param root - that relative paths start from. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Notes a path before it is read, or before it is looked for. */
  see(file: string): void {
    const absolute = path.resolve(this.#root, file);
    if (!this.paths.has(absolute)) this.paths.set(absolute, stateOf(absolute));
  }
}
