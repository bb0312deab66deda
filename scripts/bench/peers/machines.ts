import { type AnyStateMachine, createActor, enqueueActions, fromPromise, setup, toPromise } from 'xstate';
import { increment } from '../host.js';

/** A tool in XState: an actor made of a promise. */
const tool = fromPromise<{ n: number }, { n: number }>(async ({ input }) => increment(input));

/** `line` as a machine: a state for each call, which invokes the tool and then goes to the next state. */
export function lineMachine(count: number): AnyStateMachine {
  const steps = setup({
    types: { context: {} as { n: number } },
    actors: { tool },
  });
  const states: Parameters<typeof steps.createMachine>[0]['states'] = { end: { type: 'final' } };
  for (let place = 0; place < count; place += 1) {
    states[`s${place}`] = {
      invoke: {
        src: 'tool',
        input: ({ context }) => ({ n: context.n }),
        onDone: {
          target: place + 1 < count ? `s${place + 1}` : 'end',
          actions: steps.assign({ n: ({ event }) => event.output.n }),
        },
      },
    };
  }
  return steps.createMachine({
    context: { n: 0 },
    initial: 's0',
    output: ({ context }) => context.n,
    states,
  }) as AnyStateMachine;
}

interface LoopContext {
  readonly items: readonly number[];
  readonly results: number[];
  readonly next: number;
  readonly done: number;
}

/** `loop` as a machine that spawns an actor for each item, and the next one when one has ended. */
export function loopMachine(concurrency: number): AnyStateMachine {
  return setup({
    types: { context: {} as LoopContext, input: {} as readonly number[] },
    actors: { tool },
  }).createMachine({
    context: ({ input }) => ({ items: input, results: [], next: 0, done: 0 }),
    initial: 'going',
    output: ({ context }) => context.results,
    states: {
      going: {
        entry: enqueueActions(({ context, enqueue }) => {
          const first = Math.min(concurrency, context.items.length);
          for (let place = 0; place < first; place += 1) {
            enqueue.spawnChild('tool', { id: `${place}`, input: { n: context.items[place] ?? 0 } });
          }
          enqueue.assign({ next: first });
        }),
        on: {
          'xstate.done.actor.*': {
            actions: enqueueActions(({ context, event, enqueue }) => {
              const { actorId, output } = event as unknown as { actorId: string; output: { n: number } };
              const { items, results, next, done } = context;
              enqueue.stopChild(actorId);
              // In place: a copy for each item would cost more than the item.
              results[Number(actorId)] = output.n;
              if (next < items.length) {
                enqueue.spawnChild('tool', { id: `${next}`, input: { n: items[next] ?? 0 } });
              }
              enqueue.assign({ done: done + 1, next: Math.min(next + 1, items.length) });
            }),
          },
        },
        always: { guard: ({ context }) => context.done === context.items.length, target: 'end' },
      },
      end: { type: 'final' },
    },
  });
}

/** A machine that waits for an answer. */
export function questionMachine(): AnyStateMachine {
  return setup({ types: { context: {} as { n: number } } }).createMachine({
    context: { n: 2 },
    initial: 'sure',
    states: { sure: { on: { answered: 'end' } }, end: { type: 'final' } },
  });
}

/** Runs a machine to its end. */
export async function runMachine(machine: AnyStateMachine, input?: readonly number[]): Promise<unknown> {
  const actor = createActor(machine, { input });
  const ended = toPromise(actor);
  actor.start();
  return ended;
}
