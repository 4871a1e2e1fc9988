import type { LinkOperation, Operation, RecordChange, UpdatedRow, Values } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { readLinkIds } from '../../../src/core/fields/list-value.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { roundsOf } from '../../../src/core/write-rounds.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  changeLinks,
  childrenFirst,
  contextFor,
  keysOf,
  type LinkRequest,
  type OpenLink,
  openLink,
  readLinks,
  readStamped,
  releaseLinks,
  requiredLink,
  requireTargets,
  resolveKeys,
  type WriteScope,
  withCleared,
  writeLinks,
} from '../links/index.ts'
import {
  deleteRecords,
  insertRecords,
  moveRecords,
  type Place,
  placeInView,
  restoreRecords,
  updateRecords,
  writePlaces,
} from '../rows/index.ts'
import { isForeign, isPossibleId, linkFieldsOf, requireAll, storedId } from '../table/index.ts'

/** The records that an operation changed, and those among them that it added directly. */
export interface Ran {
  changes: RecordChange[]
  inserted: RecordId[]
}

/**
 * Writes one checked operation with its effects on links: links among the values, keys of other records, and
 * references to deleted records.
 */
export async function runOperation(scope: WriteScope, operation: CheckedOperation): Promise<Ran> {
  // Undo may write keys in the trash, which new records do not have.
  const { load, loadWithKeys } = scope.schema
  const model = await (operation.kind === 'insert' ? load : loadWithKeys)(operation.tableId)
  const context = contextFor(scope, model)
  const only = (changes: RecordChange[]): Ran => ({ changes, inserted: [] })
  switch (operation.kind) {
    case 'insert':
      return runInsert(scope, model, operation)
    case 'update':
      return only(await runUpdate(scope, model, operation.rows))
    case 'delete':
      return only(await runDelete(scope, model, operation.ids))
    case 'move':
      return only(
        operation.viewId === undefined
          ? await moveRecords(context, operation.ids, operation.before)
          : await placeInView(context, operation.viewId, operation.ids, operation.before),
      )
    case 'place':
      return only(await writePlaces(context, operation.viewId, operation.places))
    case 'restore':
      return only(await restoreRecords(context, operation.rows))
    default:
      return only(await runLink(scope, model, operation))
  }
}

async function runDelete(scope: WriteScope, model: TableModel, ids: RecordId[]): Promise<RecordChange[]> {
  const released = await releaseLinks(scope, model, ids)
  const context = contextFor(scope, model)
  if (!isForeign(model)) return [...released, ...(await deleteRecords(context, ids))]
  // A database rejects the deletion of a record that others of the same table refer to.
  const deleted = await deleteRecords(context, await childrenFirst(scope, model, ids))
  return [...(await withCleared(scope, released)), ...deleted]
}

type Insertion = Extract<CheckedOperation, { kind: 'insert' }>

/**
 * Adds records. Those that must name others of them follow these, and links that may be empty follow at the end.
 *
 * @throws BAD_REQUEST where records must name themselves, or each other in a circle
 */
async function runInsert(scope: WriteScope, model: TableModel, operation: Insertion): Promise<Ran> {
  const { rows } = operation
  const named = linkFieldsOf(model).filter(({ id }) => rows.some(({ siblings }) => siblings?.[id]))
  if (named.length === 0) return insertRound(scope, model, operation)
  const links = await Promise.all(named.map(({ id }) => openLink(scope.schema, model, id)))
  const [required, optional] = [links.filter(isRequired), links.filter((link) => !isRequired(link))]
  const siblingsIn = (row: number, { field }: OpenLink) => rows[row]?.siblings?.[field.id] ?? []
  const { rounds, stuck } = roundsOf(rows.length, (row) => required.flatMap((link) => siblingsIn(row, link)))
  const circle = required.find((link) => [...stuck].some((row) => siblingsIn(row, link).length > 0))
  if (circle) throw inCircle(circle, stuck.size)
  const inserted: RecordId[] = []
  const changes: RecordChange[] = []
  const idsOf = (positions: readonly number[]) => positions.flatMap((position) => inserted[position] ?? [])
  for (const round of rounds) {
    const complete = round.map((row) => {
      const values = { ...rows[row]?.values }
      for (const link of required) {
        const siblings = siblingsIn(row, link)
        if (siblings.length > 0) values[link.field.id] = JSON.stringify(idsOf(siblings))
      }
      return { ...rows[row], values }
    })
    const ran = await insertRound(scope, model, { ...operation, rows: complete })
    round.forEach((row, at) => {
      const id = ran.inserted[at]
      if (id !== undefined) inserted[row] = id
    })
    for (const change of ran.changes) changes.push(change)
  }
  const ordered = inOrderOf(inserted, model, changes)
  for (const link of optional) {
    const requests = inserted.flatMap((own, row): LinkRequest[] => {
      const siblings = siblingsIn(row, link)
      return siblings.length === 0 ? [] : [{ kind: 'link', own, targets: idsOf(siblings) }]
    })
    for (const change of await changeLinks(scope, link, requests)) ordered.push(change)
  }
  return { changes: ordered, inserted }
}

/** True for a link that a record cannot be written without. */
const isRequired = ({ relation, options }: OpenLink): boolean =>
  relation.kind === 'key' && options.holdsKey && relation.key.required

