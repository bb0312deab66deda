import { serve } from 'stepwright/runtime';
import { registry } from './generated/code-review.registry.js';
import { plainCodeReview } from './plain-code-review.js';

await serve(registry, { name: 'stepwright-code-review', version: '0.1.0', prompts: [plainCodeReview] });
