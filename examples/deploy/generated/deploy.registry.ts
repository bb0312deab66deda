// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { DeployServiceWorkflow } from '../deploy-service.workflow.js';
import { CheckResources, DeployService, ValidateConfig, VerifyDeployment } from '../tools.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: 'aff5069adaff4b200aad1be30a32e9f55a3a733fdaf863886e3a227efe681615',
  tools: {
    check_resources: {
      class: CheckResources,
      description: 'Finds a zone of the cluster that has room for a number of replicas',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "replicas": { "type": "number" } },
        "required": ["replicas"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "zone": { "type": "string" } },
        "required": ["zone"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: 'b7224c3e80054d7d3fd189d9858d2f570ad69fb66902c5a5fc725366dbe78999',
    },
    deploy_service: {
      class: DeployService,
      description: 'Starts a version of a service on the cluster. Needs the name of the person who approved it',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "service": { "type": "string" },
          "version": { "type": "string" },
          "zone": { "type": "string" },
          "replicas": { "type": "number" },
          "approved_by": { "type": "string" }
        },
        "required": ["service", "version", "zone", "replicas"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "deployment": { "type": "string" } },
        "required": ["deployment"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      retrySafety: 'idempotent',
      fingerprint: '5941e2b34b3e74eb770793fec53562f1ad33f1e61f5bb920f36d3002f31f3c53',
    },
    validate_config: {
      class: ValidateConfig,
      description: 'Reads the configuration of a service, and checks it',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "service": { "type": "string" } },
        "required": ["service"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "version": { "type": "string" }, "replicas": { "type": "number" } },
        "required": ["version", "replicas"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '7d3bd1ebb5ca48226b21e22371bc41c141bf154dd61bfcc70ea8eefb1aa0217f',
    },
    verify_deployment: {
      class: VerifyDeployment,
      description: 'Checks whether all replicas of a deployment are ready',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "deployment": { "type": "string" } },
        "required": ["deployment"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "ready": { "type": "number" } },
        "required": ["ready"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      fingerprint: '449ac29fc45a0d3737bc7d826faa4691cfdadb0cb5e9d27f8ca3147a748205e7',
    },
  },
  resources: {},
  workflows: {
    deploy_service: {
      class: DeployServiceWorkflow,
      graph: graphJson`{
        "graphVersion": 1,
        "name": "deploy_service",
        "description": "deploy the configured version of a service, and verify it",
        "inputs": [
          {
            "name": "service",
            "description": "The service to deploy",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "approved_by",
            "description": "Who approved the deployment",
            "required": false,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "config",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "service", "value": { "kind": "ref", "root": "inputs", "path": ["service"] } }
              ]
            },
            "join": "none_failed",
            "tool": "validate_config"
          },
          {
            "id": "resources",
            "kind": "call",
            "after": ["config"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "replicas",
                  "value": { "kind": "ref", "root": "steps", "path": ["config", "replicas"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "check_resources"
          },
          {
            "id": "deployment",
            "kind": "call",
            "after": ["resources"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "service", "value": { "kind": "ref", "root": "inputs", "path": ["service"] } },
                {
                  "key": "version",
                  "value": { "kind": "ref", "root": "steps", "path": ["config", "version"] }
                },
                { "key": "zone", "value": { "kind": "ref", "root": "steps", "path": ["resources", "zone"] } },
                {
                  "key": "replicas",
                  "value": { "kind": "ref", "root": "steps", "path": ["config", "replicas"] }
                },
                {
                  "key": "approved_by",
                  "value": { "kind": "ref", "root": "inputs", "path": ["approved_by"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "deploy_service"
          },
          {
            "id": "verified",
            "kind": "call",
            "after": ["deployment"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "deployment",
                  "value": { "kind": "ref", "root": "steps", "path": ["deployment", "deployment"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "verify_deployment"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["verified"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "deployment",
                  "value": { "kind": "ref", "root": "steps", "path": ["deployment", "deployment"] }
                },
                {
                  "key": "ready",
                  "value": { "kind": "ref", "root": "steps", "path": ["verified", "ready"] }
                }
              ]
            }
          }
        ],
        "task": true
      }`,
      hash: '460cb48b0b18c0c5de00375210bbf8ba75589a8b1cb3a23740fc111d97baed75',
      fingerprint: 'd306f5e13d5670cf15dfa95e064852dca201077db06db19ced62ae5bd695f5ae',
    },
  },
});

/** The names of the tools. */
export type ToolName = 'check_resources' | 'deploy_service' | 'validate_config' | 'verify_deployment';

/** The names of the resources. */
export type ResourceName = never;

/** The names of the workflows. */
export type WorkflowName = 'deploy_service';

interface Workflows {
  readonly 'deploy_service': DeployServiceWorkflow;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
