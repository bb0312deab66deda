import { Budget } from '../../graph/expression/evaluate.js';
import type { OwedEnd, OwedWork, ScopeRef } from './contract.js';
import type { ScopeInstance } from './instances.js';
import { hasFreePlace } from './ready-line.js';
import { ADVANCE_BUDGET, type Ended, type Turn } from './turn.js';

/** Writes down what is left of an event when its transition is at its limit. Nothing, where nothing is left. */
export function putOff(turn: Turn): void {
  const { recorder, at, budget, due, ended } = turn;
  const isReady = recorder.run.readyHead !== undefined && hasFreePlace(turn);
  if (recorder.run.status !== 'running' || (due.size === 0 && ended.length === 0 && !isReady)) return;
  recorder.draftRun().owed = {
    ...{ at, budget: budget.left, due: due.keys() },
    ended: ended.map(owedEnd),
  };
}

/** Takes up what the transition before left. */
export function takeUp(turn: Turn, owed: OwedWork): void {
  const { recorder, instances } = turn;
  const { owed: _owed, ...run } = recorder.run;
  recorder.putRun(run);
  turn.at = owed.at;
  turn.budget = new Budget(owed.budget, ADVANCE_BUDGET);
  for (const key of owed.due) turn.due.add(instances.find(key));
  for (const end of owed.ended) turn.ended.push(endOf(turn, end));
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

function endOf({ instances }: Turn, end: OwedEnd): Ended {
  switch (end.kind) {
    case 'scope': {
      const { container, part } = end.scope;
      const scope =
        container === undefined ? instances.root : instances.part(instances.find(container), part);
      return { kind: 'scope', scope };
    }
    case 'rollback':
      return { kind: 'rollback', of: instances.find(end.of) };
    case 'undone': {
      const { by, report, hasHalted } = end;
      return { kind: 'undone', by: by === undefined ? undefined : instances.find(by), report, hasHalted };
    }
  }
}

function scopeRef({ container, part }: ScopeInstance): ScopeRef {
  return container === undefined ? { part } : { container: container.key, part };
}
