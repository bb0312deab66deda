import type { Expr } from '../../../graph/expression/tree.js';
import { wholeNumber } from '../../../graph/kinds/descriptor.js';
import { MAX_JUMPS } from '../../../graph/limits.js';
import { append } from '../../../graph/maps.js';
import type { Reports } from '../../text/reading.js';
import { allSteps, literalOf, nearby, type StepList, type StepSpec } from './steps.js';

/** A `goto`, resolved. */
export interface Jump {
  readonly spec: StepSpec;
  readonly target: StepSpec;
  /** The step of the target's list that is the `goto`, or that it is in. */
  readonly from: StepSpec;
  /** Whether the target is run again. Otherwise the steps before it are skipped. */
  readonly isBack: boolean;
  /** How often a jump back is taken at most. A limit that is reported counts as 1. */
  readonly max: number;
}

/**
 * The jumps of a workflow. In a graph a jump goes back in its own list alone. A jump out of a list, or forward, notes that
 * it is taken, in a node of its own; the steps that it passes over then do not run.
 */
export class Jumps {
  readonly #reports: Reports;
  readonly #bySpec = new Map<StepSpec, Jump>();
  readonly #guards = new Map<StepSpec, string[]>();
  readonly #behind = new Map<StepSpec, Jump[]>();

  constructor(reports: Reports, root: StepList) {
    this.#reports = reports;
    const steps = allSteps(root);
    for (const spec of steps) {
      const jump = spec.type === 'goto' ? this.#resolve(spec, steps) : undefined;
      if (jump === undefined) continue;
      this.#bySpec.set(spec, jump);
      this.#addGuards(jump);
      if (jump.isBack && jump.from !== spec) append(this.#behind, jump.from, jump);
    }
    for (const jump of this.#bySpec.values()) this.#reportUnreachable(jump);
  }

  of(spec: StepSpec): Jump | undefined {
    return this.#bySpec.get(spec);
  }

  /** The jumps out of a step, which are taken behind it. */
  behind(spec: StepSpec): readonly Jump[] {
    return this.#behind.get(spec) ?? [];
  }

  /** The conditions under which a step is passed over, negated. */
  guardsOf(spec: StepSpec): readonly Expr[] {
    return (this.#guards.get(spec) ?? []).map((marker) => ({
      kind: 'not',
      truth: 'truthy.py',
      of: jumpCondition(marker),
    }));
  }

  #resolve(spec: StepSpec, steps: readonly StepSpec[]): Jump | undefined {
    const text = literalOf(this.#reports, spec.fields, 'target');
    if (text === undefined) return undefined;
    let from = spec;
    for (;;) {
      const target = from.list.steps.find(({ id }) => id === text.value);
      if (target === spec) break;
      if (target !== undefined)
        return this.#checked({ spec, target, from, isBack: target.index <= from.index });
      if (from.list.container === undefined) break;
      from = from.list.container;
    }
    const isStep = steps.some(({ id }) => id === text.value);
    const why =
      text.value === spec.id
        ? 'which is the step itself'
        : isStep
          ? 'which is in another list of steps'
          : 'which is not a step of this workflow';
    const reachable = reachableFrom(spec);
    const { suggestion, edit } = nearby(this.#reports, text, reachable);
    const hint = isStep
      ? 'name a step of the same list, or of a list around it'
      : suggestion === undefined
        ? undefined
        : `did you mean \`${suggestion}\`?`;
    const details = { hint, edit: isStep ? undefined : edit };
    this.#reports.report(
      'SW4017',
      text,
      { step: spec.id, option: 'target', target: text.value, why },
      details,
    );
    return undefined;
  }

  /** A jump back has a limit, and a jump forward has no limit. */
  #checked(jump: Omit<Jump, 'max'>): Jump {
    const { fields, id } = jump.spec;
    if (!jump.isBack) {
      for (const key of ['max_iterations', 'on_limit']) {
        const entry = fields.entry(key);
        const instead = 'remove it: only a jump back repeats steps';
        if (entry !== undefined)
          this.#reports.report('SW5018', entry.key, { key, kind: `a jump forward (\`${id}\`)`, instead });
      }
      return { ...jump, max: 1 };
    }
    fields.require('max_iterations');
    return { ...jump, max: fields.numberIn('max_iterations', wholeNumber(1, MAX_JUMPS)) ?? 1 };
  }

  #addGuards({ spec, target, from, isBack }: Jump): void {
    const marker = markerOf({ spec, isBack });
    for (let each = spec; each !== from; each = each.list.container ?? from)
      for (const later of each.list.steps.slice(each.index + 1)) append(this.#guards, later, marker);
    if (isBack) return;
    for (const later of from.list.steps.slice(from.index + 1, target.index))
      append(this.#guards, later, marker);
  }

  #reportUnreachable({ spec, target, from, isBack }: Jump): void {
    const { list, index, fields } = spec;
    if (fields.has('when')) return;
    const onLimit = fields.value('on_limit');
    const continues = isBack && from === spec && onLimit?.kind === 'text' && onLimit.value === 'continue';
    if (continues) return;
    const last = from === spec && !isBack ? target.index : list.steps.length;
    const targets = new Set([...this.#bySpec.values()].map((jump) => jump.target));
    for (const later of list.steps.slice(index + 1, last)) {
      if (targets.has(later)) return;
      const params = { step: later.id, end: spec.id, ends: 'this list of steps' };
      this.#reports.report('SW4013', later.at, params);
    }
  }
}

/** The ids that a step may jump to. */
function reachableFrom(spec: StepSpec): string[] {
  const outer = spec.list.container === undefined ? [] : reachableFrom(spec.list.container);
  return [...spec.list.steps.flatMap((step) => (step === spec ? [] : [step.id])), ...outer];
}

/** The id of the node that notes that a jump is taken. A jump back out of a list has its own node as well. */
export function markerOf({ spec, isBack }: Pick<Jump, 'spec' | 'isBack'>): string {
  return isBack ? `${spec.id}.taken` : spec.id;
}

export function jumpCondition(marker: string): Expr {
  return { kind: 'ref', root: 'steps', path: [marker], find: 'optional' };
}
