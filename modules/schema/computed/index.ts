/**
 * The dependencies and result types of computed fields: links, lookups, rollups, counts, formulas and codes.
 */

export { formulaRefusal, refuseUnknownFunction } from './formula.ts'
export { type Alteration, readGraph, resolveAll, resolveRows } from './graph.ts'
export { createReachable, type ReachableModels, recomputeResults } from './recompute.ts'
export { referencesOf } from './registry.ts'
export { refusal } from './rules.ts'
