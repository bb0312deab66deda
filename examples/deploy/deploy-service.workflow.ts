import { Arg, call, done, Step, Workflow } from 'stepwright';
import { CheckResources, DeployService, ValidateConfig, VerifyDeployment } from './tools.js';

@Workflow({
  name: 'deploy_service',
  description: 'deploy the configured version of a service, and verify it',
  task: true,
})
export class DeployServiceWorkflow {
  @Arg({ description: 'The service to deploy' }) service!: Arg<string>;
  @Arg({ description: 'Who approved the deployment' }) approved_by?: Arg<string>;

  @Step() config = call(ValidateConfig, { service: this.service });

  @Step() resources = call(CheckResources, { replicas: this.config.replicas });

  // Without an approval the tool fails: the task waits here for a call that names who approved.
  @Step()
  deployment = call(DeployService, {
    service: this.service,
    version: this.config.version,
    zone: this.resources.zone,
    replicas: this.config.replicas,
    approved_by: this.approved_by,
  });

  @Step() verified = call(VerifyDeployment, { deployment: this.deployment.deployment });

  output = done({ deployment: this.deployment.deployment, ready: this.verified.ready });
}
