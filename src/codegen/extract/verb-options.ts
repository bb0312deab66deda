import type { ForEachOptions, GotoOptions, ParallelOptions } from '../../decorators/control-flow.js';
import type { NestedOptions } from '../../decorators/nested-options.js';
import type { CallOptions, FailOptions } from '../../decorators/verbs.js';
import { milliseconds, type OptionRules, oneOf, positive, retry, text } from './option-rules.js';
import type { Rules } from './options.js';

const nestedRules: Rules<NestedOptions> = { id: text, timeoutMs: milliseconds, retry };

const callRules: Rules<CallOptions> = {
  ...nestedRules,
  compensate: { expected: 'a function' },
  transform: { expected: 'a function' },
};

const parallelRules: Rules<ParallelOptions> = {
  concurrency: positive,
  onPartialFailure: oneOf('abort', 'continue', 'rollback'),
};

const forEachRules: Rules<ForEachOptions> = {
  concurrency: positive,
  max: positive,
  onItemError: oneOf('fail', 'continue'),
};

const gotoRules: Rules<GotoOptions> = {
  max: { ...positive, required: true },
  onLimit: oneOf('fail', 'continue'),
};

const failRules: Rules<FailOptions> = { code: text };

/** What the last argument of each verb takes that has options. */
export const verbRules = {
  call: callRules,
  run: nestedRules,
  parallel: parallelRules,
  forEach: forEachRules,
  goto: gotoRules,
  fail: failRules,
} as const satisfies Record<string, OptionRules>;

export type VerbWithOptions = keyof typeof verbRules;
