/** What the configuration says of a service. */
export interface ServiceConfig {
  readonly version: string;
  readonly replicas: number;
}

/** The configuration of each service. */
export const services: ReadonlyMap<string, ServiceConfig> = new Map([
  ['shop', { version: '2.4.0', replicas: 3 }],
  ['search', { version: '1.0.2', replicas: 40 }],
]);
