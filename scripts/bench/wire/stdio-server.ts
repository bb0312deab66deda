import { serve } from 'stepwright/runtime';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { tellCpuTime } from './channels.js';
import { greetings } from './greetings.js';

// The server of stepwright, as a program. Its argument is the number of steps of its prompt.
tellCpuTime();
await serve(registry, { workflows: [greetings(Number(process.argv[2])).build()] });
