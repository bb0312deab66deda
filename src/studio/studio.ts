import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Owner } from '../decorators/context.js';
import type { JsonObject } from '../graph/json.js';
import { changesRows, type FormFault, valueOfForm } from '../print/form/fields.js';
import { mayAnswer } from '../runtime/runs/actions/answerers.js';
import type { StoreOperator } from '../runtime/runs/operate/store-operator.js';
import { StoreError, UnreadableRunError } from '../runtime/runs/store/store-error.js';
import { inputSchemaOf } from '../runtime/server/composite/served-workflows.js';
import { runRef } from '../runtime/tools/port.js';
import { readBody } from '../runtime/transports/http/bodies.js';
import { hostValidation } from '../runtime/transports/http/host-validation.js';
import { html, type Part, pageOf, type View } from './html.js';
import { type OperateForm, operateRun } from './operate.js';
import { type FormOutcome, type RunPageOptions, runParts, runView } from './run-page.js';
import { changes, type OpenRun, RunSource } from './run-source.js';
import { queryOf, runsParts, runsView } from './runs-page.js';
import { STUDIO_SCRIPT } from './script.js';
import { STUDIO_STYLE } from './style.js';
import {
  type FateOf,
  fatesOf,
  type ServedDefinition,
  type StudioProject,
  servedDefinitions,
  startWorkflow,
  tryWorkflow,
} from './workflows.js';
import { changeView, type WorkflowPageOptions, workflowsView, workflowView } from './workflows-page.js';

export interface StudioOptions {
  readonly store: StoreOperator;
  /** Who looks: permitted answers are given as this user. */
  readonly user: Owner;
  /** How the log of a run names the user. */
  readonly userName: string;
  /** Opens the page: the address that is printed has it. */
  readonly token: string;
  /** See `HostValidationOptions`. Default: this machine alone. */
  readonly allowedHosts?: readonly string[];
  /** Default: the page knows the runs alone. */
  readonly projects?: readonly StudioProject[];
  readonly fateOf?: FateOf;
}

/** Answers the requests of the page of a store. */
export interface Studio {
  (request: Request): Promise<Response>;
  /** Ends all streams, and closes the store. */
  close(): Promise<void>;
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  // Forms are taken with the origin of this page alone: `no-referrer` would leave it out.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** The most bytes of a form. */
const FORM_BYTES = 4_194_304;

/** Makes the page of a store: its workflows and its runs. */
export function studioOf(options: StudioOptions): Studio {
  const studio = new StudioPages(options);
  return Object.assign((request: Request) => studio.answer(request), { close: () => studio.close() });
}

class StudioPages {
  readonly #options: StudioOptions;
  readonly #runs: RunSource;
  readonly #refusalOf: ReturnType<typeof hostValidation>;
  /** Of forms: a page of another origin cannot read it. */
  readonly #formKey: string;
  readonly #closed = new AbortController();

  constructor(options: StudioOptions) {
    this.#options = options;
    this.#runs = new RunSource(options.store);
    const { allowedHosts } = options;
    this.#refusalOf = hostValidation(allowedHosts === undefined ? {} : { allowedHosts });
    this.#formKey = createHmac('sha256', options.token).update('form').digest('hex');
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#runs.close();
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const refusal = this.#refusalOf(Object.fromEntries(request.headers));
    if (refusal !== undefined) return new Response(refusal.body, refusal);
    const asset = ASSETS[url.pathname];
    if (asset !== undefined) return reply(asset.text, 200, { 'content-type': asset.type });
    const token = url.searchParams.get('token');
    if (token !== null && this.#isToken(token)) return this.#signIn(url);
    if (!this.#isToken(cookieOf(request, cookieName(url)) ?? '')) return this.#signedOut();
    try {
      return await this.#routed(request, url);
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof UnreadableRunError)) throw error;
      const what = error instanceof StoreError ? 'store' : 'run';
      return this.#page(
        {
          title: 'Fault',
          parts: [{ id: 'fault', content: html`<h1>The ${what} cannot be read</h1><p>${error.message}</p>` }],
        },
        503,
      );
    }
  }

  #isToken(text: string): boolean {
    const hash = (value: string): Buffer => createHash('sha256').update(value).digest();
    return timingSafeEqual(hash(text), hash(this.#options.token));
  }

  /** Keeps the token in a cookie, and takes it out of the address. */
  #signIn(url: URL): Response {
    url.searchParams.delete('token');
    const cookie = `${cookieName(url)}=${this.#options.token}; Path=/; HttpOnly; SameSite=Strict`;
    return reply('', 303, { location: `${url.pathname}${url.search}`, 'set-cookie': cookie });
  }

