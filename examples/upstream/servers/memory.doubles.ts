// Written by `stepwright pull memory`: run it again instead of editing this file.
import { type DoubleAnswer, doublesOf, type UpstreamDouble } from 'stepwright/testing';
import * as tools from './memory.js';

/** What doubles of the tools answer. One without an answer gives a value made up from the output schema. */
export interface MemoryAnswers {
  readonly add_observations?: DoubleAnswer<tools.MemoryAddObservations>;
  readonly create_entities?: DoubleAnswer<tools.MemoryCreateEntities>;
  readonly create_relations?: DoubleAnswer<tools.MemoryCreateRelations>;
  readonly delete_entities?: DoubleAnswer<tools.MemoryDeleteEntities>;
  readonly delete_observations?: DoubleAnswer<tools.MemoryDeleteObservations>;
  readonly delete_relations?: DoubleAnswer<tools.MemoryDeleteRelations>;
  readonly open_nodes?: DoubleAnswer<tools.MemoryOpenNodes>;
  readonly read_graph?: DoubleAnswer<tools.MemoryReadGraph>;
  readonly search_nodes?: DoubleAnswer<tools.MemorySearchNodes>;
}

/** Doubles of all tools of the upstream server `memory`, for `upstreamDoubles`. */
export function memoryDoubles(answers: MemoryAnswers = {}): readonly UpstreamDouble[] {
  return doublesOf(
    {
      add_observations: tools.MemoryAddObservations,
      create_entities: tools.MemoryCreateEntities,
      create_relations: tools.MemoryCreateRelations,
      delete_entities: tools.MemoryDeleteEntities,
      delete_observations: tools.MemoryDeleteObservations,
      delete_relations: tools.MemoryDeleteRelations,
      open_nodes: tools.MemoryOpenNodes,
      read_graph: tools.MemoryReadGraph,
      search_nodes: tools.MemorySearchNodes,
    },
    answers,
  );
}
