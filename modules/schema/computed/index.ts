/**
 * What computed fields read and give: links, lookups, rollups, counts, formulas and codes.
 */

export { formulaRefusal } from './formula.ts'
export { type Alteration, readGraph, resolveAll } from './graph.ts'
export { createReachable, type ReachableModels } from './reachable.ts'
export { refusal } from './rules.ts'
export { settle } from './settle.ts'
export { refuseUnknownFunction } from './unknown-function.ts'