  #signedOut(): Response {
    const content = html`<h1>Open the printed address</h1><p>This page shows runs and moves them on, so that it opens with the address alone that <code>stepwright studio</code> has printed: it ends with <code>?token=</code> and a secret.</p>`;
    return this.#page({ title: 'Not signed in', parts: [{ id: 'fault', content }] }, 403);
  }

  async #routed(request: Request, url: URL): Promise<Response> {
    const [, view, name, act, ...more] = url.pathname.split('/').map(decoded);
    const isPost = request.method === 'POST';
    if (!isPost && request.method !== 'GET') return this.#notFound();
    if (view === 'workflows' && more.length === 0) return this.#workflow(request, name, act);
    if (isPost && view === 'runs' && name !== undefined && act !== undefined && more.length === 0)
      return this.#sent(request, (fields) => this.#operate(name, act, fields));
    if (isPost) return this.#notFound();
    if (view === '') return seeOther('/runs');
    if (view === 'runs' && name === undefined) return this.#list(url);
    if (view === 'runs' && name !== undefined && act === undefined) return this.#run(name);
    if (view === 'live' && name === 'runs' && more.length === 0) return this.#live(request, url, act);
    return this.#notFound();
  }

  #notFound(what = 'There is no such page'): Response {
    return this.#page(
      {
        title: 'Not found',
        parts: [{ id: 'fault', content: html`<h1>${what}</h1><p><a href="/runs">All runs</a></p>` }],
      },
      404,
    );
  }

  #page(view: View, code = 200): Response {
    const { store, userName } = this.#options;
    return reply(pageOf(view, { store: store.path, user: userName }), code, {
      'content-type': 'text/html; charset=utf-8',
    });
  }

  get #definitions(): readonly ServedDefinition[] {
    return servedDefinitions(this.#options.projects ?? []);
  }

  async #workflow(request: Request, name: string | undefined, act: string | undefined): Promise<Response> {
    const definitions = this.#definitions;
    const isPost = request.method === 'POST';
    if (name === undefined) return isPost ? this.#notFound() : this.#page(workflowsView(definitions));
    const definition = definitions.find(({ graph }) => graph.name === name);
    if (definition === undefined) return this.#notFound(`There is no workflow ${name}`);
    const { fateOf } = this.#options;
    if (act === 'change' && !isPost && fateOf !== undefined) {
      const fates = await this.#options.store.read((reader) => fatesOf(name, reader, fateOf));
      return this.#page(changeView(definition, fates));
    }
    const options = { formKey: this.#formKey, canStart: definition.project.server !== undefined };
    if (act === undefined && !isPost) return this.#page(workflowView(definition, options));
    if (!isPost || (act !== 'start' && act !== 'dry')) return this.#notFound();
    return this.#sent(request, (fields) => this.#begin(definition, act, fields, options));
  }

  /** Starts a run, or a dry one, with what a form has sent. */
  async #begin(
    definition: ServedDefinition,
    act: 'start' | 'dry',
    fields: URLSearchParams,
    options: Pick<WorkflowPageOptions, 'formKey' | 'canStart'>,
  ): Promise<Response> {
    const stubs = fields.get('stubs') ?? '';
    const again = (
      more: Partial<WorkflowPageOptions>,
      faults: readonly FormFault[] = [],
      code = 200,
    ): Response =>
      this.#page(workflowView(definition, { ...options, sent: { fields, faults, stubs }, ...more }), code);
    if (changesRows(fields)) return again({});
    const reading = valueOfForm(inputSchemaOf(definition.graph), fields);
    if (!reading.ok) return again({}, reading.faults, 422);
    const value = reading.value as JsonObject;
    const outcome =
      act === 'dry' ? await tryWorkflow(definition, value, stubs) : await startWorkflow(definition, value);
    if (outcome instanceof Error) return again({ notice: outcome.message }, [], 422);
    return 'run' in outcome ? seeOther(`/runs/${runRef(outcome.run)}`) : again({ report: outcome });
  }

  /** Takes a form of this page alone. */
  async #sent(request: Request, work: (fields: URLSearchParams) => Promise<Response>): Promise<Response> {
    const body = await readBody(request, FORM_BYTES);
    const fields = new URLSearchParams(body);
    if (body !== undefined && request.headers.get('origin') !== null && fields.get('key') === this.#formKey)
      return work(fields);
    const content = html`<h1>The form is not of this page</h1><p>It had no effect. Or it has more than ${FORM_BYTES} bytes. Load the page again.</p>`;
    return this.#page({ title: 'Refused', parts: [{ id: 'fault', content }] }, 403);
  }

  async #list(url: URL): Promise<Response> {
    const query = queryOf(url.searchParams);
    const page = await this.#runs.list(query);
    const used = page.rows.map(({ workflow }) => workflow);
    const defined = this.#definitions.map(({ graph }) => graph.name);
    const workflows = [...new Set([...defined, ...used])].sort();
    return this.#page(runsView(page, query, { workflows, version: digest(page) }));
  }

  async #run(name: string, shown: FormOutcome = {}): Promise<Response> {
    const version = await this.#runs.versionOf(name);
    const run = await this.#runs.open(name);
    if (run === undefined) return this.#notFound(`The store has no run ${name}`);
    const code = shown.notice === undefined && shown.answer === undefined ? 200 : 422;
    return this.#page(runView(run, { ...this.#optionsOf(run), version, ...shown }), code);
  }

  #optionsOf(run: OpenRun): Omit<RunPageOptions, 'version'> {
    const { user } = this.#options;
    const { owner = { kind: 'anonymous' } } = run.shown.view;
    return { mayAnswer: (answerBy) => mayAnswer(answerBy, user, owner), formKey: this.#formKey };
  }

  async #operate(name: string, act: string, fields: URLSearchParams): Promise<Response> {
    const run = await this.#runs.open(name);
    if (run === undefined) return this.#notFound(`The store has no run ${name}`);
    const { store, userName } = this.#options;
    const form: OperateForm = { act, fields, ...this.#optionsOf(run) };
    const outcome = await operateRun(store, run, form, userName);
    return outcome === undefined ? seeOther(`/runs/${encodeURIComponent(name)}`) : this.#run(name, outcome);
  }

  /** The changes of a list, or of a run, as a stream of events. */
  #live(request: Request, url: URL, name: string | undefined): Response {
    const query = queryOf(url.searchParams);
    const signal = AbortSignal.any([request.signal, this.#closed.signal]);
    const look = async (): Promise<string> =>
      name === undefined ? digest(await this.#runs.list(query)) : this.#runs.versionOf(name);
    const partsNow = async (): Promise<readonly Part[]> => {
      if (name === undefined) return runsParts(await this.#runs.list(query), query);
      const run = await this.#runs.open(name);
      return run === undefined ? [] : runParts(run, { ...this.#optionsOf(run), version: '' });
    };
    const sent = new Map<string, string>();
    const messages = async function* (): AsyncGenerator<string> {
      yield 'retry: 1000\n\n';
      for await (const _ of changes(look, url.searchParams.get('at') ?? '', signal)) {
        const parts = (await partsNow()).filter(({ id, content }) => sent.get(id) !== content.text);
        for (const { id, content } of parts) sent.set(id, content.text);
        if (parts.length > 0)
          yield `data: ${JSON.stringify(parts.map(({ id, content }) => ({ id, html: content.text })))}\n\n`;
      }
    };
    return new Response(streamOf(messages()), {
      headers: { ...HEADERS, 'content-type': 'text/event-stream' },
    });
  }
}

/** A stream that ends without an error where the store cannot be read: the browser connects again. */
function streamOf(messages: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await messages.next().catch(() => ({ value: undefined, done: true }));
      if (done === true || value === undefined) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await messages.return(undefined);
    },
  });
}

const ASSETS: Readonly<Record<string, { readonly text: string; readonly type: string }>> = {
  '/studio.js': { text: STUDIO_SCRIPT, type: 'text/javascript; charset=utf-8' },
  '/studio.css': { text: STUDIO_STYLE, type: 'text/css; charset=utf-8' },
};

function seeOther(location: string): Response {
  return reply('', 303, { location });
}

function reply(body: string, code: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(code === 303 ? null : body, { status: code, headers: { ...HEADERS, ...headers } });
}

/** Cookies are of a host with all its ports. */
function cookieName({ port }: URL): string {
  return `stepwright_studio_${port === '' ? '0' : port}`;
}

function cookieOf(request: Request, name: string): string | undefined {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}
