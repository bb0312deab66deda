import type { Owner } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { Envelope } from '../runs/run/envelope.js';
import { identityOf } from '../runs/run/owner.js';
import type { RunStore, Waiter } from '../runs/run-store.js';
import type { LinkedQuestion, PagesParts, QuestionPages } from './question-page.js';
import { withMethods } from './repeated-starts.js';
import { Seal } from './seal.js';

/** Where pages of questions are, below the address of a server. */
const PAGES_PATH = '/questions/';

/** How long a link can be used, in ms: 30 days. The question may be over before. */
const LINK_MS = 2_592_000_000;

interface LinksParts extends Omit<PagesParts, 'seal'> {
  readonly sealing: Pick<RunStore, 'key'>;
  readonly publicUrl?: string;
}

/** Addresses of the pages on which people answer questions: each is a token that its server alone can read. */
export class QuestionLinks {
  readonly seal: Seal;
  readonly #parts: LinksParts;
  #origin: string | undefined;

  constructor(parts: LinksParts) {
    this.#parts = parts;
    this.seal = new Seal(parts.sealing, 'question page');
  }

  /** Where people reach the server. Undefined before its first request over HTTP, and over stdio. */
  get base(): string | undefined {
    return this.#parts.publicUrl?.replace(/\/$/, '') ?? this.#origin;
  }

  /** Clients reach the server at this origin. The option `publicUrl` wins. */
  reachedAt(origin: string): void {
    this.#origin = origin;
  }

  /** The pages themselves, loaded with the first one. */
  async pages(): Promise<QuestionPages> {
    const { QuestionPages } = await import('./question-page.js');
    return new QuestionPages({ ...this.#parts, seal: this.seal });
  }

  /** The address of the page of a question. Undefined where the server is not reached over HTTP. */
  async urlOf({ run, action, owner }: LinkedQuestion): Promise<string | undefined> {
    if (this.base === undefined) return undefined;
    const value: JsonObject = { run, action, owner: identityOf(owner) };
    return `${this.base}${PAGES_PATH}${await this.seal.seal(value, Date.now() + LINK_MS)}`;
  }

  /** The state of a run with the addresses of the pages of its questions. */
  async linked(envelope: Envelope, owner: Owner): Promise<Envelope> {
    const { base } = this;
    if (base === undefined || !envelope.actions.some(hasPage)) return envelope;
    const actions = await Promise.all(
      envelope.actions.map(async (action) => {
        if (!hasPage(action)) return action;
        const question = { run: envelope.workflow_id, action: action.action_id, owner };
        return { ...action, ...defined({ page_url: await this.urlOf(question) }) };
      }),
    );
    const [action] = actions;
    return { ...envelope, actions, ...(envelope.action === undefined ? {} : defined({ action })) };
  }
}

/** The token in the address of a page. Undefined for another address. A proxy may put a path before it. */
export function tokenOf({ pathname }: URL): string | undefined {
  const at = pathname.lastIndexOf(PAGES_PATH);
  const token = at < 0 ? '' : pathname.slice(at + PAGES_PATH.length);
  return /^[\w-]+$/.test(token) ? token : undefined;
}

/** Whether people answer it. */
function hasPage(action: Envelope['actions'][number]): boolean {
  return action.type === 'prompt' && action.parameters.type !== 'model';
}

/** Runs with links to the pages of their questions, in each state that their owner gets. */
export function linkedRuns(runs: RunStore, links: QuestionLinks): RunStore {
  const linked = async <A extends object>(owner: Owner, pending: Promise<A>): Promise<A> => {
    const answer = await pending;
    if (!('envelope' in answer)) return answer;
    return { ...answer, envelope: await links.linked(answer.envelope as Envelope, owner) };
  };
  const withPages = (waiter: Waiter): Waiter => ({ ...waiter, pageOf: (question) => links.urlOf(question) });
  return withMethods(runs, {
    start: (run, waiter) => linked(run.owner, runs.start(run, withPages(waiter))),
    get: (caller, id, { waiter, ...how } = {}) =>
      linked(caller, runs.get(caller, id, { ...how, ...defined({ waiter: waiter && withPages(waiter) }) })),
    submit: (caller, id, submission, waiter) =>
      linked(caller, runs.submit(caller, id, submission, withPages(waiter))),
    setVariables: (caller, ...rest) => linked(caller, runs.setVariables(caller, ...rest)),
    cancel: (caller, ...rest) => linked(caller, runs.cancel(caller, ...rest)),
  });
}
