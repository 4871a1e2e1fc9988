import type { LinkOperation, Operation, RecordChange, Values } from '../../../src/core/changes.ts'
import { notFound } from '../../../src/core/errors.ts'
import { readLinkIds } from '../../../src/core/fields/list-value.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  changeLinks,
  childrenFirst,
  keysOf,
  type LinkRequest,
  letGo,
  type OpenLink,
  openLink,
  requiredLink,
  requireTargets,
  settleKeys,
  type WriteScope,
  within,
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
import { isForeign, isLink, isPossibleId, readRecords, requireAll, storedId } from '../table/index.ts'

/** What an operation did: every record it touched, and among them those that it added of its own. */
export interface Ran {
  changes: RecordChange[]
  inserted: RecordId[]
}

/**
 * Writes one operation of a change, whose values have been checked, with all that it means for links:
 * links among the values, keys of other records, and what deleted records leave behind.
 */
export async function runOperation(scope: WriteScope, operation: CheckedOperation): Promise<Ran> {
  // What is taken back may touch keys in the trash; new records know nothing of them.
  const { load, loadWithKeys } = scope.schema
  const model = await (operation.kind === 'insert' ? load : loadWithKeys)(operation.tableId)
  const context = within(scope, model)
  const only = (changes: RecordChange[]): Ran => ({ changes, inserted: [] })
  switch (operation.kind) {
    case 'insert':
      return runInsert(scope, model, operation)
    case 'update':
      return only(await runUpdate(scope, model, operation.rows))
    case 'delete':
      return only([
        ...(await letGo(scope, model, operation.ids)),
        ...(await deleteRecords(context, await deletionOrder(scope, model, operation.ids))),
      ])
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

/** A database refuses to delete a record while another of the same table refers to it. */
const deletionOrder = async (scope: WriteScope, model: TableModel, ids: RecordId[]): Promise<RecordId[]> =>
  isForeign(model) ? childrenFirst(scope, model, ids) : ids

async function runInsert(
  scope: WriteScope,
  model: TableModel,
  operation: Extract<CheckedOperation, { kind: 'insert' }>,
): Promise<Ran> {
  const { rows, later } = await takeLinks(scope, model, operation.rows)
  const freed = await settleKeys(scope, model, rows)
  const added = await insertRecords(within(scope, model), { ...operation, rows })
  const inserted = added.map(({ recordId }) => recordId)
  const { viewId, before = null } = operation
  const placed =
    viewId === undefined || before === null
      ? []
      : await placeInView(within(scope, model), viewId, inserted, before)
  const linked: RecordChange[] = []
  for (const { link, requestOf } of later) {
    const requests = inserted.flatMap((id, index) => requestOf(index, id))
    for (const change of await changeLinks(scope, link, requests)) linked.push(change)
  }
  return { changes: [...freed, ...added, ...placed, ...linked], inserted }
}

async function runUpdate(
  scope: WriteScope,
  model: TableModel,
  given: { id: RecordId; values: Values }[],
): Promise<RecordChange[]> {
  const { rows, later } = await takeLinks(scope, model, given)
  const freed = await settleKeys(scope, model, rows)
  const changes = [...freed, ...(await updateRecords(within(scope, model), rows))]
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
  requireAll([id], await readRecords(within(scope, model), [id], []))
  return changeLinks(scope, link, [{ kind, own: id, targets }])
}

/** A link whose keys lie elsewhere, to be written once the records themselves are. */
interface LaterLink {
  link: OpenLink
  /** What the row of this index asks for; nothing where it does not name the link. */
  requestOf(index: number, own: RecordId): LinkRequest[]
}

/** Takes the links out of rows' values: those whose key the record itself holds become that key. */
async function takeLinks<R extends { values: Values }>(
  scope: WriteScope,
  model: TableModel,
  given: R[],
): Promise<{ rows: R[]; later: LaterLink[] }> {
  const named = model.fields.filter(
    (field) => isLink(field) && given.some(({ values }) => field.id in values),
  )
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

/** The records that values give to a link; null where they do not name it. */
function idsIn({ field, related }: OpenLink, values: Values): RecordId[] | null {
  if (!(field.id in values)) return null
  return (readLinkIds(values[field.id] ?? null) ?? []).map((id) => storedId(related, id))
}

/**
 * An operation whose values are stored values already; `restore` brings deleted records back, `place` gives records back
 * the positions that they had in a view's manual order.
 */
export type CheckedOperation =
  | Operation
  | { kind: 'restore'; tableId: string; rows: Extract<Operation, { kind: 'update' }>['rows'] }
  | { kind: 'place'; tableId: string; viewId: string; places: Place[] }
