import type { Reads } from './cache/reads.js';
import type { ImportFailure } from './import-failure.js';
import type { SchemaReading } from './json-schema.js';
import type { ModuleLimits } from './module-limits.js';

/** What the parent asks for, once per child. */
export interface ReadRequest {
  /** Absolute path of the project. */
  readonly root: string;
  readonly modules: readonly ModuleRequest[];
  readonly limits: ModuleLimits;
}

/** One source file and the classes wanted from it. */
export interface ModuleRequest {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly classes: readonly ClassRequest[];
}

export interface ClassRequest {
  readonly kind: 'tool' | 'resource';
  readonly exportName: string;
}

/**
 * What the child says. `importing` comes before each module, so that a child that is stopped has named the culprit; `reads`
 * are those since the message before.
 */
export type ChildMessage =
  | { readonly kind: 'importing'; readonly file: string }
  | {
      readonly kind: 'imported';
      readonly file: string;
      readonly classes: readonly ClassReading[];
      readonly reads: Reads;
    }
  | ({ readonly kind: 'failed'; readonly file: string; readonly reads?: Reads } & ImportFailure)
  /** The module awaits a promise, and nothing is left in the process that could settle it. */
  | { readonly kind: 'unsettled'; readonly file: string };

/** What one class turned out to be, in the order it was asked for. */
export type ClassReading =
  | {
      readonly kind: 'tool';
      readonly exportName: string;
      readonly fingerprint: string;
      /** Missing where the tool declares none. */
      readonly input?: SchemaReading;
      readonly output?: SchemaReading;
    }
  | { readonly kind: 'resource'; readonly exportName: string; readonly fingerprint: string }
  /** The module has no such export, or the class carries other metadata than its source says. */
  | { readonly kind: 'missing'; readonly exportName: string; readonly reason: string };
