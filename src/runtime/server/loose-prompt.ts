import type { RequestContext as PromptContext } from '../../decorators/context.js';
import { type JsonObject, ownProperty } from '../../graph/json.js';
import { Instances } from '../catalogue/instances.js';
import { type Masking, maskedThrown } from '../catalogue/mask.js';
import type { PromptEntry, Registry } from '../catalogue/registry.js';
import { isAbort, thrownFailure } from '../catalogue/thrown.js';
import { faultCodes, ProtocolFault } from './fault.js';
import { limited } from './limit.js';
import type { PromptOffer } from './offers.js';
import type { ResolvedSettings } from './options.js';
import { convertPrompt } from './prompt-content.js';
import type { IdentifiedRequest } from './request.js';
import { texts } from './texts.js';
import type { PromptResult } from './wire.js';

/** What makes messages of arguments. */
type LooseContent = Exclude<PromptOffer['content'], { readonly kind: 'workflow' }>;

/** The prompts in loose mode of one server. */
export class LoosePrompts {
  readonly #registry: Registry;
  readonly #instances: Instances<'render'>;
  readonly #settings: Pick<ResolvedSettings, 'promptTimeoutMs' | 'log'>;
  /** Prompts whose system messages the operator has been told of. */
  readonly #warned = new Set<string>();

  constructor(
    registry: Registry,
    factories: Readonly<Record<string, () => object>>,
    settings: Pick<ResolvedSettings, 'promptTimeoutMs' | 'log'>,
  ) {
    this.#registry = registry;
    this.#instances = new Instances('prompt', 'render', factories);
    this.#settings = settings;
  }

  /**
   * Renders a prompt and converts its messages to those of MCP.
   *
   * @param mask what a reason for failing must not show.
   * @throws ProtocolFault -32603 when it fails, takes too long or gives what cannot be sent; `data.code` says which.
   */
  async get(
    offer: PromptOffer,
    content: LooseContent,
    input: JsonObject,
    request: IdentifiedRequest,
    mask: Masking,
  ): Promise<PromptResult> {
    const { name, description } = offer;
    const { promptTimeoutMs, log } = this.#settings;
    try {
      const rendered = await limited(promptTimeoutMs, request.signal, async (signal) => {
        try {
          return await this.#render(name, content, input, contextOf(request, signal));
        } catch (error) {
          if (!isAbort(error, signal)) log(texts.promptThrew(name, maskedThrown(error, mask)));
          throw error;
        }
      });
      if (rendered.kind !== 'done') {
        const code = rendered.kind === 'timedOut' ? 'E_TIMEOUT' : 'E_CANCELLED';
        const why = rendered.kind === 'timedOut' ? texts.noAnswer(promptTimeoutMs) : texts.requestCancelled();
        throw Object.assign(new Error(why), { code });
      }
      const { hasSystem, ...result } = convertPrompt(rendered.value, this.#registry);
      if (hasSystem && !this.#warned.has(name)) {
        this.#warned.add(name);
        log(texts.systemMessage(name));
      }
      return description === undefined ? result : { description, ...result };
    } catch (error) {
      const { code, message } = thrownFailure(error, 'E_PROMPT');
      throw new ProtocolFault(faultCodes.internal, texts.promptFailed(name, mask.text(message)), { code });
    }
  }

  #render(name: string, content: LooseContent, input: JsonObject, context: PromptContext): unknown {
    if (content.kind === 'function') {
      // Every argument of a plain prompt is text.
      return content.prompt.handler(input as Readonly<Record<string, string>>, context);
    }
    const made = this.#instances.get(name, content.entry.class);
    if (!made.ok) {
      const { code, message } = made.failure;
      throw Object.assign(new Error(message, { cause: made.thrown }), { code });
    }
    return made.instance.render(byField(input, content.entry), context);
  }
}

function contextOf({ requestId, auth, principal }: IdentifiedRequest, signal: AbortSignal): PromptContext {
  return { signal, requestId, ...(auth === undefined ? {} : { auth }), principal };
}

/** The arguments as `render` takes them: by the fields of its class. */
function byField(input: JsonObject, { fields = {} }: PromptEntry): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [ownProperty(fields, name) ?? name, value]),
  );
}
