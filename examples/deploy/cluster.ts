import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { ToolFailure } from './tool-failure.js';

/** A version of a service on the cluster. */
export interface Deployment {
  readonly id: string;
  readonly service: string;
  readonly version: string;
  readonly zone: string;
  readonly replicas: number;
  readonly approved_by: string;
}

/** A line of the file: a deployment, or the id of one that is ready. */
type Line = { readonly deployed: Deployment } | { readonly ready: string };

/** How many replicas have room in each zone. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['eu-1', 2],
  ['eu-2', 10],
]);

/** A cluster as a file with a line of JSON for each change: the system outside that tools have effects on. */
export class Cluster {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    closeSync(openSync(file, 'a'));
  }

  /** The first zone that has room for more replicas. */
  zoneFor(replicas: number): string | undefined {
    const used = (zone: string): number =>
      this.deployments()
        .filter((deployment) => deployment.zone === zone)
        .reduce((sum, deployment) => sum + deployment.replicas, 0);
    return [...ZONES].find(([zone, room]) => used(zone) + replicas <= room)?.[0];
  }

  /** Starts a version of a service; for one that was started before, returns its deployment. */
  deploy(wanted: Omit<Deployment, 'id'>): Deployment {
    const deployments = this.deployments();
    const existing = deployments.find(
      ({ service, version }) => service === wanted.service && version === wanted.version,
    );
    if (existing !== undefined) return existing;
    const deployed = { id: `D-${deployments.length + 1}`, ...wanted };
    this.#append({ deployed });
    return deployed;
  }

  /** Notes that all replicas of a deployment are ready. */
  markReady(id: string): void {
    this.#append({ ready: id });
  }

  isReady(id: string): boolean {
    return this.#lines().some((line) => 'ready' in line && line.ready === id);
  }

  /** @throws ToolFailure if the cluster has no such deployment. */
  deployment(id: string): Deployment {
    const match = this.deployments().find((deployment) => deployment.id === id);
    if (match === undefined) throw new ToolFailure('DEPLOYMENT_UNKNOWN', `There is no deployment '${id}'`);
    return match;
  }

  deployments(): Deployment[] {
    return this.#lines().flatMap((line) => ('deployed' in line ? [line.deployed] : []));
  }

  #lines(): Line[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
  }

  #append(line: Line): void {
    const file = openSync(this.#file, 'a');
    writeSync(file, `${JSON.stringify(line)}\n`);
    fsyncSync(file);
    closeSync(file);
  }
}
