import { defined } from '../../../graph/defined.js';
import type { Domain } from '../../../graph/model.js';
import { nearestName, withQuestion } from '../../../graph/names.js';
import { clip } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Registry } from '../../tools/registry.js';
import { type Catalogue, isOff, type Layer, LiveCatalogue, type LiveParts } from '../catalogue/catalogue.js';
import type { Profile, RemoteSpecs, SpecSettings, SpecSources } from '../options.js';
import { RegistrationError, registrationFaults } from '../registrations.js';
import { FairTurns } from '../requests/fair-turns.js';
import type { ViewSelection } from '../stepwright-server.js';
import { asResources, hasSources, loadUrl, SourceFiles, type SpecBase } from './spec-loader.js';
import { checkToolHints } from './tool-hints.js';
import { SpecError, UrlRules } from './url-rules.js';
import { type SpecChanges, type SpecWatcher, watchSpecFiles } from './watch-files.js';

export interface SpecParts extends LiveParts {
  readonly registry: Registry;
  /** What all clients get. */
  readonly base: LiveCatalogue;
}

/** Workflows of files and addresses, and the catalogue that they belong to. */
interface Source {
  /** As messages name it. */
  readonly what: string;
  readonly catalogue: LiveCatalogue;
  readonly parent: LiveCatalogue | undefined;
  /** The layer without workflows of files and addresses. */
  readonly own: Layer;
  readonly specs: SpecSources;
  readonly resources: SpecSources;
  readonly files: { readonly specs: SourceFiles; readonly resources: SourceFiles };
  /** Those of addresses, which are read once. */
  remote: { readonly specs: Loaded; readonly resources: Loaded };
  /** What was said last about a change that cannot be used. */
  reported: string;
}

type Workflows = Layer['workflows'];

/** What files or addresses bring. */
interface Loaded {
  readonly workflows: Workflows;
  readonly domains: readonly Domain[];
}

const NOTHING: Loaded = { workflows: [], domains: [] };

/** The spec files and profiles of a server: reads them when it starts, and files again when they change. */
export class ServerSpecs {
  readonly #parts: SpecParts;
  readonly #rules: UrlRules;
  readonly #server: Source;
  readonly #profiles: ReadonlyMap<string, Source>;
  readonly #overlays: OverlayCache;
  #started: Promise<void> | undefined;
  #watcher: SpecWatcher | undefined;
  #reloading: Promise<void> = Promise.resolve();

