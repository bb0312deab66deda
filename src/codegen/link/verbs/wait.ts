import type { Duration } from '../../../decorators/control-flow.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { nearestName } from '../../../graph/suggest.js';
import type { CallSyntax } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import { boundToNothing, type NodeCore, type StepOutcome } from '../outcome.js';
import { type Linker, readEntries, refuse } from './linker.js';

const EXAMPLE = 'wait({ seconds: 2 })';

/** Milliseconds in each unit. */
const UNITS: Readonly<Record<keyof Duration, number>> = {
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

/** `wait({ seconds, minutes, … })`, or `wait({ until })`. */
export function linkWait(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [span] = args;
  const read = readEntries(linker, span, callee.place, 'the span', EXAMPLE);
  if (read === undefined) return undefined;
  const values = read.entries.map(({ key, keyPlace, value }) => {
    const lowered = lowerExpression(value, linker.arguments);
    if (key === 'until' || Object.hasOwn(UNITS, key)) return lowered && { key, value: lowered };
    const suggestion = nearestName(key, [...Object.keys(UNITS), 'until']);
    linker.scope.report(diagnostic('SW1011', keyPlace, { decorator: 'wait', option: key, suggestion }));
    return undefined;
  });
  if (!read.isWhole || !values.every((each) => each !== undefined)) return undefined;
  // `minutes: undefined` is one left out.
  const given = values.filter(({ value }) => value.kind !== 'literal' || value.value !== undefined);
  const until = given.find(({ key }) => key === 'until');
  const place = span?.place ?? callee.place;
  if (given.length === 0) return refuse(linker, place, 'a `wait` without a time', `write \`${EXAMPLE}\``);
  if (until !== undefined && given.length > 1) {
    const hint = 'name how long it waits, or until when';
    return refuse(linker, place, 'a `wait` for a while and until a moment', hint);
  }
  const core: NodeCore =
    until === undefined
      ? { kind: 'wait', durationMs: sumOf(given, place.span) }
      : { kind: 'wait', until: until.value };
  return linker.outcome(core, linker.limit(), boundToNothing);
}

/** What is written out is added up at once. */
function sumOf(given: readonly { readonly key: string; readonly value: Expr }[], at: Expr['at'] & {}): Expr {
  let constant = 0;
  const parts: Expr[] = [];
  for (const { key, value } of given) {
    const unit = UNITS[key as keyof Duration];
    const factor: Expr = { kind: 'literal', at, value: unit };
    if (value.kind === 'literal' && typeof value.value === 'number') constant += value.value * unit;
    else parts.push({ kind: 'arithmetic', at, op: 'mul', left: value, right: factor });
  }
  if (constant !== 0 || parts.length === 0) parts.push({ kind: 'literal', at, value: constant });
  return parts.reduce((left, right) => ({ kind: 'arithmetic', at, op: 'add.js', left, right }));
}
