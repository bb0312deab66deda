import type { Failure } from '../engine/contract.js';
import type { ServedWorkflow } from './composite/served-workflows.js';
import type { DriftCheck, UpstreamDrift } from './upstream-drift.js';

type Settings = Omit<DriftCheck, 'upstream'> & {
  readonly upstream: DriftCheck['upstream'] | undefined;
};

/** Why workflows are unavailable: what they need of upstream servers is not there any more. */
export class DriftRecord {
  readonly #settings: Settings;
  /** By the hashes of the graphs. Missing until the server starts. */
  #drift: UpstreamDrift | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Compares the first workflows. A server that starts again does not compare them again. */
  async begin(workflows: Iterable<ServedWorkflow>): Promise<void> {
    const { upstream, ...settings } = this.#settings;
    if (upstream === undefined || this.#drift !== undefined) return;
    const { UpstreamDrift } = await import('./upstream-drift.js');
    const drift = new UpstreamDrift({ ...settings, upstream });
    this.#drift = drift;
    upstream.onToolsChanged?.((server) => drift.compare([server]));
    await this.compare(workflows);
  }

  /** Compares workflows with the tools that upstream servers list now. Those that were compared before are left out. */
  async compare(workflows: Iterable<ServedWorkflow>): Promise<void> {
    await this.#drift?.add([...workflows].map(({ hash, graph }) => [hash, graph]));
  }

  failureOf(workflow: ServedWorkflow | undefined): Failure | undefined {
    return workflow === undefined ? undefined : this.#drift?.unavailable.get(workflow.hash);
  }
}
