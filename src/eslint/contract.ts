import type { Severity } from '../graph/diagnostics/diagnostic.js';
import type { Span } from '../graph/source-location.js';

/** What the rules ask the worker. */
export interface Request {
  /** Absolute path of the file that is linted. */
  readonly file: string;
  /** Its text, saved or not. */
  readonly text: string;
  /** The working directory of ESLint. */
  readonly cwd: string;
  /** The project's folder, relative to the working directory; found by the file where it is missing. */
  readonly root?: string;
  /** Relative to the root. */
  readonly configFile?: string;
}

/** One diagnostic of a file. */
export interface Problem {
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly repair?: Repair;
}

/** A replacement of a part of the text. */
export interface Repair {
  readonly span: Span;
  readonly text: string;
  /** Whether it is right in any case: then ESLint applies it by `--fix`, else it is a suggestion. */
  readonly isCertain: boolean;
}

/** What the worker answers: the problems, or why there is no answer. */
export type Answer = { readonly problems: readonly Problem[] } | { readonly failure: string };
