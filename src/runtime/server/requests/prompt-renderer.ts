import type { RequestContext as PromptContext } from '../../../decorators/context.js';
import { readMetadata } from '../../../decorators/metadata.js';
import { PromptText } from '../../../decorators/prompt.js';
import { ResourceHandle, ToolHandle } from '../../../formats/builder/tools-and-resources.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type JsonObject, ownProperty } from '../../../graph/json.js';
import { nearestName, withSuggestion } from '../../../graph/names.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import type { Masking } from '../../secrets/mask.js';
import { isContentBlock } from '../../tools/call-result.js';
import { isAbort, maskedThrown, thrownFailure } from '../../tools/exceptions.js';
import { type InstanceRequest, Instances, type UntypedFactories } from '../../tools/instances.js';
import {
  clientToolNames,
  isPrivateTool,
  type PromptEntry,
  type Registry,
  type ResourceEntry,
  type ToolEntry,
  type WorkflowEntry,
} from '../../tools/registry.js';
import { base64, isBase64 } from '../../tools/resources.js';
import { toJson } from '../../tools/to-json.js';
import { requestContextOf } from '../../tools/tool-context.js';
import { kindOf } from '../../tools/tool-texts.js';
import type { PromptTrace } from '../../trace/messages.js';
import type { ServedPrompt } from '../catalogue/listings.js';
import type { ResolvedSettings } from '../options.js';
import { type ContentBlock, faultCodes, type PromptResult, ProtocolFault } from '../wire.js';
import { limited, unfinished } from './limits.js';

/** What makes messages of arguments. */
type RenderedContent = Exclude<ServedPrompt['content'], { readonly kind: 'workflow' }>;

/** The prompts in loose mode of one server. */
export class PromptRenderer {
  readonly #registry: Registry;
  readonly #instances: Instances<'render'>;
  readonly #settings: Pick<ResolvedSettings, 'promptTimeoutMs' | 'log'>;
  /** Prompts whose system messages were logged. */
  readonly #warned = new Set<string>();

  constructor(
    registry: Registry,
    factories: UntypedFactories,
    settings: Pick<ResolvedSettings, 'promptTimeoutMs' | 'log'>,
  ) {
    this.#registry = registry;
    this.#instances = new Instances('prompt', 'render', factories.promptClasses ?? {}, factories);
    this.#settings = settings;
  }

  /**
   * Renders a prompt and converts its messages to those of MCP.
   *
   * @param mask what a reason for failing must not show.
   * @throws ProtocolFault -32603 when it fails, takes too long or gives what cannot be sent; `data.code` says which.
   */
  async get(
    prompt: ServedPrompt,
    content: RenderedContent,
    input: JsonObject,
    request: IdentifiedRequest,
    mask: Masking,
  ): Promise<PromptResult> {
    const { name, description } = prompt;
    const { promptTimeoutMs, log } = this.#settings;
    try {
      const rendered = await limited(promptTimeoutMs, request.signal, async (signal) => {
        try {
          return await this.#render(name, content, input, { ...request, signal });
        } catch (error) {
          if (!isAbort(error, signal))
            log(`prompt \`${clip(name)}\` threw: ${maskedThrown(error, mask)}`, {
              event: 'prompt.threw',
              prompt: name,
            });
          throw error;
        }
      });
      if (rendered.kind !== 'done') {
        const { code, message } = unfinished(rendered.kind, promptTimeoutMs);
        throw Object.assign(new Error(message), { code });
      }
      const { hasSystem, ...result } = convertPrompt(rendered.value, this.#registry);
      if (hasSystem && !this.#warned.has(name)) {
        this.#warned.add(name);
        log(
          `prompt \`${clip(name)}\` has a system message, which MCP does not know: it is sent as the user's. ` +
            'Write `user(...)`, or keep such text in the description of a tool or in a resource.',
          {
            event: 'prompt.system_message',
            level: 'warning',
            prompt: name,
          },
        );
      }
      return description === undefined ? result : { description, ...result };
    } catch (error) {
      const { code, message } = thrownFailure(error, 'E_PROMPT');
      throw new ProtocolFault(
        faultCodes.internal,
        `Prompt '${name}' failed: ${oneLine(mask.text(message))}`,
        { code },
      );
    }
  }

  async #render(
    name: string,
    content: RenderedContent,
    input: JsonObject,
    request: InstanceRequest,
  ): Promise<unknown> {
    const context: PromptContext = requestContextOf(request);
    if (content.kind === 'function') {
      // Every argument of a plain prompt is text.
      return content.prompt.handler(input as Readonly<Record<string, string>>, context);
    }
    const instance = await this.#instances.get(name, content.entry.class, request);
    if (!instance.ok) {
      const { code, message } = instance.failure;
      throw Object.assign(new Error(message, { cause: instance.thrown }), { code });
    }
    return instance.instance.render(byField(input, content.entry), context);
  }
}

