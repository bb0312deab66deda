import { withSuggestion } from '../../../graph/names.js';
import { settingFaults } from '../../../graph/schema/setting-faults.js';
import { type UpstreamConfig, upstreamSchemas, upstreamSettingsAt } from '../../upstream/config.js';
import { openModule } from '../../upstream/import-tools.js';
import type { UpstreamPort } from '../../upstream/port.js';
import { UpstreamServers } from '../../upstream/servers.js';

/** How upstream servers of a program are reached. */
export interface UpstreamOptions {
  /** The folder that `cwd` of a server is relative to. Default: the working directory. */
  readonly root?: string;
  /** Receives what servers over stdio write to stderr, and ends of connections, a line at a time. Default: stderr. */
  readonly log?: (text: string) => void;
}

/**
 * The upstream servers of a configuration, for the option `upstream` of a server. Each is connected when a call needs
 * it. `${NAME}` in the configuration is replaced by an environment variable.
 *
 * @throws RangeError for a malformed configuration.
 * @example
 * ```ts
 * import config from '../stepwright.config.json' with { type: 'json' };
 *
 * await serve(registry, { upstream: upstreamServers(config.upstream) });
 * ```
 */
export function upstreamServers(
  servers: UpstreamConfig,
  options: UpstreamOptions = {},
): Required<UpstreamPort> {
  const { root = process.cwd(), log = (text) => void process.stderr.write(`${text}\n`) } = options;
  const parsed = upstreamSchemas().upstream.safeParse(servers);
  if (!parsed.success) {
    const configuration = { value: servers, base: '/upstream', settingsAt: upstreamSettingsAt };
    const faults = parsed.error.issues.flatMap((issue) => settingFaults(issue, configuration));
    const lines = faults.map(({ problem, suggestion }) => `  - ${withSuggestion(problem, suggestion)}`);
    throw new RangeError(`the upstream servers are malformed:\n${lines.join('\n')}`);
  }
  return new UpstreamServers(parsed.data, {
    env: process.env,
    log,
    open: async (name, server, say, changed, secrets, signal) => {
      if ('module' in server) return openModule(name, root, server.module);
      const { openUpstream } = await import('./client.js');
      return openUpstream({ name, server, root, say, changed, secrets, signal });
    },
  });
}