const inCircle = ({ field, model }: OpenLink, count: number): AppError =>
  new AppError(
    'BAD_REQUEST',
    m.records_error_circle({ field: field.title, table: model.table.title, count }),
    {
      fieldId: field.id,
    },
  )

/** The changes with those that add records in the order of their ids, as browsers and the log expect them. */
function inOrderOf(
  inserted: readonly RecordId[],
  { table }: TableModel,
  changes: readonly RecordChange[],
): RecordChange[] {
  const isAdded = ({ tableId, before }: RecordChange) => tableId === table.id && before === null
  const byId = new Map(changes.filter(isAdded).map((change) => [change.recordId, change]))
  const added = inserted.values()
  return changes.map((change) => {
    const id = isAdded(change) ? added.next().value : undefined
    return (id !== undefined && byId.get(id)) || change
  })
}

async function insertRound(scope: WriteScope, model: TableModel, operation: Insertion): Promise<Ran> {
  const { rows, later } = await takeLinks(scope, model, operation.rows)
  const freed = await resolveKeys(scope, model, rows)
  const added = await insertRecords(contextFor(scope, model), { ...operation, rows })
  const inserted = added.map(({ recordId }) => recordId)
  const { viewId, before = null } = operation
  const placed =
    viewId === undefined || before === null
      ? []
      : await placeInView(contextFor(scope, model), viewId, inserted, before)
  const linked: RecordChange[] = []
  for (const { link, requestOf } of later) {
    const requests = inserted.flatMap((id, index) => requestOf(index, id))
    for (const change of await changeLinks(scope, link, requests)) linked.push(change)
  }
  return { changes: [...freed, ...added, ...placed, ...linked], inserted }
}

async function runUpdate(scope: WriteScope, model: TableModel, given: UpdatedRow[]): Promise<RecordChange[]> {
  const { rows, later } = await takeLinks(scope, model, given)
  const freed = await resolveKeys(scope, model, rows)
  const changes = [...freed, ...(await updateRecords(contextFor(scope, model), rows))]
  for (const { link, requestOf } of later) {
    const requests = rows.flatMap(({ id }, index) => requestOf(index, id))
    for (const change of await changeLinks(scope, link, requests)) changes.push(change)
  }
  return changes
}

async function runLink(
  scope: WriteScope,
  model: TableModel,
  { kind, fieldId, id, targets }: LinkOperation,
): Promise<RecordChange[]> {
  const link = await openLink(scope.schema, model, fieldId)
  if (!isPossibleId(model, id)) throw notFound('Record', String(id))
  // In one round trip, where the database is on another machine.
  const [own, read] = await Promise.allSettled([
    readStamped(scope, model, [id]),
    readLinks(scope, link, [{ kind, own: id, targets }]),
  ])
  if (own.status === 'rejected') throw own.reason
  requireAll([id], own.value)
  if (read.status === 'rejected') throw read.reason
  return writeLinks(scope, link, read.value)
}

/** A link whose keys are in another table, written after the records. */
interface LaterLink {
  link: OpenLink
  /** The link request of a row; empty if the row does not set the link. */
  requestOf(index: number, own: RecordId): LinkRequest[]
}

/** Separates links from the rows’ values; a link whose key the record itself holds becomes that key. */
async function takeLinks<R extends { values: Values }>(
  scope: WriteScope,
  model: TableModel,
  given: R[],
): Promise<{ rows: R[]; later: LaterLink[] }> {
  const named = linkFieldsOf(model).filter((field) => given.some(({ values }) => field.id in values))
  if (named.length === 0) return { rows: given, later: [] }
  const ids = new Set(named.map((field) => field.id))
  const rows = given.map((row) => ({
    ...row,
    values: Object.fromEntries(Object.entries(row.values).filter(([fieldId]) => !ids.has(fieldId))),
  }))
  const later: LaterLink[] = []
  for (const field of named) {
    const link = await openLink(scope.schema, model, field.id)
    const wanted = given.map(({ values }) => idsIn(link, values))
    if (link.relation.kind === 'key' && link.options.holdsKey) {
      const { relation, related } = link
      const targets = wanted.map((list) => list?.at(-1))
      const all = targets.filter((id) => id !== undefined)
      await requireTargets(
        scope,
        related,
        wanted.flatMap((list) => list ?? []),
      )
      const keys = await keysOf(scope, relation, all)
      wanted.forEach((list, index) => {
        if (list === null) return
        const key = keys.get(String(targets[index])) ?? null
        if (key === null && relation.key.required) throw requiredLink(relation)
        rows[index]!.values[relation.key.id] = key
      })
      continue
    }
    later.push({
      link,
      requestOf(index, own) {
        const list = wanted[index]
        return list ? [{ kind: 'set', own, targets: list }] : []
      },
    })
  }
  return { rows, later }
}

/** The linked ids in the values; null if they do not set the link. */
function idsIn({ field, related }: OpenLink, values: Values): RecordId[] | null {
  if (!(field.id in values)) return null
  return (readLinkIds(values[field.id] ?? null) ?? []).map((id) => storedId(related, id))
}

/**
 * An operation with stored values. `restore` brings deleted records back, `place` restores positions in a view’s
 * manual order.
 */
export type CheckedOperation =
  | Operation
  | { kind: 'restore'; tableId: string; rows: Extract<Operation, { kind: 'update' }>['rows'] }
  | { kind: 'place'; tableId: string; viewId: string; places: Place[] }