/** The arguments as `render` takes them: by the fields of its class. */
function byField(input: JsonObject, { fields = {} }: PromptEntry): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [ownProperty(fields, name) ?? name, value]),
  );
}

/** Thrown when messages of a prompt cannot be sent: a handle of something unknown, or content that is none. */
class PromptContentError extends Error {
  override readonly name = 'PromptContentError';

  constructor(
    readonly code:
      | 'E_MISSING_TOOL'
      | 'E_MISSING_RESOURCE'
      | 'E_MISSING_WORKFLOW'
      | 'E_PROMPT_HANDLE'
      | 'E_PROMPT_CONTENT',
    message: string,
  ) {
    super(message);
  }
}

/** Messages as MCP has them. */
export interface ConvertedPrompt extends PromptResult {
  /** Whether a message of the system was among them: it is the user's now. */
  readonly hasSystem: boolean;
}

/**
 * Turns the messages of a prompt into those of MCP, where no handle is left: a tool becomes text with its name,
 * description and schema, a resource a link, a list one message for each part.
 *
 * @param rendered a {@link PromptMessages}; anything else is refused, since authors write JavaScript as well.
 * @throws PromptContentError for the first content that cannot be sent.
 */
export function convertPrompt(rendered: unknown, registry: Registry): ConvertedPrompt {
  const { messages, description } = messagesOf(rendered, registry);
  let hasSystem = false;
  const converted = messages.flatMap((message, index) => {
    const number = index + 1;
    if (!isObject(message) || !('content' in message))
      throw refuse(`message ${number} is not an object { role, content }`);
    const { role, content } = message;
    if (role === 'system') hasSystem = true;
    else if (role !== 'user' && role !== 'assistant')
      throw refuse(`message ${number} has the role '${clip(String(role))}': write 'user' or 'assistant'`);
    const sentAs = role === 'assistant' ? ('assistant' as const) : ('user' as const);
    return blocksOf(content, number, registry).map((block) => ({ role: sentAs, content: block }));
  });
  return { ...defined({ description }), messages: converted, hasSystem };
}

function messagesOf(
  rendered: unknown,
  registry: Registry,
): { messages: readonly unknown[]; description?: string } {
  if (Array.isArray(rendered)) return { messages: rendered };
  if (!isObject(rendered) || !Array.isArray(rendered.messages))
    throw refuse('render returned no messages: return a list of them, or { messages }');
  const { messages, description } = rendered;
  if (description instanceof PromptText) return { messages, description: plainText(description, registry) };
  return typeof description === 'string' ? { messages, description } : { messages };
}

/** The blocks of one content; `number` counts its message from 1. */
function blocksOf(content: unknown, number: number, registry: Registry): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (content instanceof PromptText) return [{ type: 'text', text: plainText(content, registry) }];
  if (typeof content === 'function') return [handleBlock(content as DecoratedClass, registry)];
  if (Array.isArray(content)) return content.flatMap((part) => blocksOf(part, number, registry));
  return [plainBlock(content, number, registry)];
}

/** Text whose handles are all registered. */
function plainText(text: PromptText, registry: Registry): string {
  for (const part of text.parts) if (typeof part !== 'string') targetOf(part, registry);
  return text.toString();
}

/** A block that is in the form of MCP already, but for bytes and handles in its text. */
function plainBlock(content: unknown, number: number, registry: Registry): ContentBlock {
  if (!isObject(content)) throw refuse(`message ${number} holds ${kindOf(content)}`);
  if (ToolHandle.is(content) || ResourceHandle.is(content))
    throw new PromptContentError(
      'E_PROMPT_HANDLE',
      `message ${number} holds a handle of '${clip(String(content))}', which is for steps of workflows: write the class of the ${content.kind}`,
    );
  const { data, text } = content;
  const json = toJson({
    ...content,
    ...(data instanceof Uint8Array ? { data: base64(data) } : {}),
    ...(text instanceof PromptText ? { text: plainText(text, registry) } : {}),
  });
  if (!json.ok) {
    const place = json.pointer === '' ? '' : `'${clip(json.pointer)}' is `;
    throw refuse(`message ${number} holds what is not JSON: ${place}${json.problem}`);
  }
  const block = json.value;
  if (!isContentBlock(block) || !isComplete(block))
    throw refuse(
      `message ${number} holds an object that is not content of MCP: text, image, audio, resource or resource_link`,
    );
  return block as unknown as ContentBlock;
}

