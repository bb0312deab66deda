import { defined } from '../graph/defined.js';
import type { Json } from '../graph/json.js';
import { changesRows, valueOfForm } from '../print/form/fields.js';
import type { OperatorCommand } from '../runtime/runs/actions/operator-commands.js';
import {
  type RunCommands,
  retriesOf,
  type StoreOperator,
  sendCommands,
  undecidedSteps,
} from '../runtime/runs/operate/store-operator.js';
import type { StudioUser } from './access.js';
import { MOST_REASON_CHARS } from './html.js';
import type { FormOutcome, RunPageOptions } from './run-page.js';
import type { OpenRun } from './run-source.js';

/** What a form of the page of a run has sent. */
export interface OperateForm extends Pick<RunPageOptions, 'mayAnswer'> {
  /** The last part of its address. */
  readonly act: string;
  readonly fields: URLSearchParams;
}

/** How long a server has to take a command, in ms. It is stored in any case. */
const WAIT_MS = 5_000;

/** Sends a run what a form says. Resolves with what its page says of it; `undefined` for a command that was taken. */
export async function operateRun(
  store: StoreOperator,
  run: OpenRun,
  form: OperateForm,
  user: StudioUser,
): Promise<FormOutcome | undefined> {
  const reason = form.fields.get('reason')?.trim() ?? '';
  const { name, owner } = user;
  const operator = {
    kind: 'operator',
    name,
    principal: { ...owner },
    ...defined({ reason: reason || undefined }),
  } as const;
  if (form.act !== 'answer' && reason === '')
    return { notice: 'Give a reason: the log of the run keeps it. The run was not changed.' };
  if (reason.length > MOST_REASON_CHARS)
    return {
      notice: `The reason has ${reason.length} characters, and ${MOST_REASON_CHARS} are the most: write a shorter one. The run was not changed.`,
    };
  const commands = form.act === 'retry' ? retries(run) : commandOf(run, form);
  if (commands instanceof Refusal) return { notice: `${commands.message} The run was not changed.` };
  if (!isSendable(commands)) return commands;
  const outcomes = await store.read((reader) =>
    sendCommands(run, commands, { store, reader, by: operator, waitMs: WAIT_MS }),
  );
  const refused = outcomes.find(({ outcome }) => outcome === 'refused');
  if (refused?.outcome === 'refused')
    return { notice: String(refused.failure.message ?? 'The run has refused it.') };
  return outcomes.some(({ outcome }) => outcome === 'stored')
    ? { notice: 'It is stored: no server has taken it yet. The next one that uses the store does.' }
    : undefined;
}

/** Why a form is not sent to its run. */
class Refusal extends Error {}

/** Which calls are made again. */
function retries({ shown: { view } }: OpenRun): RunCommands | Refusal {
  if (view.status === 'failed') return 'reopen';
  const steps = undecidedSteps(view);
  return steps.length === 0 ? new Refusal('No call of the run waits for a decision.') : retriesOf(steps);
}

function commandOf(
  { shown: { view } }: OpenRun,
  { act, fields, mayAnswer }: OperateForm,
): readonly OperatorCommand[] | Refusal | FormOutcome {
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
      if (!('schema' in action) || action.schema === undefined) return new Refusal('It takes no answer.');
      if (changesRows(fields)) return { answer: { actionId, fields, faults: [] } };
      const reading = valueOfForm(action.schema, fields);
      if (!reading.ok) return { answer: { actionId, fields, faults: reading.faults } };
      return [{ command: 'answer', actionId, result: reading.value }];
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

function isSendable(value: RunCommands | FormOutcome): value is RunCommands {
  return value === 'reopen' || Array.isArray(value);
}
