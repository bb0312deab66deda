import { Tool } from 'stepwright';
import type { Cluster } from './cluster.js';
import { services } from './services.js';
import { ToolFailure } from './tool-failure.js';

@Tool({
  name: 'validate_config',
  description: 'Reads the configuration of a service, and checks it',
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class ValidateConfig {
  execute({ service }: { service: string }): { version: string; replicas: number } {
    const config = services.get(service);
    if (config === undefined) throw new ToolFailure('CONFIG_MISSING', `'${service}' has no configuration`);
    return { ...config };
  }
}

@Tool({
  name: 'check_resources',
  description: 'Finds a zone of the cluster that has room for a number of replicas',
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class CheckResources {
  constructor(private readonly cluster: Cluster) {}

  execute({ replicas }: { replicas: number }): { zone: string } {
    const zone = this.cluster.zoneFor(replicas);
    if (zone === undefined) throw new ToolFailure('NO_CAPACITY', `No zone has room for ${replicas} replicas`);
    return { zone };
  }
}

@Tool({
  name: 'deploy_service',
  description: 'Starts a version of a service on the cluster. Needs the name of the person who approved it',
  retrySafety: 'idempotent',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
})
export class DeployService {
  constructor(private readonly cluster: Cluster) {}

  execute(input: {
    service: string;
    version: string;
    zone: string;
    replicas: number;
    approved_by?: string;
  }): {
    deployment: string;
  } {
    const { approved_by = '', ...wanted } = input;
    if (approved_by === '')
      throw new ToolFailure(
        'APPROVAL_MISSING',
        `${wanted.service} ${wanted.version} is not approved: set approved_by to the name of the person who approved it`,
      );
    return { deployment: this.cluster.deploy({ ...wanted, approved_by }).id };
  }
}

@Tool({
  name: 'verify_deployment',
  description: 'Checks whether all replicas of a deployment are ready',
  annotations: { readOnlyHint: true, openWorldHint: false },
})
export class VerifyDeployment {
  constructor(private readonly cluster: Cluster) {}

  execute({ deployment }: { deployment: string }): { ready: number } {
    const { replicas } = this.cluster.deployment(deployment);
    if (!this.cluster.isReady(deployment))
      throw new ToolFailure('NOT_READY', `The replicas of ${deployment} are not ready`);
    return { ready: replicas };
  }
}

/** The tools of a cluster, for the option `tools` of a server. */
export const deployTools = (cluster: Cluster) => ({
  check_resources: () => new CheckResources(cluster),
  deploy_service: () => new DeployService(cluster),
  verify_deployment: () => new VerifyDeployment(cluster),
});