/** What clients demand of a block and tools are not asked for. */
function isComplete(block: Readonly<Record<string, unknown>>): boolean {
  switch (block.type) {
    case 'image':
    case 'audio':
      return isBase64(block.data);
    case 'resource_link':
      return typeof block.name === 'string';
    case 'resource': {
      const { resource } = block;
      return isJsonObject(resource) && (typeof resource.text === 'string' || isBase64(resource.blob));
    }
    default:
      return true;
  }
}

/** What a handle becomes where it is a content of its own. */
function handleBlock(handle: DecoratedClass, registry: Registry): ContentBlock {
  const metadata = targetOf(handle, registry);
  switch (metadata.kind) {
    case 'tool': {
      const { name, entry } = metadata;
      return {
        type: 'text',
        text: `Tool: ${name}\nDescription: ${entry.description}\nSchema: ${JSON.stringify(entry.inputSchema, null, 2)}`,
      };
    }
    case 'resource': {
      const { name, entry } = metadata;
      if (entry.uri.includes('{'))
        throw new PromptContentError(
          'E_PROMPT_HANDLE',
          `it names the class ${clip(handle.name)}, which has no address of its own: write a link to one of its addresses`,
        );
      const { uri, title, description, mimeType } = entry;
      return {
        type: 'resource_link',
        uri,
        name,
        ...defined({ title, description, mimeType }),
      };
    }
    case 'workflow':
      return {
        type: 'text',
        text: `Workflow: ${metadata.name}\nDescription: ${metadata.entry.graph.description}`,
      };
    default:
      return metadata satisfies never;
  }
}

type DecoratedClass = Parameters<typeof readMetadata>[0];

type HandleTarget =
  | { readonly kind: 'tool'; readonly name: string; readonly entry: ToolEntry }
  | { readonly kind: 'resource'; readonly name: string; readonly entry: ResourceEntry }
  | { readonly kind: 'workflow'; readonly name: string; readonly entry: WorkflowEntry };

/**
 * What the registry has for a handle.
 *
 * @throws PromptContentError where it has nothing.
 */
function targetOf(handle: DecoratedClass, { tools, resources, workflows }: Registry): HandleTarget {
  const metadata = readMetadata(handle);
  switch (metadata?.kind) {
    case 'tool': {
      const { name } = metadata.options;
      const entry = ownProperty(tools, name);
      if (entry !== undefined && isPrivateTool(entry))
        throw new PromptContentError(
          'E_PROMPT_HANDLE',
          `it names the tool '${clip(name)}', which only steps of workflows may call: name a workflow that calls it, or leave out \`visibility: 'workflow'\``,
        );
      if (entry !== undefined) return { kind: 'tool', name, entry };
      throw missing('E_MISSING_TOOL', 'tool', name, clientToolNames({ tools }));
    }
    case 'resource': {
      const { name } = metadata.options;
      const entry = ownProperty(resources, name);
      if (entry !== undefined) return { kind: 'resource', name, entry };
      const uri = metadata.uri ?? metadata.uriTemplate;
      const uris = Object.values(resources).map((other) => other.uri);
      throw missing('E_MISSING_RESOURCE', 'resource', uri, uris);
    }
    case 'workflow': {
      const { name } = metadata.options;
      const entry = ownProperty(workflows, name);
      if (entry !== undefined) return { kind: 'workflow', name, entry };
      throw missing('E_MISSING_WORKFLOW', 'workflow', name, Object.keys(workflows));
    }
    case 'prompt':
    case 'state':
    case 'agent':
    case undefined:
      throw new PromptContentError(
        'E_PROMPT_HANDLE',
        `it names the class ${clip(handle.name)}, which is not a tool, resource or workflow`,
      );
    default:
      return metadata satisfies never;
  }
}

function missing(
  code: PromptContentError['code'],
  what: string,
  name: string,
  names: Iterable<string>,
): PromptContentError {
  const text = `it names the ${what} '${clip(name)}', which this server does not have`;
  return new PromptContentError(code, withSuggestion(text, nearestName(name, names)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(text: string): PromptContentError {
  return new PromptContentError('E_PROMPT_CONTENT', text);
}

/** Why the run of a workflow failed, by its conversation; nothing for a run that did not. */
export function failureOf(answer: PromptTrace | PromptResult): Failure | undefined {
  if (!('_meta' in answer)) return undefined;
  const { status, errors } = answer._meta;
  if (status !== 'failed' && status !== 'cancelled') return undefined;
  const { code = 'E_FAIL', message = status } = errors[0] ?? {};
  return { code, message };
}
