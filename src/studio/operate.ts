import type { Json } from '../graph/json.js';
import type { OperatorCommand } from '../runtime/runs/actions/operator-commands.js';
import type { StoreOperator } from '../runtime/runs/operate/store-operator.js';
import type { RunPageOptions } from './run-page.js';
import type { OpenRun } from './run-source.js';

/** What a form of the page of a run has sent. */
export interface OperateForm extends Pick<RunPageOptions, 'mayAnswer'> {
  /** The last part of its address. */
  readonly act: string;
  readonly fields: URLSearchParams;
}

/** How long a server has to take a command, in ms. It is stored in any case. */
const WAIT_MS = 5_000;

/** Sends a run what a form says. Resolves with what is wrong, or with `undefined` for a command that was taken or stored. */
export async function operateRun(
  store: StoreOperator,
  run: OpenRun,
  form: OperateForm,
  by: string,
): Promise<string | undefined> {
  const reason = form.fields.get('reason')?.trim() ?? '';
  const operator = { kind: 'operator', name: by, ...(reason === '' ? {} : { reason }) } as const;
  if (form.act !== 'answer' && reason === '')
    return 'Give a reason: the log of the run keeps it. Nothing was done.';
  const commands = form.act === 'retry' ? retries(run) : commandOf(run, form);
  if (commands instanceof Refusal) return `${commands.message} Nothing was done.`;
  const sent: readonly OperatorCommand[] = commands === 'reopen' ? [] : commands;
  const outcomes = await Promise.all(sent.map((each) => store.send(run.head.id, each, operator, WAIT_MS)));
  if (commands === 'reopen') {
    const entries = await store.read((reader) => reader.entries(run.head, 1, run.head.seq));
    const reopened = await store.reopen({ ...run, entries }, operator);
    const steps = 'steps' in reopened ? reopened.steps : [];
    if (!('steps' in reopened)) outcomes.push(reopened);
    outcomes.push(
      ...(await Promise.all(
        steps.map((step) => store.send(run.head.id, { command: 'retry', step }, operator, WAIT_MS)),
      )),
    );
  }
  const refused = outcomes.find(({ outcome }) => outcome === 'refused');
  if (refused?.outcome === 'refused') return String(refused.failure.message ?? 'The run has refused it.');
  return outcomes.some(({ outcome }) => outcome === 'stored')
    ? 'It is stored: no server has taken it yet. The next one that uses the store does.'
    : undefined;
}

/** Why a form is not sent to its run. */
class Refusal extends Error {}

/** Which calls are made again. */
function retries({ shown: { view } }: OpenRun): readonly OperatorCommand[] | 'reopen' | Refusal {
  if (view.status === 'failed') return 'reopen';
  const paused = view.paused_steps ?? [];
  if (paused.length === 0) return new Refusal('No call of the run waits for a decision.');
  return paused.map(({ step_id: step }) => ({ command: 'retry', step }));
}

function commandOf(
  { shown: { view } }: OpenRun,
  { act, fields, mayAnswer }: OperateForm,
): readonly OperatorCommand[] | Refusal {
  const field = (name: string): string => fields.get(name) ?? '';
  switch (act) {
    case 'cancel': {
      const compensate = field('compensate') === '1';
      return [{ command: 'cancel', reason: field('reason').trim(), ...(compensate ? { compensate } : {}) }];
    }
    case 'decide': {
      const step = field('step');
      if (field('how') === 'did-not-happen')
        return [{ command: 'decide', step, outcome: { kind: 'didNotHappen' } }];
      const value = jsonIn(field('value') || 'null');
      return value instanceof Error
        ? new Refusal(`The value is not valid JSON: ${value.message}.`)
        : [{ command: 'decide', step, outcome: { kind: 'happened', value } }];
    }
    case 'answer': {
      const actionId = field('action');
      const action = view.actions.find((each) => each.action_id === actionId);
      if (action === undefined) return new Refusal('The question is not open any more.');
      if (!mayAnswer(action.answer_by)) return new Refusal('You may not answer this question.');
      const text = fields.get('text');
      const result = text ?? jsonIn(field('value'));
      if (result instanceof Error) return new Refusal(`The answer is not valid JSON: ${result.message}.`);
      return [{ command: 'answer', actionId, result }];
    }
    default:
      return new Refusal('There is no such form.');
  }
}

function jsonIn(text: string): Json | Error {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
