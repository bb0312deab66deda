import { serve, upstreamServers } from 'stepwright/runtime';
import config from '../../stepwright.config.json' with { type: 'json' };
import { registry } from './generated/upstream.registry.js';

await serve(registry, {
  name: 'stepwright-upstream',
  version: '0.1.0',
  upstream: upstreamServers(config.upstream),
});
