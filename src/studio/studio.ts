import { createHash } from 'node:crypto';
import type { JsonObject } from '../graph/json.js';
import { changesRows, type FormFault, valueOfForm } from '../print/form/fields.js';
import type { StoreOperator } from '../runtime/runs/operate/store-operator.js';
import { mayAnswer } from '../runtime/runs/run/owner.js';
import { StoreError, UnreadableRunError } from '../runtime/runs/store/store-error.js';
import { inputSchemaOf } from '../runtime/server/composite/served-workflows.js';
import { runRef } from '../runtime/tools/port.js';
import { readBody } from '../runtime/transports/http/bodies.js';
import { hostValidation } from '../runtime/transports/http/host-validation.js';
import type { StudioAccess, StudioUser } from './access.js';
import { ASSETS, html, type Part, pageOf, signInView, type View } from './html.js';
import { type OperateForm, operateRun } from './operate.js';
import { type FormOutcome, type RunPageOptions, runParts, runView } from './run-page.js';
import { type OpenRun, RunSource } from './run-source.js';
import { leftOut, queryOf, runsParts, runsView } from './runs-page.js';
import {
  type FateOf,
  fatesOf,
  knownDefinitions,
  type ServedDefinition,
  type StudioProject,
  servedDefinitions,
  startWorkflow,
  tryWorkflow,
} from './workflows.js';
import { changeView, type WorkflowPageOptions, workflowsView, workflowView } from './workflows-page.js';

export interface StudioOptions {
  readonly store: StoreOperator;
  readonly access: StudioAccess;
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

/** Where a token is sent to. */
const SIGN_IN = '/sign-in';

/** The longest token, in characters: browsers drop a longer cookie without a word. */
const MOST_TOKEN_CHARS = 3_800;

/** A stream ends after so long, in ms, and the browser connects again: whom it is for is checked then. */
const STREAM_MS = 300_000;

/** Makes the page of a store: its workflows and its runs. */
export function studioOf(options: StudioOptions): Studio {
  const studio = new StudioPages(options);
  return Object.assign((request: Request) => studio.answer(request), { close: () => studio.close() });
}

/** Knows whom a request is of. */
class StudioPages {
  readonly #options: StudioOptions;
  readonly #runs: RunSource;
  readonly #refusalOf: ReturnType<typeof hostValidation>;
  readonly #closed = new AbortController();

  constructor(options: StudioOptions) {
    this.#options = options;
    this.#runs = new RunSource(options.store);
    const { allowedHosts } = options;
    this.#refusalOf = hostValidation(allowedHosts === undefined ? {} : { allowedHosts });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#runs.close();
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const refusal = this.#refusalOf(Object.fromEntries(request.headers));
    if (refusal !== undefined) return new Response(refusal.body, refusal);
    const asset = ASSETS.get(`${url.pathname}${url.search}`);
    if (asset !== undefined)
      return reply(asset.text, 200, { 'content-type': asset.type, 'cache-control': KEPT });
    const { access } = this.#options;
    if (url.pathname === SIGN_IN && request.method === 'POST') return this.#signIn(request, url);
    const printed = access.isPrinted ? url.searchParams.get('token') : null;
    url.searchParams.delete('token');
    if (printed !== null && typeof (await access.userOf(printed, request)) === 'object')
      return signedIn(request, url, printed);
    const [, sent] = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    const token = sent ?? cookieOf(request, cookieName(url));
    const user = token === undefined ? undefined : await access.userOf(token, request);
    if (typeof user !== 'object') return this.#signedOut(url, user);
    const visit = {
      request,
      url,
      user,
      formKey: access.formKeyOf(user),
      canSignOut: sent === undefined && !access.isPrinted,
    };
    return new Visit({ ...this.#options, runs: this.#runs, closed: this.#closed.signal }, visit).answer();
  }

  /** Takes the token of a form, and leads to the page that was asked for. */
  async #signIn(request: Request, url: URL): Promise<Response> {
    const fields = new URLSearchParams(await readBody(request, FORM_BYTES));
    const token = fields.get('token')?.trim() ?? '';
    const text = fields.get('to') ?? '/';
    const { pathname, search } = URL.canParse(text, url.href) ? new URL(text, url) : new URL('/', url);
    const to = new URL(`${url.origin}${pathname === SIGN_IN ? '/' : pathname}${search}`);
    if (request.headers.get('origin') === null) return this.#signedOut(to, 'The form is not of this page.');
    if (token.length > MOST_TOKEN_CHARS)
      return this.#signedOut(
        to,
        `The token has ${token.length} characters, and a browser keeps ${MOST_TOKEN_CHARS}: let a proxy send it, as the header Authorization.`,
      );
    const user = await this.#options.access.userOf(token, request);
    return typeof user === 'object' ? signedIn(request, to, token) : this.#signedOut(to, user);
  }

