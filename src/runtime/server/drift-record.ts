import type { Failure } from '../engine/contract.js';
import type { ServedWorkflow } from './composite/served-workflows.js';
import type { DriftCheck } from './upstream-drift.js';

type Settings = Omit<DriftCheck, 'graphs' | 'upstream'> & {
  readonly upstream: DriftCheck['upstream'] | undefined;
};

/** Why workflows are unavailable: what they need of upstream servers is not there any more. */
export class DriftRecord {
  readonly #settings: Settings;
  /** By the hashes of the graphs that were compared; nothing for one that is available. */
  readonly #compared = new Map<string, Failure | undefined>();
  #hasBegun = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Compares the first workflows. A server that starts again does not compare them again. */
  async begin(workflows: Iterable<ServedWorkflow>): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    await this.compare(workflows);
  }

  /** Compares workflows with the tools that upstream servers list now, each once. */
  async compare(workflows: Iterable<ServedWorkflow>): Promise<void> {
    const { registry, upstream, log } = this.#settings;
    if (upstream === undefined || !this.#hasBegun) return;
    const added = [...workflows].filter(({ hash }) => !this.#compared.has(hash));
    if (added.length === 0) return;
    const { findDrift } = await import('./upstream-drift.js');
    const graphs = added.map(({ graph }) => graph);
    const found = await findDrift({ registry, graphs, upstream, log });
    for (const { graph, hash } of added) this.#compared.set(hash, found.get(graph.name));
  }

  failureOf(workflow: ServedWorkflow | undefined): Failure | undefined {
    return workflow === undefined || this.#compared.size === 0
      ? undefined
      : this.#compared.get(workflow.hash);
  }
}
