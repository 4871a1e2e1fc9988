/**
 * Making a link between two tables, and what it consists of: keys, junctions and its reverse.
 */

export { createLink } from './create.ts'
export { allLinkFieldsOf, createKeyLoader, linkFieldsOf } from './fields.ts'
export { pairIndexes } from './junction.ts'
export {
  type LinkParts,
  type MarkedParts,
  markParts,
  partsOfLink,
  partsOutside,
  partsWhere,
  refuseKept,
  refuseKeyRules,
  requirePartner,
  requireRelatedTable,
} from './parts.ts'
export {
  addInverse,
  keepByKey,
  keepByPairs,
  type NewLink,
  openEnds,
  ownSide,
  physicalOf,
  placeInverse,
  readNewLink,
  requireLinkable,
  requireRelated,
  requireViewOf,
} from './plan.ts'
export { isAsNamed, type LinkTarget, targetOf, writeLinks } from './values.ts'
