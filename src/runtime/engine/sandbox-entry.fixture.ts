export { planOf } from '../../plan/plan.js';
export { advance, start } from './engine.js';
export { outstanding } from './read.js';
export { snapshot } from './snapshot.js';
