import { canonicalJson } from '../../../src/graph/canonical.js';
import type { Json, JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { planOf } from '../../../src/plan/compile.js';
import type { Advance, Row, RunState } from '../../../src/runtime/engine/contract.js';
import type { Event, StartIds } from '../../../src/runtime/engine/events.js';
import { remainsOf } from '../../../src/runtime/engine/read.js';
import { foldRows, restore } from '../../../src/runtime/engine/snapshot.js';
import { drive, ENGINE, idsIn } from '../../oracle/drive.js';
import type { RunCase } from './cases.js';

/** What a run is begun with: the first line of its log. */
interface Beginning {
  readonly graph: Graph;
  readonly input: JsonObject;
  readonly ids: StartIds;
}

/** The log of a run: what it was begun with, its events, and behind each what it led to. One JSON value in each line. */
export function record({ graph, input = {}, world }: RunCase): string {
  const events: Event[] = [];
  drive(ENGINE, graph, input, { ...world, luck: [] }, ({ event }) => {
    if (event !== undefined) events.push(event);
  });
  return replayed({ graph, input, ids: idsIn({ ...world, luck: [] }) }, events);
}

/** The log that the events of a log give. */
export function replay(log: string): string {
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { begin?: Beginning; event?: Event });
  const [{ begin } = {}] = lines;
  if (begin === undefined) throw new Error('a log begins with what the run was begun with');
  return replayed(
    begin,
    lines.flatMap(({ event }) => event ?? []),
  );
}

/** Each event is read into a state that was put together from the rows before it. */
function replayed(begin: Beginning, events: readonly Event[]): string {
  const plan = planOf(begin.graph);
  const lines: object[] = [{ begin }];
  const rows: Advance['changes'][number][] = [];
  const note = ({ facts, commands, changes, state }: Advance): RunState => {
    for (const fact of facts) lines.push({ fact });
    for (const command of commands) lines.push({ command });
    for (const row of changes) lines.push({ row });
    rows.push(...changes);
    return state;
  };
  let state = note(ENGINE.start(plan, begin.input, begin.ids));
  for (const event of events) {
    lines.push({ event });
    const stored = restore(plan, JSON.parse(JSON.stringify(foldRows(rows))) as Row[]);
    state = note(ENGINE.advance(plan, stored, [event]));
  }
  lines.push({ remains: remainsOf(plan, state) as unknown as Json });
  return `${lines.map((line) => canonicalJson(line as Json)).join('\n')}\n`;
}
