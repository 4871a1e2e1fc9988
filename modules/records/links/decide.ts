import type { RecordId } from '../../../src/core/model.ts'

/** A record of the link's own table and one of the related table that belong together. */
export interface Pair {
  own: RecordId
  target: RecordId
}

/** What is wanted of one record's links: these too, these no more, or exactly these. */
export interface LinkRequest {
  kind: 'link' | 'unlink' | 'set'
  own: RecordId
  targets: RecordId[]
}

/** How many partners a record of either side may have. */
export interface LinkRule {
  ownHoldsOne: boolean
  relatedHeldByOne: boolean
}

/** What has to change: pairs that stand and have to go, and pairs that are new. None is in both. */
export interface PairChanges {
  removed: Pair[]
  added: Pair[]
}

/**
 * Works out what requests change, one after the other. Where a side holds one, linking takes the place of
 * what was there: of several targets for a record that holds one the last stays.
 *
 * @param current every standing pair that a request could touch: of its `own` records and, where a related
 *   record is held by one, of its targets; more do no harm
 */
export function decideLinks(rule: LinkRule, current: Pair[], requests: LinkRequest[]): PairChanges {
  const before = new Map(current.map((pair) => [pairKey(pair), pair]))
  const pairs = createPairs(before.values())
  for (const { kind, own, targets } of requests) {
    const wanted = rule.ownHoldsOne && kind !== 'unlink' ? targets.slice(-1) : targets
    if (kind === 'unlink') {
      for (const target of wanted) pairs.remove({ own, target })
      continue
    }
    if (kind === 'set' || (rule.ownHoldsOne && wanted.length > 0)) {
      const kept = new Set(wanted.map(String))
      for (const pair of pairs.ofOwn(own)) if (!kept.has(String(pair.target))) pairs.remove(pair)
    }
    for (const target of wanted) {
      if (rule.relatedHeldByOne) {
        for (const pair of pairs.ofTarget(target)) if (String(pair.own) !== String(own)) pairs.remove(pair)
      }
      pairs.add({ own, target })
    }
  }
  return {
    removed: [...before].filter(([key]) => !pairs.all.has(key)).map(([, pair]) => pair),
    added: [...pairs.all].filter(([key]) => !before.has(key)).map(([, pair]) => pair),
  }
}

/** Pairs with a way in from either side. */
function createPairs(initial: Iterable<Pair>) {
  const all = new Map<string, Pair>()
  const byOwn = new Map<string, Map<string, Pair>>()
  const byTarget = new Map<string, Map<string, Pair>>()
  const within = (index: Map<string, Map<string, Pair>>, id: RecordId) => {
    const known = index.get(String(id)) ?? new Map<string, Pair>()
    index.set(String(id), known)
    return known
  }
  const add = (pair: Pair) => {
    const key = pairKey(pair)
    if (all.has(key)) return
    all.set(key, pair)
    within(byOwn, pair.own).set(key, pair)
    within(byTarget, pair.target).set(key, pair)
  }
  for (const pair of initial) add(pair)
  return {
    all,
    add,
    remove(pair: Pair) {
      const key = pairKey(pair)
      all.delete(key)
      byOwn.get(String(pair.own))?.delete(key)
      byTarget.get(String(pair.target))?.delete(key)
    },
    ofOwn: (own: RecordId) => [...(byOwn.get(String(own))?.values() ?? [])],
    ofTarget: (target: RecordId) => [...(byTarget.get(String(target))?.values() ?? [])],
  }
}

/** A pair as text. Ids may be texts of any kind: as JSON no two pairs look alike. */
export const pairKey = ({ own, target }: Pair): string => JSON.stringify([String(own), String(target)])
