// Written by `stepwright pull memory`: run it again instead of editing this file.
import { Tool, type ToolContext } from 'stepwright';

export interface MemoryAddObservationsInput {
  readonly observations: readonly {
    /** An array of observation contents to add */
    readonly contents: readonly string[];
    /** The name of the entity to add the observations to */
    readonly entityName: string;
  }[];
}

export interface MemoryAddObservationsOutput {
  readonly results: readonly {
    readonly addedObservations: readonly string[];
    readonly entityName: string;
  }[];
}

/** Add new observations to existing entities in the knowledge graph */
@Tool({
  name: 'memory_add_observations',
  title: 'Add Observations',
  description: 'Add new observations to existing entities in the knowledge graph',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      observations: {
        items: {
          properties: {
            contents: {
              description: 'An array of observation contents to add',
              items: { type: 'string' },
              type: 'array',
            },
            entityName: { description: 'The name of the entity to add the observations to', type: 'string' },
          },
          required: ['entityName', 'contents'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['observations'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      results: {
        items: {
          additionalProperties: false,
          properties: {
            addedObservations: { items: { type: 'string' }, type: 'array' },
            entityName: { type: 'string' },
          },
          required: ['entityName', 'addedObservations'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['results'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'add_observations' },
})
export class MemoryAddObservations {
  execute(input: MemoryAddObservationsInput, context: ToolContext): Promise<MemoryAddObservationsOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryCreateEntitiesInput {
  readonly entities: readonly {
    /** The type of the entity */
    readonly entityType: string;
    /** The name of the entity */
    readonly name: string;
    /** An array of observation contents associated with the entity */
    readonly observations: readonly string[];
  }[];
}

export interface MemoryCreateEntitiesOutput {
  readonly entities: readonly {
    /** The type of the entity */
    readonly entityType: string;
    /** The name of the entity */
    readonly name: string;
    /** An array of observation contents associated with the entity */
    readonly observations: readonly string[];
  }[];
}

/** Create multiple new entities in the knowledge graph */
@Tool({
  name: 'memory_create_entities',
  title: 'Create Entities',
  description: 'Create multiple new entities in the knowledge graph',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      entities: {
        items: {
          properties: {
            entityType: { description: 'The type of the entity', type: 'string' },
            name: { description: 'The name of the entity', type: 'string' },
            observations: {
              description: 'An array of observation contents associated with the entity',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['name', 'entityType', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['entities'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      entities: {
        items: {
          additionalProperties: false,
          properties: {
            entityType: { description: 'The type of the entity', type: 'string' },
            name: { description: 'The name of the entity', type: 'string' },
            observations: {
              description: 'An array of observation contents associated with the entity',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['name', 'entityType', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['entities'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'create_entities' },
})
export class MemoryCreateEntities {
  execute(input: MemoryCreateEntitiesInput, context: ToolContext): Promise<MemoryCreateEntitiesOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryCreateRelationsInput {
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

export interface MemoryCreateRelationsOutput {
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

/** Create multiple new relations between entities in the knowledge graph. Relations should be in active voice */
@Tool({
  name: 'memory_create_relations',
  title: 'Create Relations',
  description: 'Create multiple new relations between entities in the knowledge graph. Relations should be in active voice',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      relations: {
        items: {
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['relations'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      relations: {
        items: {
          additionalProperties: false,
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['relations'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'create_relations' },
})
export class MemoryCreateRelations {
  execute(input: MemoryCreateRelationsInput, context: ToolContext): Promise<MemoryCreateRelationsOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryDeleteEntitiesInput {
  /** An array of entity names to delete */
  readonly entityNames: readonly string[];
}

export interface MemoryDeleteEntitiesOutput {
  readonly message: string;
  readonly success: boolean;
}

/** Delete multiple entities and their associated relations from the knowledge graph */
@Tool({
  name: 'memory_delete_entities',
  title: 'Delete Entities',
  description: 'Delete multiple entities and their associated relations from the knowledge graph',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      entityNames: {
        description: 'An array of entity names to delete',
        items: { type: 'string' },
        type: 'array',
      },
    },
    required: ['entityNames'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { message: { type: 'string' }, success: { type: 'boolean' } },
    required: ['success', 'message'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'delete_entities' },
})
export class MemoryDeleteEntities {
  execute(input: MemoryDeleteEntitiesInput, context: ToolContext): Promise<MemoryDeleteEntitiesOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryDeleteObservationsInput {
  readonly deletions: readonly {
    /** The name of the entity containing the observations */
    readonly entityName: string;
    /** An array of observations to delete */
    readonly observations: readonly string[];
  }[];
}

export interface MemoryDeleteObservationsOutput {
  readonly message: string;
  readonly success: boolean;
}

/** Delete specific observations from entities in the knowledge graph */
@Tool({
  name: 'memory_delete_observations',
  title: 'Delete Observations',
  description: 'Delete specific observations from entities in the knowledge graph',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      deletions: {
        items: {
          properties: {
            entityName: { description: 'The name of the entity containing the observations', type: 'string' },
            observations: {
              description: 'An array of observations to delete',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['entityName', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['deletions'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { message: { type: 'string' }, success: { type: 'boolean' } },
    required: ['success', 'message'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'delete_observations' },
})
export class MemoryDeleteObservations {
  execute(input: MemoryDeleteObservationsInput, context: ToolContext): Promise<MemoryDeleteObservationsOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryDeleteRelationsInput {
  /** An array of relations to delete */
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

export interface MemoryDeleteRelationsOutput {
  readonly message: string;
  readonly success: boolean;
}

/** Delete multiple relations from the knowledge graph */
@Tool({
  name: 'memory_delete_relations',
  title: 'Delete Relations',
  description: 'Delete multiple relations from the knowledge graph',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      relations: {
        description: 'An array of relations to delete',
        items: {
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['relations'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { message: { type: 'string' }, success: { type: 'boolean' } },
    required: ['success', 'message'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'delete_relations' },
})
export class MemoryDeleteRelations {
  execute(input: MemoryDeleteRelationsInput, context: ToolContext): Promise<MemoryDeleteRelationsOutput> {
    return context.callUpstream(input);
  }
}

export interface MemoryOpenNodesInput {
  /** An array of entity names to retrieve */
  readonly names: readonly string[];
}

export interface MemoryOpenNodesOutput {
  readonly entities: readonly {
    /** The type of the entity */
    readonly entityType: string;
    /** The name of the entity */
    readonly name: string;
    /** An array of observation contents associated with the entity */
    readonly observations: readonly string[];
  }[];
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

/** Open specific nodes in the knowledge graph by their names */
@Tool({
  name: 'memory_open_nodes',
  title: 'Open Nodes',
  description: 'Open specific nodes in the knowledge graph by their names',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      names: {
        description: 'An array of entity names to retrieve',
        items: { type: 'string' },
        type: 'array',
      },
    },
    required: ['names'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      entities: {
        items: {
          additionalProperties: false,
          properties: {
            entityType: { description: 'The type of the entity', type: 'string' },
            name: { description: 'The name of the entity', type: 'string' },
            observations: {
              description: 'An array of observation contents associated with the entity',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['name', 'entityType', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
      relations: {
        items: {
          additionalProperties: false,
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['entities', 'relations'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'open_nodes' },
})
export class MemoryOpenNodes {
  execute(input: MemoryOpenNodesInput, context: ToolContext): Promise<MemoryOpenNodesOutput> {
    return context.callUpstream(input);
  }
}

export type MemoryReadGraphInput = { readonly [key: string]: unknown };

export interface MemoryReadGraphOutput {
  readonly entities: readonly {
    /** The type of the entity */
    readonly entityType: string;
    /** The name of the entity */
    readonly name: string;
    /** An array of observation contents associated with the entity */
    readonly observations: readonly string[];
  }[];
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

/** Read the entire knowledge graph */
@Tool({
  name: 'memory_read_graph',
  title: 'Read Graph',
  description: 'Read the entire knowledge graph',
  inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', properties: {}, type: 'object' },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      entities: {
        items: {
          additionalProperties: false,
          properties: {
            entityType: { description: 'The type of the entity', type: 'string' },
            name: { description: 'The name of the entity', type: 'string' },
            observations: {
              description: 'An array of observation contents associated with the entity',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['name', 'entityType', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
      relations: {
        items: {
          additionalProperties: false,
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['entities', 'relations'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'read_graph' },
})
export class MemoryReadGraph {
  execute(input: MemoryReadGraphInput, context: ToolContext): Promise<MemoryReadGraphOutput> {
    return context.callUpstream(input);
  }
}

export interface MemorySearchNodesInput {
  /** The search query to match against entity names, types, and observation content */
  readonly query: string;
}

export interface MemorySearchNodesOutput {
  readonly entities: readonly {
    /** The type of the entity */
    readonly entityType: string;
    /** The name of the entity */
    readonly name: string;
    /** An array of observation contents associated with the entity */
    readonly observations: readonly string[];
  }[];
  readonly relations: readonly {
    /** The name of the entity where the relation starts */
    readonly from: string;
    /** The type of the relation */
    readonly relationType: string;
    /** The name of the entity where the relation ends */
    readonly to: string;
  }[];
}

/** Search for nodes in the knowledge graph based on a query */
@Tool({
  name: 'memory_search_nodes',
  title: 'Search Nodes',
  description: 'Search for nodes in the knowledge graph based on a query',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      query: {
        description: 'The search query to match against entity names, types, and observation content',
        type: 'string',
      },
    },
    required: ['query'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      entities: {
        items: {
          additionalProperties: false,
          properties: {
            entityType: { description: 'The type of the entity', type: 'string' },
            name: { description: 'The name of the entity', type: 'string' },
            observations: {
              description: 'An array of observation contents associated with the entity',
              items: { type: 'string' },
              type: 'array',
            },
          },
          required: ['name', 'entityType', 'observations'],
          type: 'object',
        },
        type: 'array',
      },
      relations: {
        items: {
          additionalProperties: false,
          properties: {
            from: { description: 'The name of the entity where the relation starts', type: 'string' },
            relationType: { description: 'The type of the relation', type: 'string' },
            to: { description: 'The name of the entity where the relation ends', type: 'string' },
          },
          required: ['from', 'to', 'relationType'],
          type: 'object',
        },
        type: 'array',
      },
    },
    required: ['entities', 'relations'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'memory', tool: 'search_nodes' },
})
export class MemorySearchNodes {
  execute(input: MemorySearchNodesInput, context: ToolContext): Promise<MemorySearchNodesOutput> {
    return context.callUpstream(input);
  }
}
