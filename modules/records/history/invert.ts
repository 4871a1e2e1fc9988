import { breathing } from '../../../src/breathe.ts'
import { positionKey, type Values, viewOfPositionKey } from '../../../src/core/changes.ts'
import { isComputed } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readValue } from '../../../src/core/fields/read.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { LoggedRecord } from '../../../src/db/change-log/records.ts'
import type { TableModel } from '../../schema/index.ts'
import { exactOf } from '../foreign/index.ts'
import { contextFor, type LinkSchema, type WriteScope } from '../links/index.ts'
import { type Place, readPlaces } from '../rows/index.ts'
import { columnName, isWritable, readRecords, storedId } from '../table/index.ts'
import type { CheckedOperation } from '../write/index.ts'

/**
 * Builds the operations that restore each record’s “before” where its “after” is still present. Skips and counts
 * values that were changed since, or that their field would reject now.
 */
export async function invert(
  scope: WriteScope,
  logged: LoggedRecord[],
): Promise<{ operations: CheckedOperation[]; skipped: number }> {
  const operations: CheckedOperation[] = []
  let skipped = 0
  for (const [tableId, records] of Map.groupBy(logged, (record) => record.table_id)) {
    const model = await loadFor(scope.schema, tableId, records)
    const ids = records.map((record) => storedId(model, record.record_id))
    const stored = model.fields.filter((field) => !isComputed(field))
    const current = await readRecords(contextFor(scope, model), ids, stored)
    const places = await standingPlaces(scope, model, records, () => skipped++)
    const gone: RecordId[] = []
    const back: { id: RecordId; values: Values }[] = []
    const changed: { id: RecordId; values: Values }[] = []
    for await (const record of breathing(records)) {
      const id = storedId(model, record.record_id)
      const before: Values | null = record.before === null ? null : JSON.parse(record.before)
      const after: Values | null = record.after === null ? null : JSON.parse(record.after)
      const now = current.get(String(id))
      if (before === null) {
        if (now) gone.push(id)
      } else if (after === null) {
        if (!now) back.push({ id, values: fitting(model, before, () => skipped++) })
      } else if (now) {
        const values = standing(model, before, after, now, () => skipped++)
        if (Object.keys(values).length > 0) changed.push({ id, values })
      }
    }
    if (gone.length > 0) operations.push({ kind: 'delete', tableId, ids: gone })
    if (back.length > 0) operations.push({ kind: 'restore', tableId, rows: back })
    if (changed.length > 0) operations.push({ kind: 'update', tableId, rows: changed })
    for (const [viewId, moved] of places) {
      const there = moved.filter(({ id }) => current.has(String(id)))
      if (there.length > 0) operations.push({ kind: 'place', tableId, viewId, places: there })
    }
  }
  return { operations, skipped }
}

/** Start of a position’s key in JSON. */
const PLACE_START = `"${positionKey('')}`

/** The positions before the change, by view, of records that are still where it moved them. */
async function standingPlaces(
  scope: WriteScope,
  model: TableModel,
  records: LoggedRecord[],
  skip: () => void,
): Promise<Map<string, Place[]>> {
  const moves = records.flatMap((record) => {
    if (record.before === null || record.after === null) return []
    // Most changes move nothing, and parsing many records takes time.
    if (!record.before.includes(PLACE_START)) return []
    const [before, after]: Values[] = [JSON.parse(record.before), JSON.parse(record.after)]
    return Object.entries(before ?? {}).flatMap(([key, from]) => {
      const viewId = viewOfPositionKey(key)
      const id = storedId(model, record.record_id)
      return viewId === null ? [] : [{ viewId, id, from: from as number | null, to: after?.[key] ?? null }]
    })
  })
  const found = new Map<string, Place[]>()
  for (const [viewId, ofView] of Map.groupBy(moves, (move) => move.viewId)) {
    const now = await readPlaces(
      scope,
      viewId,
      ofView.map(({ id }) => id),
    )
    const places = ofView.flatMap(({ id, from, to }) => {
      if ((now.get(String(id)) ?? null) === to) return [{ id, place: from }]
      skip()
      return []
    })
    found.set(viewId, places)
  }
  return found
}

/**
 * The table of logged records, including keys in the trash. For a table in the trash, only changes of links are
 * inverted.
 *
 * @throws TABLE_NOT_FOUND
 */
async function loadFor(
  { load, loadWithKeys }: LinkSchema,
  tableId: string,
  records: LoggedRecord[],
): Promise<TableModel> {
  const model = await loadWithKeys(tableId)
  if (model.table.deletedAt === null || model.table.isJunction) return model
  const isOfLinks = ({ before, after }: LoggedRecord) =>
    before !== null &&
    after !== null &&
    Object.keys(JSON.parse(before)).every((id) => {
      const field = model.field(id)
      return !field || field.isSystem || isForeignKey(field)
    })
  return records.every(isOfLinks) ? model : load(tableId)
}

/** The values before, for fields that still have the value after. */
function standing(model: TableModel, before: Values, after: Values, now: Values, skip: () => void): Values {
  const values: Values = {}
  for (const [fieldId, value] of Object.entries(before)) {
    const field = model.field(fieldId)
    // Time and author are stamped anew; of the system fields only the position is restored.
    if (!field || (field.isSystem && columnName(field) !== 'nc_order')) continue
    // An import logs all fields that it could change.
    if (value === after[fieldId]) continue
    const exact = exactOf(before, [field])
    const isBack = fits(field, value) || Object.keys(exact).length > 0
    if (now[fieldId] === after[fieldId] && isBack) Object.assign(values, { [fieldId]: value }, exact)
    else skip()
  }
  return values
}

/** The values of a deleted record, without those that their field would reject now. */
function fitting(model: TableModel, before: Values, skip: () => void): Values {
  return Object.fromEntries(
    Object.entries(before).map(([key, value]) => {
      const field = model.field(key)
      if (!field || fits(field, value) || Object.keys(exactOf(before, [field])).length > 0)
        return [key, value]
      skip()
      return [key, null]
    }),
  )
}

/** False for a value that no longer fits its field: another type, or a deleted option. */
function fits(field: Field, value: CellValue): boolean {
  if (value === null || !isWritable(field)) return true
  const read = readValue(field, value)
  return read.ok && read.value === value
}
