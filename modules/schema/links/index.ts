/**
 * Creating links between two tables, and their parts: foreign keys, junction tables and reverse fields.
 */

export { createLink } from './create.ts'
export { allLinkFieldsOf, createKeyLoader, type FoundLink, linkFieldsOf, linksAmong } from './fields.ts'
export { pairIndexes } from './junction.ts'
export {
  type LinkParts,
  type MarkedParts,
  markParts,
  partsOfLink,
  partsOutside,
  partsWhere,
  refuseKeyRules,
  refuseLinkPart,
  requireRelatedTable,
  requireReverseLink,
} from './parts.ts'
export {
  addForeignKey,
  addInverse,
  addJunction,
  columnStatements,
  linkDefinition,
  type NewLink,
  openEnds,
  placeInverse,
  readNewLink,
  requireLinkable,
  requireRelated,
  requireViewOf,
} from './plan.ts'
export { hasConvertedLinks, type LinkTarget, type LoadNames, targetOf, writeLinks } from './values.ts'
