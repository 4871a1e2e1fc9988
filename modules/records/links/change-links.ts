import type { RecordChange } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { deleteRecords, insertRecords, updateRecords } from '../rows/index.ts'
import { isPossibleId, recordsNotFound, storedId } from '../table/index.ts'
import { readStamped } from './marks.ts'
import { type Pair, readColumn, readPairs, type StoredPair } from './read-pairs.ts'
import {
  contextFor,
  isWholeId,
  type KeyRelation,
  type OpenLink,
  ownHoldsOne,
  type PairRelation,
  relatedHeldByOne,
  type WriteScope,
} from './relation.ts'

/**
 * Writes links as keys of the children or as junction rows. The number of statements does not grow with the records,
 * except that lists are split into chunks of 500.
 *
 * @throws as `readLinks` and `writeLinks`
 */
export const changeLinks = async (
  scope: WriteScope,
  link: OpenLink,
  requests: LinkRequest[],
): Promise<RecordChange[]> => writeLinks(scope, link, await readLinks(scope, link, requests))

/** What `writeLinks` needs to know of the records. */
interface ReadLinks {
  changes: PairChanges
  current: StoredPair[]
}

/**
 * Decides what requests change, by reads that do not wait for each other.
 *
 * @throws RECORD_NOT_FOUND naming the targets that are not in the related table
 */
export async function readLinks(
  scope: WriteScope,
  link: OpenLink,
  requests: LinkRequest[],
): Promise<ReadLinks> {
  const wanted = requests.map(({ kind, own, targets }) => ({
    kind,
    own: storedId(link.model, own),
    targets: [...new Set(targets.map((id) => storedId(link.related, id)))],
  }))
  const targets = wanted.flatMap((request) => request.targets)
  const [, current] = await Promise.all([
    requireTargets(scope, link.related, targets),
    readTouched(scope, link, wanted),
  ])
  const rule = { ownHoldsOne: ownHoldsOne(link), relatedHeldByOne: relatedHeldByOne(link) }
  return { changes: decideLinks(rule, current, wanted), current }
}

/** @throws REQUIRED_FIELD_MISSING where a child would be left without a parent that it must have */
export async function writeLinks(
  scope: WriteScope,
  link: OpenLink,
  { changes, current }: ReadLinks,
): Promise<RecordChange[]> {
  const { relation } = link
  return relation.kind === 'key'
    ? writeKeys(scope, link, relation, changes)
    : writePairs(scope, link, relation, changes, current)
}

/** @throws RECORD_NOT_FOUND in the wording of REST: `Record '{"Id":99}' not found` */
export async function requireTargets(
  scope: WriteScope,
  related: TableModel,
  targets: RecordId[],
): Promise<void> {
  const ids = [...new Set(targets)]
  const possible = ids.filter((id) => isPossibleId(related, id))
  const found = await readStamped(scope, related, possible)
  const gone = ids.filter((id) => !found.has(String(id)))
  if (gone.length === 0) return
  const names = gone.map((id) => `'${JSON.stringify({ [related.primaryKey.title]: id })}'`)
  throw recordsNotFound(gone, names, { tableId: related.table.id })
}

/** The existing pairs that the requests can touch, see `decideLinks`. */
async function readTouched(
  scope: WriteScope,
  link: OpenLink,
  requests: LinkRequest[],
): Promise<StoredPair[]> {
  const isWhole = ({ kind }: LinkRequest) => kind === 'set' || ownHoldsOne(link)
  const whole = requests.filter(isWhole).map(({ own }) => own)
  const parts = requests.filter((request) => !isWhole(request))
  const owns = [...new Set(parts.map(({ own }) => own))]
  const targets = (of: LinkRequest[]) => [...new Set(of.flatMap((request) => request.targets))]
  const found = [
    ...(whole.length > 0 ? await readPairs(scope, link, { own: [...new Set(whole)] }) : []),
    ...(relatedHeldByOne(link)
      ? await readPairs(scope, link, { target: targets(requests) })
      : owns.length > 0
        ? await readPairs(scope, link, { own: owns, target: targets(parts) })
        : []),
  ]
  return found
}

async function writeKeys(
  scope: WriteScope,
  link: OpenLink,
  relation: KeyRelation,
  { removed, added }: PairChanges,
): Promise<RecordChange[]> {
  const { child, key, isOneToOne } = relation
  const childOf = ({ own, target }: Pair) => (link.options.holdsKey ? own : target)
  const parentOf = ({ own, target }: Pair) => (link.options.holdsKey ? target : own)
  const keys = await keysOf(scope, relation, added.map(parentOf))
  const rows = new Map<string, { id: RecordId; value: CellValue }>()
  for (const pair of removed) rows.set(String(childOf(pair)), { id: childOf(pair), value: null })
  for (const pair of added) {
    rows.set(String(childOf(pair)), { id: childOf(pair), value: keys.get(String(parentOf(pair))) ?? null })
  }
  const all = [...rows.values()]
  if (key.required && all.some(({ value }) => value === null)) throw requiredLink(relation)
  const toRow = ({ id, value }: { id: RecordId; value: CellValue }) => ({ id, values: { [key.id]: value } })
  const context = contextFor(scope, child)
  // Clear replaced partners first: for a moment two records would have the same one.
  const freed = isOneToOne && !key.required ? removed.map((pair) => ({ id: childOf(pair), value: null })) : []
  return [
    ...(await updateRecords(context, freed.map(toRow))),
    ...(await updateRecords(context, all.map(toRow))),
  ]
}

