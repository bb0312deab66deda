import { driving } from '../../src/runtime/engine/graph.fixture.js';

driving.reloads = true;
