export { planOf } from '../../plan/compile.js';
export { advance, start } from './engine.js';
export { outstanding } from './read.js';
export { snapshot } from './snapshot.js';
