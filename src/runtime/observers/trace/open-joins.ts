import type { JoinRule } from '../../../graph/model.js';

/** How a step stands once the calls of a hand-off have been made. */
export type Prospect =
  /** It is done, or its turn came before: what failed is for whoever follows the hand-off to put right. */
  | 'done'
  /** It is certainly left out. */
  | 'left'
  /** What its calls give decides whether it is left out. */
  | 'open';

/** A step that a join looks at. */
export interface Joined {
  readonly id: string;
  readonly prospect: Prospect;
}

/** What the join of a step says, if every call asked for before it succeeds. */
export type Turn =
  | { readonly kind: 'runs' }
  /** It is left out, since these are. */
  | { readonly kind: 'left'; readonly without: readonly string[] }
  /** It runs if all of these do, or one of them. */
  | { readonly kind: 'open'; readonly needs: readonly string[]; readonly how: 'all' | 'one' };

export const RUNS: Turn = { kind: 'runs' };

/** Whether a step comes to its turn, where nothing fails any more. See `join` of the engine. */
export function turnOf(rule: JoinRule, joined: readonly Joined[]): Turn {
  const idsOf = (prospect: Prospect) =>
    joined.filter((each) => each.prospect === prospect).map(({ id }) => id);
  const [left, open] = [idsOf('left'), idsOf('open')];
  switch (rule) {
    case 'all_success':
      if (left.length > 0) return { kind: 'left', without: left };
      return open.length > 0 ? { kind: 'open', needs: open, how: 'all' } : RUNS;
    case 'one_success':
    case 'none_failed_min_one_success':
      if (joined.length > left.length + open.length || joined.length === 0) return RUNS;
      return open.length > 0 ? { kind: 'open', needs: open, how: 'one' } : { kind: 'left', without: left };
    case 'none_failed':
    case 'all_done':
      return RUNS;
    default:
      return rule satisfies never;
  }
}