/** The key values that refer to each parent, by the parent’s id as text. */
export async function keysOf(
  scope: WriteScope,
  { parent, parentField }: Pick<KeyRelation, 'parent' | 'parentField'>,
  parents: RecordId[],
): Promise<Map<string, CellValue>> {
  if (isWholeId(parent, parentField)) return new Map(parents.map((id) => [String(id), id]))
  return readColumn(scope, parent, { by: parent.primaryKey, wanted: parentField }, [...new Set(parents)])
}

/**
 * The error for a child without its required parent (spec §5).
 *
 * @throws the refusal of a child without the parent that it must have (spec §5)
 */
export function requiredLink({ childLink, key }: Pick<KeyRelation, 'childLink' | 'key'>): AppError {
  const field: Field = childLink ?? key
  return new AppError('REQUIRED_FIELD_MISSING', m.wire_error_field_required({ field: field.title }), {
    fieldId: field.id,
    field: field.title,
  })
}

async function writePairs(
  scope: WriteScope,
  link: OpenLink,
  { junction }: PairRelation,
  { removed, added }: PairChanges,
  current: StoredPair[],
): Promise<RecordChange[]> {
  const { ownFieldId, relatedFieldId } = link.options.junction ?? { ownFieldId: '', relatedFieldId: '' }
  const gone = new Set(removed.map(pairKey))
  const pairIds = current.flatMap((pair) =>
    pair.pairId !== null && gone.has(pairKey(pair)) ? [pair.pairId] : [],
  )
  const context = contextFor(scope, junction)
  const rows = added.map(({ own, target }) => ({ values: { [ownFieldId]: own, [relatedFieldId]: target } }))
  return [
    ...(await deleteRecords(context, [...new Set(pairIds)])),
    ...(await insertRecords(context, { kind: 'insert', tableId: junction.table.id, rows })),
  ]
}

/** A change to one record’s links: add these, remove these, or set exactly these. */
export interface LinkRequest {
  kind: 'link' | 'unlink' | 'set'
  own: RecordId
  targets: RecordId[]
}

/** Whether a record of either side may have one partner only. */
export interface LinkRule {
  ownHoldsOne: boolean
  relatedHeldByOne: boolean
}

/** Disjoint lists of existing pairs to remove and new pairs to add. */
interface PairChanges {
  removed: Pair[]
  added: Pair[]
}

/**
 * Computes the changes that requests make, in order. On a side that holds one, a new link replaces the old; of
 * several targets, the last one counts.
 *
 * @param current every existing pair that a request could touch: those of its `own` records and, if a related record
 *   is held by one, those of its targets; more do no harm
 */
function decideLinks(rule: LinkRule, current: Pair[], requests: LinkRequest[]): PairChanges {
  const before = new Map(current.map((pair) => [pairKey(pair), pair]))
  const pairs = createPairs(before.values(), {
    byOwn: rule.ownHoldsOne || requests.some(({ kind }) => kind === 'set'),
    byTarget: rule.relatedHeldByOne,
  })
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

/** A set of pairs, with the wanted indexes by its sides. */
function createPairs(initial: Iterable<Pair>, wanted: { byOwn: boolean; byTarget: boolean }) {
  const all = new Map<string, Pair>()
  const byOwn = wanted.byOwn ? new Map<string, Map<string, Pair>>() : null
  const byTarget = wanted.byTarget ? new Map<string, Map<string, Pair>>() : null
  const within = (index: Map<string, Map<string, Pair>>, id: RecordId) => {
    const known = index.get(String(id)) ?? new Map<string, Pair>()
    index.set(String(id), known)
    return known
  }
  const add = (pair: Pair) => {
    const key = pairKey(pair)
    if (all.has(key)) return
    all.set(key, pair)
    if (byOwn) within(byOwn, pair.own).set(key, pair)
    if (byTarget) within(byTarget, pair.target).set(key, pair)
  }
  for (const pair of initial) add(pair)
  return {
    all,
    add,
    remove(pair: Pair) {
      const key = pairKey(pair)
      all.delete(key)
      byOwn?.get(String(pair.own))?.delete(key)
      byTarget?.get(String(pair.target))?.delete(key)
    },
    ofOwn: (own: RecordId) => [...(byOwn?.get(String(own))?.values() ?? [])],
    ofTarget: (target: RecordId) => [...(byTarget?.get(String(target))?.values() ?? [])],
  }
}

/** A unique text for a pair: text ids may contain any character, so they are encoded as JSON. */
const pairKey = ({ own, target }: Pair): string =>
  typeof own === 'number' && typeof target === 'number'
    ? `${own} ${target}`
    : JSON.stringify([String(own), String(target)])
