import type { Icon, ToolAnnotations } from '../../decorators/tool.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';

/** What items of every list may have. */
interface Listing {
  readonly name: string;
  readonly title?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** One item of `tools/list`. The author's hints stand in `_meta['stepwright/hints']`. */
export interface ToolListing extends Listing {
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
}

/** One item of `prompts/list`. */
export interface PromptListing extends Listing {
  readonly description?: string;
  readonly arguments: readonly PromptArgumentListing[];
}

/** An argument of a prompt. Its type, where it is not text, stands in the description: the protocol has no other place. */
export interface PromptArgumentListing {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly required: boolean;
}

/** One item of `resources/list`. */
export interface ResourceListing extends Listing {
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** One item of `resources/templates/list`. */
export interface ResourceTemplateListing extends Listing {
  readonly uriTemplate: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** The content of a resource: text, or bytes in base64. */
export type ResourceContents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/** A part of a tool result or of a prompt message. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string; readonly _meta?: JsonObject }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: ResourceContents; readonly _meta?: JsonObject }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

/** The answer to `prompts/get` of a prompt in loose mode. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: ContentBlock;
  }[];
}

/** The answer to `completion/complete`. */
export interface CompletionResult {
  readonly completion: {
    /** At most 100. */
    readonly values: readonly string[];
    readonly total: number;
    readonly hasMore: boolean;
  };
}

/** The answer to `tools/call`. */
export interface ToolResult<Structured = JsonObject> {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Structured;
  readonly isError?: true;
  readonly _meta?: JsonObject;
}