  /** @throws RangeError for settings that are malformed. */
  constructor(parts: SpecParts) {
    const { settings, base } = parts;
    checkOptionNames(settings.specs, settings.profiles);
    this.#parts = parts;
    this.#rules = new UrlRules(settings.specs.remote);
    const [own = { workflows: [] }] = base.layers;
    this.#server = sourceOf('the server', settings.specs.root, base, undefined, own, settings.specs);
    this.#profiles = new Map(
      Object.entries(settings.profiles).map(([name, profile]) => {
        const layer = profileLayer(name, profile, base.current);
        const catalogue = new LiveCatalogue(parts, layer, base);
        const { specs, resources } = profile;
        const { root } = settings.specs;
        return [
          name,
          sourceOf(`the profile '${name}'`, root, catalogue, base, layer, specs, resources),
        ] as const;
      }),
    );
    this.#overlays = new OverlayCache();
  }

  /**
   * Reads all files and addresses, once. A start that failed is tried again by the next call.
   *
   * @throws SpecError, RegistrationError
   */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async stop(): Promise<void> {
    await this.#watcher?.close();
    this.#watcher = undefined;
    await this.#reloading;
  }

  /**
   * The catalogue of clients that choose a profile, or bring workflows and hints.
   *
   * @throws SpecError
   */
  async select(selection: ViewSelection): Promise<LiveCatalogue> {
    const { profile, caller = '', ...brought } = selection;
    const source = profile === undefined ? this.#server : this.#profiles.get(profile);
    if (source === undefined) {
      const near = nearestName(profile ?? '', this.#profiles.keys());
      throw new SpecError(
        'E_PROFILE_UNKNOWN',
        withQuestion(`There is no profile '${clip(profile ?? '')}' on this server`, near),
      );
    }
    await this.start();
    if (Object.values(brought).every((value) => value === undefined)) return source.catalogue;
    const key = JSON.stringify({ profile, ...brought });
    return this.#overlays.get(key, caller, () => this.#overlay(source.catalogue, brought));
  }

  get #all(): readonly Source[] {
    return [this.#server, ...this.#profiles.values()];
  }

  async #start(): Promise<void> {
    const { settings } = this.#parts;
    const { root, watch } = settings.specs;
    const patterns = this.#all.flatMap(({ specs, resources }) => [
      ...(specs.files ?? []),
      ...(resources.files ?? []),
    ]);
    // From before the files are read, so that no change is missed.
    if (watch && patterns.length > 0) {
      this.#watcher = await watchSpecFiles(
        patterns,
        root,
        (changes) => this.#reload(changes),
        ({ message }) =>
          settings.log(`workflow files are not watched: ${message}. Restart the server to read changes`, {
            event: 'specs.refused',
          }),
      );
    }
    try {
      for (const source of this.#all) await this.#load(source);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #load(source: Source): Promise<void> {
    if (!isOff(source.catalogue.layers)) {
      source.remote = {
        specs: await this.#remote(source, source.specs),
        resources: await this.#remote(source, source.resources),
      };
      const layer = await this.#read(source, 'warn');
      if (typeof layer === 'string')
        throw new SpecError('E_SPEC_INVALID', `The workflows of ${source.what} cannot be used:\n${layer}`);
      if (layer !== undefined) await source.catalogue.replace(layer);
    }
    this.#checkShown(source);
  }

  /** The workflows of a profile that clients get have to be there. */
  #checkShown({ own, catalogue, what }: Source): void {
    const names = new Set(this.#graphs(catalogue).map(({ name }) => name));
    for (const name of own.shownWorkflows ?? []) {
      if (!names.has(name))
        throw new SpecError(
          'E_SPEC_INVALID',
          withQuestion(
            `\`workflows\` of ${what}: there is no workflow '${clip(name)}'`,
            nearestName(name, names),
          ),
        );
    }
  }

  /** Files have changed: those of every source are read again, one source after the other. */
  #reload(changes: SpecChanges | undefined): void {
    this.#reloading = this.#reloading.then(async () => {
      for (const source of this.#all) await this.#reloadOne(source, changes);
    });
  }

  async #reloadOne(source: Source, changes: SpecChanges | undefined): Promise<void> {
    if (isOff(source.catalogue.layers)) return;
    const { log } = this.#parts.settings;
    const report = await this.#replaced(source, changes).catch((error: unknown) =>
      error instanceof RegistrationError ? registrationFaults(error) : thrownText(error),
    );
    if (report !== '' && report !== source.reported)
      log(
        `the workflows of ${source.what} have changed and cannot be used; those before the change stay:\n${report}`,
        { event: 'specs.refused' },
      );
    source.reported = report;
  }

  /** Reads the files of a source again. Gives a report where they cannot be used, and nothing is replaced. */
  async #replaced(source: Source, changes: SpecChanges | undefined): Promise<string> {
    const layer = await this.#read(source, 'silent', changes);
    if (typeof layer === 'string') return layer;
    const before = source.catalogue.layers.at(-1);
    if (layer === undefined || (isSameLayer(layer, before) && source.reported === '')) {
      source.catalogue.follow();
      return '';
    }
    await source.catalogue.replace(layer);
    const count = layer.workflows.length - source.own.workflows.length;
    this.#parts.settings.log(
      `the workflows of ${source.what} have changed: ${count} ${count === 1 ? 'workflow is' : 'workflows are'} of files and addresses now`,
      { event: 'specs.loaded', level: 'info' },
    );
    return '';
  }

  /** Reads the files of a source. Nothing for one without files and addresses, a report where they cannot be used. */
  async #read(
    source: Source,
    mode: 'warn' | 'silent',
    changes?: SpecChanges,
  ): Promise<Layer | string | undefined> {
    const { specs, resources, remote, own } = source;
    if (!hasSources(specs) && !hasSources(resources)) return undefined;
    const offered = await this.#readFiles(source, 'specs', mode, changes);
    if (!offered.ok) return offered.report;
    const described = await this.#readFiles(source, 'resources', mode, changes);
    if (!described.ok) return described.report;
    const workflows = asResources(
      [...remote.specs.workflows, ...offered.workflows],
      [...remote.resources.workflows, ...described.workflows],
    );
    const domains = [remote.specs, remote.resources, offered, described].flatMap((each) => each.domains);
    return { ...own, workflows: [...own.workflows, ...workflows], domains };
  }

  async #readFiles(
    source: Source,
    part: 'specs' | 'resources',
    mode: 'warn' | 'silent',
    changes: SpecChanges | undefined,
  ) {
    const files = source.files[part];
    const before = mode === 'warn' ? [] : files.unmatched;
    const loaded = await files.load(this.#baseOf(source), source.remote[part].workflows, changes);
    if (!loaded.ok) return loaded;
    const { log, specs } = this.#parts.settings;
    const [event, again] =
      mode === 'warn'
        ? (['specs.loaded', ''] as const)
        : (['workflow.warning', ' any more: its workflows are gone'] as const);
    for (const pattern of files.unmatched.filter((each) => !before.includes(each)))
      log(`no file in ${specs.root} matches ${clip(pattern)}${again}`, { event, level: 'warning' });
    if (mode === 'warn') this.#warn(loaded.warnings);
    return loaded;
  }

  #warn(warnings: string): void {
    if (warnings === '') return;
    this.#parts.settings.log(
      `warnings of workflow files:
${warnings.replaceAll(/^(?=.)/gm, '  ')}`,
      { event: 'workflow.warning', level: 'warning' },
    );
  }

  async #remote(source: Source, { urls = [] }: SpecSources): Promise<Loaded> {
    const loaded: Loaded[] = [];
    for (const url of urls) loaded.push(await this.#fromUrl(url, this.#baseOf(source)));
    return {
      workflows: loaded.flatMap(({ workflows }) => workflows),
      domains: loaded.flatMap(({ domains }) => domains),
    };
  }

  async #fromUrl(text: string, base: SpecBase): Promise<Loaded> {
    const { log } = this.#parts.settings;
    const loaded = await loadUrl(this.#rules.check(text), base, {
      rules: this.#rules,
      log: (entry) => log(entry, { event: 'specs.refused' }),
    });
    if (!loaded.ok)
      throw new SpecError('E_SPEC_INVALID', `The workflows of ${text} cannot be used:\n${loaded.report}`);
    this.#warn(loaded.warnings);
    return loaded;
  }

  /** What the workflows of a source may use: those of the program, and of the server for a profile. */
  #baseOf({ own, parent }: Pick<Source, 'own' | 'parent'>): SpecBase {
    const { registry, base } = this.#parts;
    const catalogue = (parent ?? base).current;
    const graphs = parent === undefined ? graphsOf(registry, [own]) : this.#graphs(parent);
    return { registry, catalogue, graphs };
  }

  #graphs({ layers }: LiveCatalogue) {
    return graphsOf(this.#parts.registry, layers);
  }

  async #overlay(
    parent: LiveCatalogue,
    { hints, workflowUrl, resourcesUrl }: Omit<ViewSelection, 'profile' | 'caller'>,
  ): Promise<LiveCatalogue> {
    const { registry } = this.#parts;
    const brings = workflowUrl !== undefined || resourcesUrl !== undefined;
    if (brings && isOff(parent.layers))
      throw new SpecError('E_SPEC_OFF', 'Workflows are switched off on this server');
    const base = { registry, catalogue: parent.current, graphs: this.#graphs(parent) };
    const [offered = NOTHING, described = NOTHING] = await Promise.all(
      [workflowUrl, resourcesUrl].map(async (url) =>
        url === undefined ? NOTHING : this.#fromUrl(url, base),
      ),
    );
    const layer: Layer = {
      workflows: asResources(offered.workflows, described.workflows),
      domains: [...offered.domains, ...described.domains],
      ...(hints === undefined ? {} : { hints: hintsOf('X-Tool-Hints', hints, base.catalogue) }),
    };
    try {
      const overlay = new LiveCatalogue(this.#parts, layer, parent);
      await this.#parts.drift?.add(overlay.current.workflows.values());
      return overlay;
    } catch (error) {
      if (!(error instanceof RegistrationError)) throw error;
      throw new SpecError(
        'E_SPEC_INVALID',
        `The workflows that a client brings do not go with those of the server:\n${registrationFaults(error)}`,
        { cause: error },
      );
    }
  }
}

/** Whether a reload gives an equal layer. What was not read again is the same object. */
function isSameLayer(layer: Layer, before: Layer | undefined): boolean {
  const { workflows } = layer;
  const others = before?.workflows ?? [];
  const isSame = (one: unknown, other: unknown): boolean =>
    one === other || JSON.stringify(one) === JSON.stringify(other);
  return (
    workflows.length === others.length &&
    workflows.every((each, index) => isSame(each.graph, others[index]?.graph)) &&
    isSame(layer.domains, before?.domains)
  );
}

function sourceOf(
  what: string,
  root: string,
  catalogue: LiveCatalogue,
  parent: LiveCatalogue | undefined,
  own: Layer,
  specs: SpecSources = {},
  resources: SpecSources = {},
): Source {
  for (const { files, urls } of [specs, resources]) {
    for (const [option, list] of Object.entries({ files, urls }))
      if (list !== undefined && !Array.isArray(list))
        throw new RangeError(`specs.${option} must be a list of texts`);
  }
  const remote = { specs: NOTHING, resources: NOTHING };
  const files = {
    specs: new SourceFiles(specs.files ?? [], root),
    resources: new SourceFiles(resources.files ?? [], root),
  };
  return { what, catalogue, parent, own, specs, resources, files, remote, reported: '' };
}

/** The workflows of a registry and of layers, offered or not. */
function graphsOf(registry: Registry, layers: readonly Layer[]) {
  return [
    ...Object.values(registry.workflows).map(({ graph }) => graph),
    ...layers.flatMap(({ workflows }) => workflows.map(({ graph }) => graph)),
  ];
}

/** @throws RangeError */
function profileLayer(name: string, profile: Profile, { clientTools }: Catalogue): Layer {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new RangeError(
      `profiles: '${clip(name)}' is not a name of a profile: use 1 to 64 letters, digits, '_' and '-'`,
    );
  const { hints, tools, workflows } = profile;
  for (const tool of tools ?? []) {
    if (!clientTools.has(tool)) {
      const near = nearestName(tool, clientTools);
      throw new RangeError(
        withQuestion(`profiles.${name}.tools: clients have no tool '${clip(tool)}'`, near),
      );
    }
  }
  const checked = hints === undefined ? undefined : checkToolHints(hints, clientTools);
  if (checked?.ok === false) throw new RangeError(`profiles.${name}.hints: ${checked.problems.join('; ')}`);
  return {
    workflows: [],
    ...defined({ hints: checked?.hints }),
    ...defined({ shownTools: tools, shownWorkflows: workflows }),
  };
}

/** @throws SpecError */
function hintsOf(where: string, value: unknown, { clientTools }: Catalogue) {
  const checked = checkToolHints(value, clientTools);
  if (!checked.ok) throw new SpecError('E_SPEC_HEADER', `${where}: ${checked.problems.join('; ')}`);
  return checked.hints;
}

/** The names of options. The types keep each of these tables complete. */
type Names<T> = Readonly<Record<keyof T, true>>;

const sources: Names<SpecSources> = { files: true, urls: true };

const settings: Names<SpecSettings> = { ...sources, root: true, watch: true, remote: true };

const remote: Names<RemoteSpecs> = { allow: true, allowAddresses: true, headers: true };

const profile: Names<Profile> = { specs: true, resources: true, hints: true, tools: true, workflows: true };

/**
 * Refuses options of `specs` and `profiles` that there are not: a misspelt one would be as if it were left out.
 *
 * @throws RangeError
 */
function checkOptionNames(specs: SpecSettings, profiles: Readonly<Record<string, Profile>>): void {
  check('specs', specs, settings);
  check('specs.remote', specs.remote, remote);
  for (const [name, options] of Object.entries(profiles)) {
    check(`profiles.${name}`, options, profile);
    check(`profiles.${name}.specs`, options.specs, sources);
    check(`profiles.${name}.resources`, options.resources, sources);
  }
}

function check<T extends object>(where: string, options: T | undefined, names: Names<T>): void {
  const allowed = Object.keys(names);
  for (const option of Object.keys(options ?? {})) {
    if (allowed.includes(option)) continue;
    const near = nearestName(option, allowed);
    const text = `${where} has no option '${clip(option)}'`;
    throw new RangeError(
      near === undefined ? `${text}; it has ${allowed.join(', ')}` : withQuestion(text, near),
    );
  }
}

/** How long what clients bring is used, and a failure is repeated, in ms. */
const KEPT_MS = 60_000;
const FAILED_MS = 5_000;

/** How many are kept. */
const MOST = 100;

/** How many are made at once, of all callers and of one: each may take a connection and a process. */
const TURNS = { concurrent: 4, concurrentPerOwner: 2, queuedPerOwner: Number.POSITIVE_INFINITY };

interface Entry {
  readonly catalogue: Promise<LiveCatalogue>;
  until: number;
}

/**
 * Catalogues of clients that bring workflows or hints. Over HTTP most clients have no session, and bring them with each
 * request: the same are made once. They are equal for equal headers, so that no client sees what only another one brought.
 */
export class OverlayCache {
  /** The one that was used last is the last one. */
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #turns = new FairTurns(TURNS);

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param caller equal for requests of one caller, which do not keep those of others waiting. */
  get(key: string, caller: string, make: () => Promise<LiveCatalogue>): Promise<LiveCatalogue> {
    const now = this.#now();
    const cached = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = cached !== undefined && cached.until > now ? cached : this.#begin(caller, make, now);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest);
    return entry.catalogue;
  }

  #begin(caller: string, make: () => Promise<LiveCatalogue>, now: number): Entry {
    const entry: Entry = { catalogue: this.#inTurn(caller, make), until: now + KEPT_MS };
    entry.catalogue.catch(() => {
      entry.until = this.#now() + FAILED_MS;
    });
    return entry;
  }

  async #inTurn<T>(caller: string, make: () => Promise<T>): Promise<T> {
    // Others may wait for the same, so that it is made also when its first request is cancelled.
    const endTurn = await this.#turns.take(caller, new AbortController().signal);
    try {
      return await make();
    } finally {
      endTurn?.();
    }
  }
}
