import type { Graph } from '../../graph/model.js';
import { ask, foreach, item, required, runs, withTasks } from '../engine/constructs.fixture.js';
import { chain, done, graph, input, lit, step, text } from '../engine/graph.fixture.js';
import type { Envelope } from './run/envelope.js';
import type { RunStore, Waiter } from './run-store.js';

/** A task with two questions about a file. */
const review = graph(
  chain(
    ask('read', 'text', { message: text('Read ', input('file')) }),
    ask('sure'),
    done('out', step('read', 'input')),
  ),
  { name: 'review', inputs: [required('file')] },
);

/** Sub-agents review files, so many at once; then the caller is asked. */
export function reviews(files: readonly string[], concurrency = files.length): Graph {
  const each = foreach(
    'each',
    lit([...files]),
    { nodes: [runs('each.item', 'review', { file: item('item') })], value: step('each.item') },
    { agent: '@reviewer', concurrency, onItemError: 'continue' },
  );
  return withTasks(graph(chain(each, ask('last'), done('out', step('each')))), review);
}

interface Loop {
  readonly instructions: string;
  readonly agent: string;
  readonly task: string;
  readonly children: readonly {
    readonly workflow_id: string;
    readonly item: unknown;
    readonly prompt: string;
  }[];
}

/** The loop that is open in an envelope. */
export function loopIn({ actions }: Envelope): Loop {
  const [loop] = actions.filter(({ type }) => type === 'delegate');
  if (loop === undefined) throw new Error('no loop is open');
  return loop.parameters as unknown as Loop;
}

/** The ids of the children that are open in an envelope. */
export function childrenIn(envelope: Envelope): readonly string[] {
  return loopIn(envelope).children.map(({ workflow_id }) => workflow_id);
}

type Next = Awaited<ReturnType<RunStore['nextStep']>>;
type Owner = Parameters<RunStore['nextStep']>[0];
type Sent = NonNullable<Parameters<RunStore['nextStep']>[3]>;

/** Where a sub-agent sends its requests. */
interface Host {
  readonly store: RunStore;
  waiter(): Waiter;
}

/** A sub-agent: it has the id of a child, and no other. */
export class Agent {
  readonly #at: Host;
  readonly #owner: Owner;
  readonly #child: string;

  constructor(at: Host, owner: Owner, child: string | undefined) {
    if (child === undefined) throw new Error('there is no child');
    this.#at = at;
    this.#owner = owner;
    this.#child = child;
  }

  next(): Promise<Next> {
    return this.#at.store.nextStep(this.#owner, this.#child, this.#at.waiter());
  }

  send(sent: Sent): Promise<Next> {
    return this.#at.store.nextStep(this.#owner, this.#child, this.#at.waiter(), sent);
  }

  /** Does the whole task. */
  async review(result: string): Promise<Next> {
    await this.send({ stepId: 'read', result });
    return this.send({ stepId: 'sure', result: true });
  }
}
