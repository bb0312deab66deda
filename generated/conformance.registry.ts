// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, schemaJson } from 'stepwright/runtime';
import { PromptWithArguments, PromptWithImage, PromptWithResource, SimplePrompt } from '../test/conformance/fixture/prompts.js';
import { RawSchema } from '../test/conformance/fixture/raw-schema.tool.js';
import { StaticBinary, StaticText, Template, Watched } from '../test/conformance/fixture/resources.js';
import { AudioResult, Elicitation, ElicitationDefaults, ElicitationEnums, EmbeddedResult, Failing, ImageResult, Logging, MixedResult, Progress, Reconnection, Sampling, SimpleText } from '../test/conformance/fixture/tools.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: '694876a3cf8ea71dc209ca578ed0203e5b7efb9dac318d9efdb56fa2b57ed224',
  tools: {
    json_schema_2020_12_tool: {
      class: RawSchema,
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: schemaJson`{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
          "address": {
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
          }
        },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "additionalProperties": false
      }`,
      fingerprint: 'fa24e8b063394a1a2552f0ee0a84a3729c0586c652e81a1ef9b763b312f76041',
    },
    test_audio_content: {
      class: AudioResult,
      description: 'Returns sound',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: 'c7f2ef55fb04585a95212d8f7f090783d1bace9898e5b44a53174634fc34e296',
    },
    test_elicitation: {
      class: Elicitation,
      description: 'Asks the user of the client',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "message": { "type": "string" } },
        "required": ["message"],
        "additionalProperties": false
      }`,
      fingerprint: '8c645baf7f18c308dea90760abe0168af6bf53c55372c567a217c1877434a3a0',
    },
    test_elicitation_sep1034_defaults: {
      class: ElicitationDefaults,
      description: 'Asks with defaults',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: '47f25b258e259be44e39cc3105b7d0372e8cda668dd165f0930c37e01aceb70e',
    },
    test_elicitation_sep1330_enums: {
      class: ElicitationEnums,
      description: 'Asks for choices',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: 'cc44541d401b1c07a693e06e8fd6cb156432eff70cdf4f2de5a66719f85db3c3',
    },
    test_embedded_resource: {
      class: EmbeddedResult,
      description: 'Returns a resource',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: 'ce75ea9103100ab6cf7f08b1b68942ad64c97bd9e9324bcad1c317942fc25cc1',
    },
    test_error_handling: {
      class: Failing,
      description: 'Fails',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "done": { "type": "boolean" } },
        "required": ["done"],
        "additionalProperties": false
      }`,
      fingerprint: '60361ee9dbd6027490dd6af042a864278fddd872e2216d7c513088392c53ed02',
    },
    test_image_content: {
      class: ImageResult,
      description: 'Returns an image',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: 'b9e634afab7d5c0ac4f614a50a07fad352d4833237faddea735bd715fafec409',
    },
    test_multiple_content_types: {
      class: MixedResult,
      description: 'Returns several kinds of content',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: '5f8e2b9dcf5e067737cce5c284cf146068025d1efd7541b2682c3cb21ebb87d6',
    },
    test_reconnection: {
      class: Reconnection,
      description: 'Ends its stream before it answers',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: '39bc87c923686a9d8a1853cb07d52b5ecada0460fa5dab4f298282885fa9616c',
    },
    test_sampling: {
      class: Sampling,
      description: 'Asks the model of the client',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": { "prompt": { "type": "string" } },
        "required": ["prompt"],
        "additionalProperties": false
      }`,
      fingerprint: 'b1a101d1fbcab812a21f3676ecad38e740f01248e87ae031f86ef9e246d8a564',
    },
    test_simple_text: {
      class: SimpleText,
      description: 'Returns a text',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: '982e15c572047168ace76585f263aeb4d9699b8097e094e365ed6a8e567fbf49',
    },
    test_tool_with_logging: {
      class: Logging,
      description: 'Sends log messages',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: 'e4e92e30d636e9bc3b8352a4f756b12c177fd5f4f0e1550d9c9d035edef980bc',
    },
    test_tool_with_progress: {
      class: Progress,
      description: 'Reports its progress',
      inputSchema: schemaJson`{ "type": "object", "properties": {}, "additionalProperties": false }`,
      fingerprint: '3dcfa6cd3e19515b59f86f66f8e3f942f357fd38f8cd15e550ff6b02a50f4d69',
    },
  },
  resources: {
    'static-binary': {
      class: StaticBinary,
      uri: 'test://static-binary',
      description: 'An image',
      mimeType: 'image/png',
      fingerprint: '21a71ebe89b34c4c2f778acb7a8ece2ded1fe0884dae9b513a327dc3ad07346d',
    },
    'static-text': {
      class: StaticText,
      uri: 'test://static-text',
      description: 'A text',
      mimeType: 'text/plain',
      fingerprint: '41a8b1064c2e1f6e391b7032f7c3d616bc9c2dfc2cfdb8ac431d7a5542a6132e',
    },
    template: {
      class: Template,
      uri: 'test://template/{id}/data',
      description: 'Data of an id',
      mimeType: 'application/json',
      fingerprint: '3bc5b1ebd8a80e8e2d78034d52e3ea983b4516be0df6411b329c9f1ed5fd45d4',
    },
    'watched-resource': {
      class: Watched,
      uri: 'test://watched-resource',
      description: 'A resource that changes',
      mimeType: 'text/plain',
      fingerprint: '90b5d076dcba954dec37157bce032e92b9618c64ab026d294ab16d75a32c91e0',
    },
  },
  workflows: {},
  prompts: {
    test_prompt_with_arguments: {
      class: PromptWithArguments,
      description: 'A prompt with arguments',
      arguments: [
        { name: 'arg1', description: 'First test argument', schema: { type: 'string' }, required: true },
        { name: 'arg2', description: 'Second test argument', schema: { type: 'string' }, required: true },
      ],
      fingerprint: '42d7955e9ae0addac24fe5ef76bc8de3c2b13613d3e9ddeb9c9ca856466f704d',
    },
    test_prompt_with_embedded_resource: {
      class: PromptWithResource,
      description: 'A prompt with a resource',
      arguments: [
        {
          name: 'resourceUri',
          description: 'URI of the resource to embed',
          schema: { type: 'string' },
          required: true,
        },
      ],
      fingerprint: 'e23052d803412648395335908b28437e511c6a11600dc6d60f085a09b047da48',
    },
    test_prompt_with_image: {
      class: PromptWithImage,
      description: 'A prompt with an image',
      arguments: [],
      fingerprint: '31b6d5db50665ee95577df4a58c6c3593b4545c7c2030d38b332627cd2037301',
    },
    test_simple_prompt: {
      class: SimplePrompt,
      description: 'A prompt without arguments',
      arguments: [],
      fingerprint: 'e94ced7f54a6da40e7dd903e1de665bd56ddc556db9d8e4c89c34b6cbc1d6496',
    },
  },
});

/** The names of the tools. */
export type ToolName = 
  | 'json_schema_2020_12_tool'
  | 'test_audio_content'
  | 'test_elicitation'
  | 'test_elicitation_sep1034_defaults'
  | 'test_elicitation_sep1330_enums'
  | 'test_embedded_resource'
  | 'test_error_handling'
  | 'test_image_content'
  | 'test_multiple_content_types'
  | 'test_reconnection'
  | 'test_sampling'
  | 'test_simple_text'
  | 'test_tool_with_logging'
  | 'test_tool_with_progress';

/** The names of the resources. */
export type ResourceName = 'static-binary' | 'static-text' | 'template' | 'watched-resource';

/** The names of the workflows. */
export type WorkflowName = never;

/** The names of the prompts that are no workflows. */
export type PromptName = 
  | 'test_prompt_with_arguments'
  | 'test_prompt_with_embedded_resource'
  | 'test_prompt_with_image'
  | 'test_simple_prompt';

interface Workflows {
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
