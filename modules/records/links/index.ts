/**
 * Links between records: opening a link, listing candidates, writing pairs and keys, and what a deletion takes along.
 */

export { createLinkReads, type LinkReads, type OpenedLink } from './candidates.ts'
export { idsWhere, letGo } from './cascade.ts'
export { changeLinks, keysOf, requiredLink, requireTargets } from './change-links.ts'
export type { LinkRequest } from './decide.ts'
export { linkDelta } from './delta.ts'
export { markLinks } from './marks.ts'
export { readColumn } from './read-pairs.ts'
export {
  behindTheirChildren,
  childrenFirst,
  type DeletionEffect,
  deletionEffects,
  referencesTo,
} from './reference-rules.ts'
export {
  type KeyRelation,
  type LinkSchema,
  type OpenLink,
  openLink,
  type PairRelation,
  type Relation,
  relationsAround,
  relationsKeptIn,
} from './relation.ts'
export { LargeCascade, type WriteScope, within } from './scope.ts'
export { planSetCascade, type SetCascade } from './set-cascade.ts'
export { planSetRestore, restoreStatements } from './set-restore.ts'
export { parentOf, settleKeys } from './written-keys.ts'
