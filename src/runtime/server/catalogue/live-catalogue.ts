import { isDeepStrictEqual } from 'node:util';
import { thrownText } from '../../tools/exceptions.js';
import type { RunTool } from '../composite/run-tools.js';
import type { Registered } from '../composite/served-workflows.js';
import { RegistrationError, registrationFaults } from '../registrations.js';
import type { ServerChange } from '../stepwright-server.js';
import { Catalogue, type CatalogueParts, type Layer } from './catalogue.js';
import type { UpstreamDrift } from './upstream-drift.js';

export interface LiveParts extends CatalogueParts {
  readonly changes: Changes;
  readonly drift: UpstreamDrift | undefined;
  /** Tools that look after open runs of earlier processes. */
  readonly keptRunTools: readonly RunTool[];
}

/** The catalogue of some clients, which is replaced as a whole when its sources change. */
export class LiveCatalogue {
  readonly #parts: LiveParts;
  readonly #parent: LiveCatalogue | undefined;
  #layer: Layer;
  #current: Catalogue;
  /** The catalogue of the parent that it was made for. */
  #madeFor: Catalogue | undefined;

  /**
   * @param parent what it is built on. Default: the program alone.
   * @param registration the workflows of the layer, where they were registered already.
   * @throws RegistrationError
   */
  constructor(parts: LiveParts, layer: Layer, parent?: LiveCatalogue, registration?: Registered) {
    this.#parts = parts;
    this.#parent = parent;
    this.#layer = layer;
    this.#madeFor = parent?.current;
    this.#current = new Catalogue(parts, this.#with(layer), parts.keptRunTools, registration);
  }

  /** What clients get now. */
  get current(): Catalogue {
    this.follow();
    return this.#current;
  }

  /** The lowest first. */
  get layers(): readonly Layer[] {
    return this.#with(this.#layer);
  }

  isBuiltOn(other: object): boolean {
    return this === other || this.#parent?.isBuiltOn(other) === true;
  }

  /**
   * Replaces what it adds to the layers below, and tells the clients which lists have changed.
   *
   * @throws RegistrationError: then everything stays as it is.
   */
  async replace(layer: Layer): Promise<void> {
    const before = this.#current;
    const below = this.#parent?.current;
    const next = new Catalogue(this.#parts, this.#with(layer), this.#kept(before));
    const { drift, changes, settings } = this.#parts;
    await drift?.add(next.workflows.values());
    this.#layer = layer;
    this.#current = next;
    this.#madeFor = below;
    for (const warning of next.warnings.filter((each) => !before.warnings.includes(each)))
      settings.log(warning, { event: 'workflow.warning', level: 'warning' });
    const [old, now] = [listsOf(before), listsOf(next)];
    for (const list of ['tools', 'prompts', 'resources'] as const)
      if (!isDeepStrictEqual(old[list], now[list])) changes.announce({ kind: 'list', list }, this);
  }

  /** A run of a workflow that is gone can still be answered. */
  #kept({ workflowTools }: Catalogue): readonly RunTool[] {
    return [...this.#parts.keptRunTools, ...workflowTools.runTools];
  }

  #with(layer: Layer): readonly Layer[] {
    return [...(this.#parent?.layers ?? []), layer];
  }

  /** Takes a change of the layers below over. One that does not go with its own layer is logged, once. */
  follow(): void {
    const below = this.#parent?.current;
    if (below === this.#madeFor) return;
    this.#madeFor = below;
    try {
      this.#current = new Catalogue(this.#parts, this.layers, this.#kept(this.#current));
    } catch (error) {
      const why = error instanceof RegistrationError ? registrationFaults(error) : thrownText(error);
      this.#parts.settings.log(
        `the workflows of the server have changed and do not go with those of a profile or client, which stay as they are: ${why}`,
        { event: 'specs.refused' },
      );
    }
  }
}

/** The lists of a catalogue, to compare them: what the two have in common is not looked at. */
function listsOf(catalogue: Catalogue) {
  const { listings, workflowResources: own } = catalogue;
  return {
    tools: catalogue.shownTools({ local: true }),
    prompts: listings.prompts,
    resources: [listings.resources, listings.templates, own.listings, own.templates],
  };
}

type Listener = (change: ServerChange) => void;

/** Passes changes on to the clients that they concern. */
export class Changes {
  readonly #listeners = new Map<Listener, (source: object) => boolean>();

  /**
   * @param isConcerned whether a change of this source concerns the listener.
   * @returns what ends it.
   */
  listen(isConcerned: (source: object) => boolean, listener: Listener): () => void {
    // The same function may listen twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.set(own, isConcerned);
    return () => void this.#listeners.delete(own);
  }

  /** @param source what has changed. Default: all clients are concerned. */
  announce(change: ServerChange, source?: object): void {
    for (const [listener, isConcerned] of this.#listeners)
      if (source === undefined || isConcerned(source)) listener(change);
  }
}
