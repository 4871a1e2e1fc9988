/**
 * Links between records: opening a link, listing candidates, writing pairs and keys, and what a deletion takes along.
 */

export { createLinkReads, type LinkReads, type OpenedLink } from './candidates.ts'
export { idsWhere, planSetCascade, releaseLinks, type SetCascade } from './cascade.ts'
export {
  changeLinks,
  keysOf,
  type LinkRequest,
  readLinks,
  requiredLink,
  requireTargets,
  writeLinks,
} from './change-links.ts'
export { linkDelta, markLinks, readStamped } from './marks.ts'
export { readColumn, readPairs } from './read-pairs.ts'
export {
  behindTheirChildren,
  childrenFirst,
  type DeletionEffect,
  deletionEffects,
  referencesTo,
  withCleared,
} from './reference-rules.ts'
export {
  contextFor,
  type KeyRelation,
  LargeCascade,
  type LinkSchema,
  type OpenLink,
  openLink,
  type PairRelation,
  type Relation,
  relatedHeldByOne,
  relationsAround,
  relationsKeptIn,
  type WriteScope,
} from './relation.ts'
export { removedLinks } from './removed-links.ts'
export { planSetRestore, restoreStatements } from './set-restore.ts'
export {
  countKept,
  countRewind,
  linkTableOf,
  planRewind,
  type Rewind,
  relationsToRewind,
  rewindable,
} from './set-rewind.ts'
export { parentOf, resolveKeys } from './written-keys.ts'
