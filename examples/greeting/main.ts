import { serve } from 'stepwright/runtime';
import { registry } from './generated/greeting.registry.js';

await serve(registry, { name: 'stepwright-greeting', version: '0.1.0' });
