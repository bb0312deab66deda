import { Budget } from '../../graph/expression/evaluate.js';
import type { ScopeRecord } from './records.js';
import type { OwedEnd, OwedWork, ScopeRef } from './rows.js';
import { hasFreeSlot } from './slots.js';
import type { RunState } from './state.js';
import { ADVANCE_BUDGET, type Ended, type Transition } from './transition.js';

/** Writes down what is left of an event when its transition is at its limit. Nothing, where nothing is left. */
export function putOff(transition: Transition): void {
  const { state, at, budget, due, ended } = transition;
  const isReady = !state.queue.isEmpty && hasFreeSlot(transition);
  if (state.run.status === 'running' && (due.size > 0 || ended.length > 0 || isReady)) {
    const work = { at, budget: budget.left, due: due.keys(), ended: ended.map(owedEnd) };
    transition.changeRun().owed = work;
  }
}

/** Takes up what the transition before left. */
export function takeUp(transition: Transition, owed: OwedWork): void {
  const { state, due, ended } = transition;
  transition.changeRun().owed = undefined;
  transition.at = owed.at;
  transition.budget = new Budget(owed.budget, ADVANCE_BUDGET);
  for (const key of owed.due) due.add(state.find(key));
  for (const end of owed.ended) ended.push(endOf(state, end));
}

function owedEnd(end: Ended): OwedEnd {
  switch (end.kind) {
    case 'scope':
      return { kind: 'scope', scope: scopeRef(end.scope) };
    case 'rollback':
      return { kind: 'rollback', of: end.of.key };
    case 'undone': {
      const { by, report, hasHalted } = end;
      return { kind: 'undone', ...(by === undefined ? {} : { by: by.key }), report, hasHalted };
    }
  }
}

function endOf(state: RunState, end: OwedEnd): Ended {
  switch (end.kind) {
    case 'scope': {
      const { container, part } = end.scope;
      const scope = container === undefined ? state.root : state.partOf(state.find(container), part);
      return { kind: 'scope', scope };
    }
    case 'rollback':
      return { kind: 'rollback', of: state.find(end.of) };
    case 'undone': {
      const { by, report, hasHalted } = end;
      return { kind: 'undone', by: by === undefined ? undefined : state.find(by), report, hasHalted };
    }
  }
}

function scopeRef({ container, part }: ScopeRecord): ScopeRef {
  return container === undefined ? { part } : { container: container.key, part };
}
