import { serve, upstreamServers } from 'stepwright/runtime';
import { registry } from '../../generated/upstream.registry.js';
import config from '../../stepwright.config.json' with { type: 'json' };

await serve(registry, {
  name: 'stepwright-upstream',
  version: '0.1.0',
  upstream: upstreamServers(config.upstream),
});
