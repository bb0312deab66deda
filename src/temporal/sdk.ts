import { StoreError } from '../runtime/runs/store/store-error.js';

/** The packages of Temporal's SDK. They are loaded when a store opens: a server without Temporal does not need them. */
export interface Sdk {
  readonly client: typeof import('@temporalio/client');
  readonly worker: typeof import('@temporalio/worker');
  readonly activity: typeof import('@temporalio/activity');
}

/** @throws StoreError where a package is not installed. */
export async function loadSdk<Name extends keyof Sdk>(name: Name): Promise<Sdk[Name]>;
export async function loadSdk(name: keyof Sdk): Promise<Sdk[keyof Sdk]> {
  try {
    switch (name) {
      case 'client':
        return await import('@temporalio/client');
      case 'worker':
        return await import('@temporalio/worker');
      case 'activity':
        return await import('@temporalio/activity');
      default:
        return name satisfies never;
    }
  } catch (error) {
    throw new StoreError('no_package', `@temporalio/${name}`, INSTALL, error);
  }
}

const INSTALL =
  'npm install @temporalio/client @temporalio/worker @temporalio/workflow @temporalio/common @temporalio/activity';