  /** @param why no page is opened with the token of the request. Missing without one. */
  #signedOut({ pathname, search }: URL, why?: string): Response {
    const { access, store } = this.#options;
    return pageReply(signInView(access.hint, `${pathname}${search}`, why), { store: store.path }, 403);
  }
}

/** What all visits share. */
interface StudioParts extends Omit<StudioOptions, 'access' | 'allowedHosts'> {
  readonly runs: RunSource;
  /** Aborted when the page is closed. */
  readonly closed: AbortSignal;
}

/** A request of a user. */
interface UserRequest {
  readonly request: Request;
  /** Without a token. */
  readonly url: URL;
  readonly user: StudioUser;
  readonly formKey: string;
  /** Whether a form has signed it in. */
  readonly canSignOut: boolean;
}

/** Answers one request of a user. */
class Visit {
  readonly #parts: StudioParts;
  readonly #by: UserRequest;

  constructor(parts: StudioParts, by: UserRequest) {
    this.#parts = parts;
    this.#by = by;
  }

  async answer(): Promise<Response> {
    try {
      return await this.#routed();
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof UnreadableRunError)) throw error;
      const what = error instanceof StoreError ? 'store' : 'run';
      const content = html`<h1>The ${what} cannot be read</h1><p>${error.message}</p>`;
      return this.#page({ title: 'Fault', parts: [{ id: 'fault', content }] }, 503);
    }
  }

  async #routed(): Promise<Response> {
    const { request, url } = this.#by;
    const [, view, name, act, ...more] = url.pathname.split('/').map(decoded);
    const isPost = request.method === 'POST';
    if (!isPost && request.method !== 'GET') return this.#notFound();
    if (view === 'workflows' && more.length === 0) return this.#workflow(name, act);
    if (isPost && view === 'sign-out' && name === undefined) return this.#sent(async () => signedOut(url));
    if (isPost && view === 'runs' && name !== undefined && act !== undefined && more.length === 0)
      return this.#sent((fields) => this.#operate(name, act, fields));
    if (isPost) return this.#notFound();
    if (view === '') return seeOther('/runs');
    if (view === 'runs' && name === undefined) return this.#list();
    if (view === 'runs' && name !== undefined && act === undefined) return this.#run(name);
    if (view === 'live' && name === 'runs' && more.length === 0) return this.#live(act);
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
    const { user, formKey, canSignOut } = this.#by;
    const { store } = this.#parts;
    const frame = { store: store.path, user: user.name, ...(canSignOut ? { formKey } : {}) };
    return pageReply(view, frame, code);
  }

  get #definitions(): readonly ServedDefinition[] {
    return servedDefinitions(this.#parts.projects ?? []);
  }

  async #workflow(name: string | undefined, act: string | undefined): Promise<Response> {
    const definitions = this.#definitions;
    const { request, formKey } = this.#by;
    const isPost = request.method === 'POST';
    if (name === undefined) return isPost ? this.#notFound() : this.#page(workflowsView(definitions));
    const definition = definitions.find(({ graph }) => graph.name === name);
    if (definition === undefined) return this.#notFound(`There is no workflow ${name}`);
    const { fateOf, runs } = this.#parts;
    if (act === 'change' && !isPost && fateOf !== undefined) {
      const { searchParams } = this.#by.url;
      const [from, to] = ['from', 'to'].map((each) => searchParams.get(each) ?? undefined);
      return runs.read(async (reader) => {
        const fates = await fatesOf(name, reader, fateOf);
        const recorded = await knownDefinitions(definition, reader);
        return this.#page(changeView(definition, { fates, definitions: recorded, from, to }));
      });
    }
    const options = { formKey, canStart: definition.project.server !== undefined };
    if (act === undefined && !isPost) return this.#page(workflowView(definition, options));
    if (!isPost || (act !== 'start' && act !== 'dry')) return this.#notFound();
    return this.#sent((fields) => this.#begin(definition, act, fields, options));
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
      act === 'dry'
        ? await tryWorkflow(definition, value, stubs)
        : await startWorkflow(definition, value, this.#by.user);
    if (outcome instanceof Error) return again({ notice: outcome.message }, [], 422);
    return 'run' in outcome ? seeOther(`/runs/${runRef(outcome.run)}`) : again({ report: outcome });
  }

  /** Takes a form of this page alone. */
  async #sent(work: (fields: URLSearchParams) => Promise<Response>): Promise<Response> {
    const { request, formKey } = this.#by;
    const body = await readBody(request, FORM_BYTES);
    const fields = new URLSearchParams(body);
    if (body !== undefined && request.headers.get('origin') !== null && fields.get('key') === formKey)
      return work(fields);
    const content = html`<h1>The form is not of this page</h1><p>It had no effect. Or it has more than ${FORM_BYTES} bytes. Load the page again.</p>`;
    return this.#page({ title: 'Refused', parts: [{ id: 'fault', content }] }, 403);
  }

  async #list(): Promise<Response> {
    const { searchParams } = this.#by.url;
    const query = queryOf(searchParams);
    const page = await this.#parts.runs.list(query);
    const used = page.rows.map(({ workflow }) => workflow);
    const defined = this.#definitions.map(({ graph }) => graph.name);
    const workflows = [...new Set([...defined, ...used])].sort();
    return this.#page(
      runsView(page, query, { workflows, version: digest(page), ignored: leftOut(searchParams) }),
    );
  }

  async #run(name: string, shown: FormOutcome = {}): Promise<Response> {
    const { runs } = this.#parts;
    const version = await runs.versionOf(name);
    const run = await runs.open(name);
    if (run === undefined) return this.#notFound(`The store has no run ${name}`);
    const code = shown.notice === undefined && shown.answer === undefined ? 200 : 422;
    return this.#page(runView(run, { ...this.#optionsOf(run), version, ...shown }), code);
  }

  #optionsOf(run: OpenRun): Omit<RunPageOptions, 'version'> {
    const { user, formKey } = this.#by;
    const { owner = { kind: 'anonymous' } } = run.shown.view;
    return { reader: user.name, mayAnswer: (answerBy) => mayAnswer(answerBy, user.owner, owner), formKey };
  }

  async #operate(name: string, act: string, fields: URLSearchParams): Promise<Response> {
    const { store, runs } = this.#parts;
    const run = await runs.open(name);
    if (run === undefined) return this.#notFound(`The store has no run ${name}`);
    const form: OperateForm = { act, fields, ...this.#optionsOf(run) };
    const outcome = await operateRun(store, run, form, this.#by.user);
    return outcome === undefined ? seeOther(`/runs/${encodeURIComponent(name)}`) : this.#run(name, outcome);
  }

  /** The changes of a list, or of a run, as a stream of events. */
  #live(name: string | undefined): Response {
    const { request, url } = this.#by;
    const { runs, closed } = this.#parts;
    const query = queryOf(url.searchParams);
    const departure = new AbortController();
    const signal = AbortSignal.any([
      request.signal,
      closed,
      departure.signal,
      AbortSignal.timeout(STREAM_MS),
    ]);
    const look = async (): Promise<string> =>
      name === undefined ? digest(await runs.list(query)) : runs.versionOf(name);
    const partsNow = async (): Promise<readonly Part[]> => {
      if (name === undefined) return runsParts(await runs.list(query), query);
      const run = await runs.open(name);
      return run === undefined ? [] : runParts(run, { ...this.#optionsOf(run), version: '' });
    };
    const sent = new Map<string, string>();
    const messages = async function* (): AsyncGenerator<string> {
      yield 'retry: 1000\n\n';
      for await (const _ of runs.changes(look, url.searchParams.get('at') ?? '', signal)) {
        const parts = (await partsNow()).filter(({ id, content }) => sent.get(id) !== content.text);
        for (const { id, content } of parts) sent.set(id, content.text);
        if (parts.length > 0)
          yield `data: ${JSON.stringify(parts.map(({ id, content }) => ({ id, html: content.text })))}\n\n`;
      }
    };
    return new Response(streamOf(messages(), departure), {
      headers: { ...HEADERS, 'content-type': 'text/event-stream' },
    });
  }
}

/** A stream that ends without an error where the store cannot be read: the browser connects again. */
function streamOf(messages: AsyncGenerator<string>, departure: AbortController): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await messages.next().catch(() => ({ value: undefined, done: true }));
      if (done === true || value === undefined) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      departure.abort();
    },
  });
}

/** For as long as browsers keep a file. */
const KEPT = 'private, max-age=31536000, immutable';

function seeOther(location: string): Response {
  return reply('', 303, { location });
}

/** Keeps the token in a cookie that scripts cannot read, and leads to a page. */
function signedIn(request: Request, { pathname, search, port }: URL, token: string): Response {
  // A proxy may have added TLS: the browser knows.
  const isSecure = request.headers.get('origin')?.startsWith('https:') === true;
  const cookie = `${cookieName({ port })}=${token}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return reply('', 303, { location: `${pathname}${search}`, 'set-cookie': cookie });
}

function signedOut(url: URL): Response {
  const cookie = `${cookieName(url)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
  return reply('', 303, { location: '/', 'set-cookie': cookie });
}

function pageReply(view: View, frame: Parameters<typeof pageOf>[1], code: number): Response {
  return reply(pageOf(view, frame), code, { 'content-type': 'text/html; charset=utf-8' });
}

function reply(body: string, code: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(code === 303 ? null : body, { status: code, headers: { ...HEADERS, ...headers } });
}

/** Cookies are of a host with all its ports. */
function cookieName({ port }: Pick<URL, 'port'>): string {
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
