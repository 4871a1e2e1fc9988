import { mapBreathing } from '../../../src/breathe.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Right } from '../../../src/core/roles.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { Opened } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { idOfKey, keyFieldsOf, parseRecordId } from '../table/index.ts'
import { MAX_RECORDS } from '../write/index.ts'
import {
  type Body,
  hasReadOnlyColumns,
  readNewLinks,
  readOnlyColumn,
  readOnlyGiven,
  readValues,
  refuseReadOnly,
} from './body.ts'
import { readNested } from './nested.ts'
import { hasNested, readFields } from './parameters.ts'
import { createPresenterFor, defaultFields, type Row, visibleFields, writtenFields } from './present.ts'

/** Record operations of the v1 and v2 adapters, keyed by title. */
export function createRestOperations(
  records: RecordsService,
  schema: Pick<SchemaReader, 'load'>,
  auth: Pick<AuthService, 'access' | 'people'>,
) {
  /**
   * Loads a table after the access check, as errors about names and keys reveal its structure.
   *
   * @throws TABLE_NOT_FOUND before any refusal of access
   */
  async function enter(actor: Actor, right: Right, tableId: string): Promise<TableModel> {
    const model = await schema.load(tableId)
    await auth.access.authorize(actor, right, model.table.baseId)
    return model
  }

  const presenterFor = createPresenterFor(records, auth)

  /** One record with the requested fields and `nested[…]` links. @throws RECORD_NOT_FOUND, INVALID_PK_VALUE */
  async function get(
    actor: Actor,
    tableId: string,
    id: string,
    query: URLSearchParams,
    viewId?: string,
  ): Promise<Row> {
    const opened = await records.open(actor, tableId, viewId)
    const recordId = parseRecordId(opened.model, id)
    const { model, context } = opened
    const fields = visibleFields(model, context.view, readFields(model, query))
    const rows = await rowsOf(opened, [recordId], fields)
    const [row] = rows
    if (!row) throw notFound('Record', id)
    if (hasNested(query.toString())) {
      const fill = await readNested({ records, presenterFor }, actor, opened, fields, query)
      await fill(rows, [recordId])
    }
    return row
  }

  async function exists(actor: Actor, tableId: string, id: string): Promise<boolean> {
    const opened = await records.open(actor, tableId)
    return (await rowsOf(opened, [parseRecordId(opened.model, id)], [opened.model.primaryKey])).length > 0
  }

  /** Records after a write, in the order of the ids; through a view, as it shows them. */
  async function written(actor: Actor, tableId: string, ids: RecordId[], viewId?: string): Promise<Row[]> {
    const opened = await records.open(actor, tableId, viewId)
    const { model, context } = opened
    return rowsOf(opened, ids, context.view ? visibleFields(model, context.view, null) : writtenFields(model))
  }

  /** Existing records as lists show them, in the order of the ids. */
  async function read(actor: Actor, tableId: string, ids: RecordId[]): Promise<Row[]> {
    const opened = await records.open(actor, tableId)
    return rowsOf(opened, ids, defaultFields(opened.model))
  }

  async function rowsOf(opened: Opened, ids: RecordId[], fields: Field[]): Promise<Row[]> {
    const rows = await records.titledByIds(opened, ids, fields)
    await presenterFor(fields, opened.context)?.(rows)
    return rows
  }

  const newLinks = (model: TableModel, bodies: Body[], options?: { isVisitor: boolean }) =>
    readNewLinks(schema, model, bodies, options)

  /** Inserts records and returns their ids in order. */
  async function create(
    actor: Actor,
    tableId: string,
    bodies: Body[],
  ): Promise<{ model: TableModel; ids: RecordId[] }> {
    const model = await enter(actor, 'record.create', tableId)
    refuseTooMany(bodies)
    for (const body of bodies) refuseReadOnly(model, body)
    const links = await newLinks(model, bodies)
    const rows = await mapBreathing(bodies, (body, index) => ({
      values: { ...readValues(model, body, { isNew: true }), ...links[index] },
    }))
    // An empty list writes nothing, but checks the right.
    const { inserted } = await records.apply(actor, {
      baseId: model.table.baseId,
      operations: [{ kind: 'insert', tableId, rows }],
    })
    return { model, ids: inserted }
  }

  /** Updates records; `keyOf` reads the id of each body. */
  async function update(
    actor: Actor,
    tableId: string,
    bodies: Body[],
    keyOf: (model: TableModel, body: Body) => RecordId,
  ): Promise<{ model: TableModel; ids: RecordId[] }> {
    const model = await enter(actor, 'record.update', tableId)
    refuseTooMany(bodies)
    const rows = await mapBreathing(bodies, (body) => ({
      id: keyOf(model, body),
      values: readValues(model, body),
    }))
    await refuseChangedColumns(
      actor,
      tableId,
      rows.map(({ id }, index) => ({ id, body: bodies[index] ?? {} })),
    )
    await records.apply(actor, {
      baseId: model.table.baseId,
      operations: [{ kind: 'update', tableId, rows }],
    })
    return { model, ids: rows.map((row) => row.id) }
  }

  /**
   * Accepts values for read-only columns if they are unchanged, so that clients may send back the records they read.
   * One statement, only if a body names such a column.
   *
   * @throws BAD_REQUEST naming the field
   */
  async function refuseChangedColumns(
    actor: Actor,
    tableId: string,
    items: { id: RecordId; body: Body }[],
  ): Promise<void> {
    if (!hasReadOnlyColumns(await schema.load(tableId))) return
    const opened = await records.open(actor, tableId)
    const named = items.flatMap(({ id, body }) =>
      readOnlyGiven(opened.model, body).map((given) => ({ ...given, id })),
    )
    if (named.length === 0) return
    const { model } = opened
    const fields = [...new Set(named.map(({ field }) => field))]
    const ids = [...new Set(named.map(({ id }) => id))]
    const keys = keyFieldsOf(model)
    const rows = await rowsOf(opened, ids, [...keys, ...fields])
    const byId = new Map(rows.map((row) => [String(idOfKey(keys.map(({ title }) => row[title]))), row]))
    for (const { field, id, value } of named) {
      const row = byId.get(String(id))
      // The write door reports missing records.
      if (row && !Bun.deepEquals(row[field.title] ?? null, value)) throw readOnlyColumn(field)
    }
  }

  async function remove(actor: Actor, tableId: string, ids: RecordId[]): Promise<void> {
    refuseTooMany(ids)
    const model = await schema.load(tableId)
    await records.apply(actor, { baseId: model.table.baseId, operations: [{ kind: 'delete', tableId, ids }] })
  }

  /** The existing ids among the given ones: bulk calls in v1 ignore the others. */
  async function present(actor: Actor, tableId: string, ids: RecordId[]): Promise<RecordId[]> {
    refuseTooMany(ids)
    const opened = await records.open(actor, tableId)
    const keys = keyFieldsOf(opened.model)
    const rows = await rowsOf(opened, ids, keys)
    return rows.map((row) => idOfKey(keys.map(({ title }) => row[title])))
  }

  return {
    enter,
    get,
    exists,
    read,
    written,
    rowsOf,
    newLinks,
    create,
    update,
    refuseChangedColumns,
    remove,
    present,
  }
}

export type RestOperations = ReturnType<typeof createRestOperations>

function refuseTooMany(items: unknown[]): void {
  if (items.length > MAX_RECORDS)
    throw badRequest(m.records_error_request_records({ max: MAX_RECORDS, count: items.length }))
}
