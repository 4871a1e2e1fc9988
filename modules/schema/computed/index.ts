export { refusal } from './rules.ts'
/**
 * What computed fields read and give: links, lookups, rollups, counts, formulas and codes.
 */

export { formulaRefusal, refuseUnknownFunction } from './formula.ts'
export { type Alteration, readGraph, resolveAll } from './graph.ts'
export { createReachable, type ReachableModels, settle } from './recompute.ts'
