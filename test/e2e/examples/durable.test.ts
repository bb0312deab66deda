import { beforeAll, describe } from 'vitest';
import { compileTools, testAgents } from './durable-world.js';

beforeAll(compileTools, 300_000);

describe('an agent that knows no workflow does what the answers say', () => testAgents());
